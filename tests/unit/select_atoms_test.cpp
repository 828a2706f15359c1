// Which row of a machine's table a product takes, as users are told of it.
#include "command.h"

using namespace tilec::command;

namespace {

struct Product {
  std::string element, sum, target, row;
  std::string shape = "64, 64";
};

std::string compiled_for(const std::string& target) {
  bool is_text = target.starts_with("sm_");
  return "k.tile -w -R tensor-core --target=" + target + (is_text ? " --emit=ptx -o k.ptx" : " -o k.o");
}

std::string row_of(const Product& p) {
  Folder folder;
  const std::string tile = p.element + "[" + p.shape + "]";
  folder.write("k.tile", "export kernel k(A: " + p.element + "[M, 64], B: " + p.element + "[64, N], inout C: " + p.sum +
                             "[M, N]) {\n  launch (i in 1) threads 128 {\n    var acc: fragment " + p.sum + "[" + p.shape +
                             "] = 0;\n    acc += A.tile[" + p.shape.substr(0, p.shape.find(',')) + ", 64](0, 0) @ B.tile[64, " +
                             p.shape.substr(p.shape.find(',') + 2) + "](0, 0);\n    C.tile(0, 0) = acc;\n  }\n}\n");
  Ran ran = folder.tilec(compiled_for(p.target));
  size_t at = ran.out.find("uses `");
  return at == ran.out.npos ? ran.out : ran.out.substr(at + 6, ran.out.find('`', at + 6) - at - 6);
}

}  // namespace

TEST_CASE("products take the rows of their elements, or cheaper ones that widen them without loss") {
  const Product kProducts[] = {
      {"f16", "f32", "sm_80", "mma.m16n8k16.f16"},
      {"bf16", "f32", "sm_80", "mma.m16n8k16.bf16"},
      {"tf32", "f32", "sm_80", "mma.m16n8k8.tf32"},
      {"f8e4m3", "f32", "sm_80", "mma.m16n8k16.f16"},
      {"f8e5m2", "f32", "sm_80", "mma.m16n8k16.f16"},
      {"f8e4m3", "f32", "sm_89", "mma.m16n8k32.f8e4m3"},
      {"u8", "i32", "sm_80", "mma.m16n8k32.u8"},
      {"f32", "f32", "sm_80", "outer.f32"},     // never rounded
      {"i16", "i32", "sm_80", "outer.i16"},
      {"f16", "f64", "sm_80", "mma.m8n8k4.f64"},
      {"f8e4m3", "f32", "sm_80", "outer.f8e4m3", "4, 32"},  // most of the instruction would be padding
      {"tf32", "f32", "x86-64-v3", "outer.f32"},
      {"f16", "f32", "x86-64-v3", "outer.f16"},
      {"f8e4m3", "f32", "x86-64-v3", "outer.f8e4m3"},
      {"f16", "f32", "sm_90a", "mma.m16n8k16.f16", "16, 32"},
      {"f16", "f32", "sm_90a", "group.m64n16k16.f16.swapped", "16, 64"},  // the narrow side of the instruction has the rows
  };
  for (const Product& p : kProducts) {
    INFO(p.element, " into ", p.sum, " on ", p.target);
    CHECK(row_of(p) == p.row);
  }
}

TEST_CASE("groups' rows of tf32 and of bytes want operands that run along k") {
  const std::string text = R"(
kernel along[T: type, S: type](A: T[64, 256], B: T[128, 256], out C: S[64, 128]) {
    launch (i in 1) threads 128 {
        var sum: fragment S[64, 128] = 0;
        for k in 0..4 { sum += A.tile[64, 64](0, k) @ B.tile[128, 64](0, k).T; }
        C.tile(0, 0) = sum;
    }
}
kernel across[T: type, S: type](A: T[64, 256], B: T[256, 128], out C: S[64, 128]) {
    launch (i in 1) threads 128 {
        var sum: fragment S[64, 128] = 0;
        for k in 0..4 { sum += A.tile[64, 64](0, k) @ B.tile[64, 128](k, 0); }
        C.tile(0, 0) = sum;
    }
}
)";
  struct {
    const char *types, *along, *across;
  } const kRows[] = {{"T = tf32, S = f32", "group.m64n128k8.tf32", "mma.m16n8k8.tf32"},
                     {"T = i8, S = i32", "group.m64n128k32.i8", "mma.m16n8k32.i8"},
                     {"T = u8, S = i32", "group.m64n128k32.u8", "mma.m16n8k32.u8"},
                     {"T = bf16, S = f32", "group.m64n128k16.bf16", "group.m64n128k16.bf16"}};
  for (const auto& row : kRows)
    for (const char* name : {"along", "across"}) {
      Folder folder;
      folder.write("k.tile", text + "export " + name + "[" + row.types + "];\n");
      Ran ran = folder.tilec(compiled_for("sm_90a"));
      CHECK_MESSAGE(ran.says("uses `" + std::string(std::string_view(name) == "along" ? row.along : row.across) + "`"), ran.out);
    }
}
