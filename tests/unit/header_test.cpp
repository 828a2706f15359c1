// The generated header and manifest: compiled in every mode that a user may compile in.
#include "host/header.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/text.h"
#include "diag/json.h"
#include "doctest/doctest.h"
#include "host/arguments.h"
#include "host/manifest.h"
#include "ir/parse.h"

using namespace tilec;
using namespace tilec::host;

namespace {

Parameter tensor(std::string name, Scalar element, ir::Access access, std::vector<std::string> extents) {
  std::string shape = join(extents, ", ");
  std::string type = std::string(tilec::name(element)) + "[" + shape + "]";
  return {.name = std::move(name), .type_text = type, .is_tensor = true, .element = element, .access = access,
          .extents = std::move(extents)};
}

Parameter scalar(std::string name, Scalar element) {
  return {.name = std::move(name), .type_text = std::string(tilec::name(element)), .element = element};
}

Export gemm() {
  Export out{.name = "gemm", .doc = "The product.\n\nEnds in a backslash \\", .signature = "kernel gemm[T = f16]",
             .source = "gemm.tile:3:1"};
  out.parameters = {tensor("A", Scalar::F16, ir::Access::In, {"M", "K"}),
                    tensor("B", Scalar::F16, ir::Access::In, {"K", "N"}),
                    tensor("C", Scalar::F16, ir::Access::Out, {"M", "N"})};
  out.dimensions = {{"M", {}}, {"K", 4096}, {"N", {}}};
  out.contracts = {{"K % 8 == 0 &&\n    N >= 1", "gemm.tile:4:12"}};
  out.variants = {{"sm_90a", "gemm[BM = 64]", "100 + M"}, {"x86-64-v2"}};
  return out;
}

// One parameter of every element, names that C and C++ keep for themselves, strides, a workspace.
Export odd() {
  Export out{.name = "odd", .signature = "kernel odd(...) \?\?/", .has_workspace = true};
  int count = 0;
  for (int i = 0; i < 27; ++i) {
    Scalar element = Scalar(i);
    out.parameters.push_back(scalar("s" + std::to_string(++count), element));
    out.parameters.push_back(tensor("t" + std::to_string(count), element, ir::Access::InOut, {"n", "3", ""}));
  }
  for (std::string name : {"new", "class", "restrict", "stream", "workspace", "struct_size", "linux", "bytes", "NULL",
                           "uint8_t", "tile_f16", "TILE_OK", "__x"})
    out.parameters.push_back(tensor(name, Scalar::I8, ir::Access::Out, {"new_"}));
  out.parameters.push_back(tensor("single", Scalar::F32, ir::Access::InOut, {}));
  out.parameters.push_back(tensor("strided", Scalar::BF16, ir::Access::In, {"n", "n"}));
  out.parameters.back().strides = {"ld", "1"};
  out.parameters.back().may_be_null = true;
  out.dimensions = {{"n", {}}, {"new_", {}}, {"ld", {}}};
  return out;
}

// A folder of its own for each test, gone when the test ends.
struct Folder {
  std::filesystem::path path;
  explicit Folder(const std::string& name)
      : path(std::filesystem::temp_directory_path() / (name + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const std::string& file, const std::string& text) const { std::ofstream(path / file) << text; }
  bool runs(const std::string& command) const {
    return std::system(("cd '" + path.string() + "' && " + command).c_str()) == 0;
  }
};

const char* const kModes[] = {"cc -x c -std=c99", "cc -x c -std=c11", "c++ -x c++ -std=c++11", "c++ -x c++ -std=c++20"};
const std::string kStrict = " -pedantic -Wall -Wextra -Werror -fsyntax-only ";

std::string declares_after(const std::string& before, const std::string& after) {
  return before + "#include \"first.h\"\n#include \"second.h\"\n#include \"first.h\"\n" + after +
         "int main(void) { return (int)sizeof(gemm_args) + (int)sizeof(odd_args) == 0 || TILE_OK; }\n";
}

}  // namespace

TEST_SUITE("header") {
  TEST_CASE("is clean in every language mode, twice and beside others") {
    Folder folder("tilec_header");
    folder.write("first.h", header_text({.name = "first", .compiler = "tilec", .exports = {gemm()}}));
    folder.write("second.h", header_text({.name = "second", .compiler = "tilec", .exports = {odd()}}));
    folder.write("use.c", declares_after("", ""));
    for (std::string mode : kModes) CHECK_MESSAGE(folder.runs(mode + kStrict + "use.c"), mode);
  }

  TEST_CASE("a stream struct is the toolkit's own type, whichever comes first") {
    Folder folder("tilec_header");
    Library library{.name = "first", .compiler = "tilec", .stream_struct = "CUstream_st", .exports = {gemm()}};
    folder.write("first.h", header_text(library));
    library.name = "second";
    library.exports = {odd()};
    folder.write("second.h", header_text(library));
    std::string toolkit = "typedef struct CUstream_st *cudaStream_t;\n";
    std::string use = "tile_status run(cudaStream_t s, tile_f16 *x) { return gemm(x, x, x, 1, 2, s); }\n";
    std::string declared = "tile_status run(cudaStream_t s, tile_f16 *x);\n";
    folder.write("before.c", declares_after(toolkit, declared + use));
    folder.write("after.c", declares_after("", toolkit + declared + use));
    for (std::string mode : kModes) {
      CHECK_MESSAGE(folder.runs(mode + kStrict + "before.c"), mode);
      CHECK_MESSAGE(folder.runs(mode + kStrict + "after.c"), mode);
    }
  }

  TEST_CASE("the layout of the args struct is what C makes of it") {
    Folder folder("tilec_header");
    Library library{.name = "odd", .compiler = "tilec", .exports = {odd()}};
    folder.write("odd.h", header_text(library));
    ArgsLayout layout = args_layout(odd());
    std::ostringstream use;
    use << "#include \"odd.h\"\n#include <stddef.h>\n";
    auto expect = [&](const std::string& member, int offset) {
      use << "_Static_assert(offsetof(odd_args, " << member << ") == " << offset << ", \"" << member << "\");\n";
    };
    for (const Argument& argument : arguments(odd(), library)) {
      using enum Argument::Kind;
      if (argument.kind == Tensor || argument.kind == Argument::Kind::Scalar)
        expect(argument.name, layout.parameters[argument.index]);
    }
    expect("workspace", layout.workspace);
    expect("workspace_bytes", layout.workspace + 8);
    expect("stream", layout.stream);
    use << "_Static_assert(sizeof(odd_args) == " << layout.size << ", \"size\");\n";
    folder.write("use.c", use.str());
    CHECK(folder.runs("cc -std=c11 -fsyntax-only use.c"));
  }

  TEST_CASE("arguments stand in the order of the language: parameters, free dims, workspace, stream") {
    std::vector<std::string> names;
    Export exported = gemm();
    exported.has_workspace = true;
    for (const Argument& argument : arguments(exported, {})) names.push_back(argument.type + argument.name);
    CHECK(join(names, "; ") ==
          "const tile_f16 *A; const tile_f16 *B; tile_f16 *C; int64_t M; int64_t N; void *workspace; "
          "size_t workspace_bytes; void *stream");
  }

  TEST_CASE("says what the source says: doc, contracts, what `where` fixed, variants and when they are taken") {
    std::string text = header_text({.name = "first", .compiler = "tilec 1", .exports = {gemm()}});
    for (std::string part : {"// The product.\n//\n// Ends in a backslash\n", "//   requires K % 8 == 0 && N >= 1\n",
                             "//   where K = 4096\n", "//   code for sm_90a: gemm[BM = 64]\n//     taken where fewest clocks are expected: 100 + M\n",
                             "//   code for x86-64-v2\n", "// out f16[M, N]\n", "tile_status gemm_load(void);"})
      CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  }

  TEST_CASE("an export is read off a kernel: dims by name, fixed numbers, computed extents, strides, workspace") {
    std::string error;
    auto kernel = ir::parse(R"(
kernel "f", doc="Adds."
  dim "N", %N
  dim "K", %K, fixed=64
  dim "ld", %ld
  param "x", %x, extents=[%N, %K], strides=[%ld, %one], type="f16[N, K; ld, 1]"
  param "y", %y, access=out, may_be_null=true, extents=[%twice], type="f32[N + N]?"
  param "a", %a, type="f32"
  requires %holds, "N >= 1"
{ (%N: int, %ld: int, %x: buffer<global ?x64 f16>, %y: buffer<global ? f32>, %a: f32)
  %one = constant 1 : int
  %K = constant 64 : int
  %twice = binary.add %N, %N : int
  %holds = compare.ge %N, %one : bool
  %w = alloc [%twice], name="w" : buffer<workspace ? f32>
}
)", &error);
    REQUIRE_MESSAGE(kernel, error);
    Export exported = export_of(*kernel, nullptr);
    CHECK(exported.name == "f");
    CHECK(exported.doc == "Adds.");
    CHECK(exported.has_workspace);
    CHECK(exported.parameters[0].extents == std::vector<std::string>{"N", "K"});
    CHECK(exported.parameters[0].strides == std::vector<std::string>{"ld", "1"});
    CHECK(exported.parameters[1].extents == std::vector<std::string>{""});
    CHECK(exported.parameters[1].may_be_null);
    CHECK_FALSE(exported.parameters[2].is_tensor);
    CHECK(exported.contracts[0].text == "N >= 1");
    std::vector<std::string> names;
    for (const Argument& argument : arguments(exported, {})) names.push_back(argument.type + argument.name);
    CHECK(join(names, "; ") ==
          "const tile_f16 *x; float *y; float a; int64_t N; int64_t ld; void *workspace; size_t workspace_bytes; "
          "void *stream");
  }

  TEST_CASE("the manifest holds the same as JSON") {
    std::string text = manifest_text({.name = "first", .compiler = "tilec 1", .exports = {gemm()}});
    auto json = Json::parse(text);
    REQUIRE(json);
    const Json& kernel = (*json)["kernels"][0];
    CHECK(*kernel["name"].as_string() == "gemm");
    CHECK(*kernel["parameters"][2]["access"].as_string() == "out");
    CHECK(*kernel["parameters"][0]["shape"][1].as_string() == "K");
    CHECK(*kernel["dims"][1]["fixed"].as_integer() == 4096);
    CHECK(*kernel["arguments"][0]["c_type"].as_string() == "const tile_f16 *");
    CHECK(*kernel["args_struct"]["size"].as_integer() == 8 + 3 * 24 + 8);
  }
}
