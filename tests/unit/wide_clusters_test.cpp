// The copy of an export's first instance in wider clusters: where the compiler makes it, how it is called, printed and pinned.
#include <doctest/doctest.h>

#include "command.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/target.h"

using namespace tilec;

namespace {

const std::string kProduct = R"(
kernel product[BM: int = 128, BN: int = 256, Threads: int = 256](A: f16[M, K], B: f16[K, N], out C: f16[M, N]) {
    launch (i in ceildiv(N, BN), j in ceildiv(M, BM)) threads Threads {
        var a: shared f16[BM, 64];
        var b: shared f16[64, BN];
        var acc: fragment f32[BM, BN] = 0;
        for k in pipelined(ceildiv(K, 64), stages = 4) {
            a = A.tile(j, k);
            b = B.tile(k, i);
            acc += a @ b;
        }
        C.tile(j, i) = acc as f16;
    }
}
)";
const std::string kTwo = "export product | product[BM = 64, BN = 64, Threads = 128] as f;\n";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

// The clusters of the instances of the first export, as many as the machine has.
std::string clusters(const std::string& text, std::string_view machine = "sm_90a") {
  SourceMap sources;
  Diagnostics diagnostics{Policy{}};
  Ast ast = parse(sources.add("k.tile", text), sources, diagnostics);
  Program program = analyse(ast, sources, embedded_library(), diagnostics);
  CompileRequest request{.machines = {target::machine_named(machine)->machine}, .prefix = {}, .compiler = {}, .library = {}};
  auto compiled = compile(program, request, sources, diagnostics);
  if (!compiled) return "refused";
  std::string out;
  for (const target::Instance& instance : compiled->program.exports.at(0).instances) {
    out += out.empty() ? "" : " ";
    for (int64_t blocks : instance.kernel->schedule.cluster) out += std::to_string(blocks);
    if (instance.kernel->schedule.cluster.empty()) out += "-";
  }
  return out;
}

// The program of one thread, without what was pinned.
std::string code(const command::Folder& folder, const std::string& text) {
  folder.write("k.tile", text);
  command::Ran ran = folder.tilec("k.tile --target=sm_90a --emit=thread-ir -o - | grep -vE '^  (schedule|role|place|pipeline|layout) '");
  CHECK_MESSAGE(ran.says("launch"), ran.out);
  return ran.out;
}

}  // namespace

TEST_SUITE("wide clusters") {
  TEST_CASE("an export of several instances has one more, whose blocks copy for each other two by two") {
    CHECK(clusters(kProduct + kTwo) == "12 - 22");
    // Which axis was the first one is all the same.
    CHECK(clusters(replaced(kProduct, "BM: int = 128, BN: int = 256", "BM: int = 256, BN: int = 128") + kTwo) == "21 - 22");
    const std::string batch = replaced(replaced(replaced(kProduct, "[M,", "[Z, M,"), "[K, N]", "[Z, K, N]"), "threads", ", z in Z) threads");
    CHECK(clusters(replaced(replaced(replaced(replaced(batch, "BM)) ,", "BM),"), "A.", "A[z]."), "B.", "B[z]."), "C.", "C[z].") + kTwo) == "121 - 221");
  }

  TEST_CASE("none is made where nothing is widened") {
    CHECK(clusters(kProduct + "export product as f;") == "12");
    for (const char* machine : {"sm_80", "x86-64-v3", "model"}) CHECK(clusters(kProduct + kTwo, machine) == "-");
    // No cluster is inferred for what multiplies more than it reads, and what the source pins stays as it is.
    CHECK(clusters(kProduct + "export product[BM = 64, BN = 64, Threads = 128] | product[BM = 64, BN = 128, Threads = 128] as f;") == "- -");
    CHECK(clusters(replaced(kProduct, "threads Threads", "threads Threads cluster (1, 2)") + kTwo) == "12 12");
    CHECK(clusters(kProduct + kTwo + "schedule product[BN = 256] { cluster (2, 1); }") == "21 -");
    CHECK(clusters(kProduct + kTwo + "schedule product[BN = 256] { cluster (1, 1); }") == "- -");
    // Tiles that only one axis has in common; a second pair of blocks would copy as much.
    CHECK(clusters(replaced(kProduct, "B.tile(k, i)", "B.tile(k + j, i)") + kTwo) == "21 -");
    // The same, but for a third tile, of which each block has its own.
    const std::string three = replaced(replaced(kProduct, "var b: shared f16[64, BN];", "var b: shared f16[64, BN]; var d: shared f16[64, BN];"), "acc += a @ b;", "d = B.tile(k + j, i);\n acc += a @ b;\n acc += a @ d;");
    CHECK(clusters(replaced(three, "BN: int = 256", "BN: int = 128") + kTwo) == "21 -");
    // Loops in which the blocks of the other axis have other numbers of turns.
    CHECK(clusters(replaced(kProduct, "pipelined(ceildiv(K, 64)", "pipelined(min(i + 1, ceildiv(K, 64))") + kTwo) == "12 -");
    // What another line pins is pinned in both.
    CHECK(clusters(kProduct + kTwo + "schedule product[BN = 256] { raster column(4); }") == "12 - 22");
  }

  TEST_CASE("an export of as many instances as there may be has no other") {
    std::string all = "export product";
    for (int i = 1; i < 15; ++i) all += " | product[BM = 64, BN = 64, Threads = 128]";
    CHECK(clusters(kProduct + all + " as f;").ends_with(" - 22"));
    CHECK(clusters(kProduct + all + " | product[BM = 64, BN = 64, Threads = 128] as f;").ends_with(" - -"));
  }

  TEST_CASE("its own schedule is printed, and pasted gives the same code; `wide` pins it alone") {
    command::Folder folder;
    const std::string plain = code(folder, kProduct + kTwo);
    command::Ran printed = folder.tilec("k.tile --target=sm_90a --emit=schedule -o -");
    CHECK_MESSAGE(printed.says("schedule product[BM = 128, BN = 256, Threads = 256] for sm_90a {\n    cluster (1, 2);"), printed.out);
    CHECK_MESSAGE(printed.says("schedule product[BM = 128, BN = 256, Threads = 256] wide for sm_90a {\n    cluster (2, 2);"), printed.out);
    CHECK(code(folder, kProduct + kTwo + printed.out) == plain);
    CHECK(clusters(kProduct + kTwo + printed.out) == "12 - 22");
    CHECK(clusters(kProduct + kTwo + "schedule product wide { cluster (4, 2); }") == "12 - 42");
    CHECK(clusters(kProduct + kTwo + "schedule product wide { cluster (4, 2); } schedule product[BN = 256] for sm_90a { cluster (2, 1); }") == "21 - 42");
    // What its own schedule asks for and cannot have is a mistake, as anywhere.
    CHECK(clusters(kProduct + kTwo + "schedule product wide { cluster (4, 4); }") == "refused");
  }

  TEST_CASE("it is an instance of its own in the header and for people, and runs right") {
    command::Folder folder;
    folder.write("k.tile", kProduct + kTwo);
    command::Ran ran = folder.tilec("k.tile --target=sm_90a --emit=header -o -");
    CHECK_MESSAGE(ran.says("product[BM = 128, BN = 256, Threads = 256] wide"), ran.out);
    ran = folder.tilec("explain k.tile --target=sm_90a");
    CHECK_MESSAGE(ran.says("kernel product[BM = 128, BN = 256, Threads = 256] wide as f on sm_90a\n"), ran.out);
    CHECK_MESSAGE(!folder.tilec("explain k.tile --target=sm_80").says("wide"), "no clusters");
    ran = folder.tilec("run k.tile --target=sm_90a --form thread --dim M=130,N=300,K=70");
    CHECK_MESSAGE(ran.code == 0, ran.out);
    CHECK_MESSAGE(ran.times("agrees") == 3, ran.out);
    CHECK_MESSAGE(folder.tilec("run k.tile --dim M=5,N=6,K=7").times("done") == 2, "no clusters");
  }
}
