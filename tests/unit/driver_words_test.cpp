// What the command says and does for its users: option files, contracts in `run`, exports in `explain`, what a machine's
// memory does not hold, places of diagnostics, and divisions by zero in a compiled program.
#include <chrono>
#include <doctest/doctest.h>

#include "base/text.h"
#include "command.h"
#include "compiled_program.h"

using namespace tilec;
using namespace tilec::command;

namespace {

constexpr const char* kQuotients = R"(export kernel by_element(a: i32[N], b: i32[N], out c: i32[N]) {
    launch (i in N) { c[i] = a[i] / b[i]; }
}
export kernel by_loop(a: i32[N], b: i32[N], out c: i32[N]) {
    launch (i in ceildiv(N, 40)) {
        for j in parallel(40) {
            let k = i * 40 + j;
            if k < N { c[k] = a[k] % b[k]; }
        }
    }
}
export kernel by_tile(a: u16[N], b: u16[N], out c: u16[N]) {
    launch (i in ceildiv(N, 24)) {
        c.tile(i) = a.tile[24](i) / b.tile[24](i, pad = 1);
    }
}
export kernel by_thread(a: i64[N], b: i64[N], out c: i64[N]) {
    launch (i in ceildiv(N, 96)) threads 96 {
        simt (t) {
            if i * 96 + t < N { c[i * 96 + t] = a[i * 96 + t] / b[i * 96 + t]; }
        }
    }
}
export kernel tested(a: i32[N], b: i32[N], out c: i32[N]) {
    launch (i in ceildiv(N, 64)) {
        for j in parallel(64) {
            let k = i * 64 + j;
            if k < N {
                let d = b[k];
                c[k] = if d != 0 { a[k] / d } else { 7 };
            }
        }
    }
}
export kernel contract(a: i32[N], out c: i32[N], G: int) requires N % G == 0 {
    launch (i in N) { c[i] = a[i] + (N / G) as i32; }
}
)";

constexpr const char* kCaller = R"(enum { N = 101 };
static int32_t floor_div(int32_t a, int32_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int main(void) {
  int32_t a[N], b[N], c[N];
  uint16_t x[N], y[N], z[N];
  int64_t p[N], q[N], r[N];
  for (int i = 0; i < N; i++) {
    a[i] = i * 37 - 1500, b[i] = i % 7 - 9;
    x[i] = (uint16_t)(i * 631), y[i] = (uint16_t)(i % 5 + 1);
    p[i] = (int64_t)i * 1000003 - 7, q[i] = i % 3 + 1;
  }
  a[3] = INT32_MIN, b[3] = -1;  // wraps
  CHECK(by_element(a, b, c, N, NULL) == TILE_OK);
  for (int i = 0; i < N; i++) CHECK(c[i] == (i == 3 ? INT32_MIN : floor_div(a[i], b[i])));
  CHECK(by_loop(a, b, c, N, NULL) == TILE_OK);
  for (int i = 0; i < N; i++) CHECK(c[i] == (i == 3 ? 0 : a[i] - floor_div(a[i], b[i]) * b[i]));
  CHECK(by_tile(x, y, z, N, NULL) == TILE_OK);
  for (int i = 0; i < N; i++) CHECK(z[i] == x[i] / y[i]);
  CHECK(by_thread(p, q, r, N, NULL) == TILE_OK);
  b[50] = 0, y[N - 1] = 0, q[77] = 0;
  CHECK(by_element(a, b, c, N, NULL) == TILE_BOUNDS && PART("k.tile:2:30") && PART("division by zero"));
  for (int i = 0; i < N; i++) CHECK(c[i] == (i == 3 ? INT32_MIN : i == 50 ? 0 : floor_div(a[i], b[i])));
  CHECK(by_loop(a, b, c, N, NULL) == TILE_BOUNDS && PART("k.tile:8:31") && PART("division by zero"));
  CHECK(c[50] == 0 && c[51] == a[51] - floor_div(a[51], b[51]) * b[51]);
  CHECK(by_tile(x, y, z, N, NULL) == TILE_BOUNDS && PART("k.tile:14:21"));
  CHECK(z[N - 1] == 0 && z[N - 2] == x[N - 2] / y[N - 2]);
  CHECK(by_thread(p, q, r, N, NULL) == TILE_BOUNDS && PART("k.tile:20:49"));
  CHECK(r[77] == 0 && r[78] == p[78] / q[78]);
  CHECK(tested(a, b, c, N, NULL) == TILE_OK && c[50] == 7);
  CHECK(contract(a, c, 0, N, NULL) == TILE_SHAPE && PART("G != 0"));
  puts("fine");
  return 0;
}
)";

}  // namespace

TEST_CASE("an integer divided by zero gives 0, and the call says where") {
  Folder folder;
  expect_fine(folder, kQuotients, kCaller);
  Ran interpreted = folder.tilec("run k.tile --kernel by_element --dim N=100");
  CHECK(interpreted.code == 5);
  CHECK_MESSAGE(interpreted.says("k.tile:2:30: fault: "), interpreted.out);
  CHECK_MESSAGE(interpreted.says("divided by zero [division by zero]"), interpreted.out);
}

TEST_CASE("divisors that are shown to differ from 0 are not tested") {
  Folder folder;
  folder.write("k.tile", "export kernel k(a: i32[N], b: i32[N], out c: i32[N], d: i32) requires d > 0 {\n    launch (i in N) {\n"
                         "        let e = b[i];\n        if e != 0 { c[i] = a[i] / e + a[i] % d + a[i] / 3; }\n    }\n}\n");
  Ran thread = folder.tilec("k.tile --emit=thread-ir --target=x86-64-v3");
  CHECK(thread.code == 0);
  CHECK_MESSAGE(!thread.says("fault "), thread.out);
}

TEST_CASE("shared tiles that a block cannot have are an error, once, with what each takes") {
  Folder folder;
  folder.write("big.tile", "export kernel big(A: f32[N, N], out B: f32[N, N]) {\n    launch (i in ceildiv(N, 512), j in ceildiv(N, 512)) {\n"
                           "        var small: shared f32[512];\n        small = 2;\n        var s: shared f32[512, 512];\n"
                           "        s = A.tile(i, j);\n        B.tile(i, j) = s * small[_, :];\n    }\n}\n");
  Ran ran = folder.tilec("big.tile -o big.o");
  CHECK(ran.code == 1);
  CHECK_MESSAGE(ran.times("[T0500]") == 1, ran.out);
  for (const char* part : {"big.tile:5:", "`big` needs 1048576 bytes of shared memory", "has 524288", "`s` takes 1048576 bytes", "`small` takes 2048 bytes"})
    CHECK_MESSAGE(ran.says(part), ran.out);
}

TEST_CASE("what a machine has too little of names the export that asks for it, and no object is made") {
  Folder folder;
  folder.write("big.tile", "export kernel fine(A: f32[N], out B: f32[N]) { launch (i in N) { B[i] = A[i]; } }\n"
                           "kernel big[BM: int](A: f32[M, K], out C: f32[M, K]) {\n    launch (i in ceildiv(M, BM)) {\n"
                           "        var a: shared f32[BM, 512] = A.tile(i, 0);\n        C.tile(i, 0) = a + a;\n    }\n}\n"
                           "export big[BM = 8] as small_one;\nexport big[BM = 64] as large_one;\n");
  Ran ran = folder.tilec("big.tile --emit=ptx --target=sm_89 -o big.ptx");
  CHECK(ran.code == 1);
  CHECK_MESSAGE(ran.says("`big` needs 131072 bytes of shared memory but `sm_89` has 101376 [T0500]"), ran.out);
  CHECK_MESSAGE(ran.says("big.tile:9:8: note: in the instance `large_one` made here"), ran.out);
  CHECK_MESSAGE(!ran.says("small_one"), ran.out);
  CHECK(folder.run("ls big.ptx").code != 0);
}

TEST_CASE("more arguments than a launch can be handed are an error of the machine that takes fewer") {
  Folder folder;
  std::string params, needs, sums;
  for (int i = 0; i < 280; ++i) {
    params += "x" + std::to_string(i) + ": f32[N" + std::to_string(i) + "], ";
    needs += (i ? ", N" : "N") + std::to_string(i) + " > 0";
    sums += " + x" + std::to_string(i) + "[0]";
  }
  folder.write("many.tile", "export kernel many(" + params + "out y: f32[1]) requires " + needs + " { launch (i in 1) { y[0] = 0.0" + sums + "; } }\n");
  for (const char* words : {"--emit=ptx --target=sm_80", "--target=x86-64,ptx:sm_80"}) {
    Ran ran = folder.tilec("many.tile -o out " + std::string(words));
    CHECK(ran.code == 1);
    CHECK_MESSAGE(ran.says("many.tile:1:15: error: a launch of `many` is handed 4496 bytes of arguments but `sm_80` takes 4352 [T0501]"), ran.out.substr(0, 500));
    CHECK(folder.run("ls out").code != 0);
  }
  Ran ran = folder.tilec("many.tile --emit=ptx --target=sm_90a -o out");
  CHECK_MESSAGE(ran.code == 0, ran.out.substr(0, 500));
}

TEST_CASE("arrays that a lane cannot have are an error of the machine") {
  Folder folder;
  folder.write("far.tile", "export kernel far_off(x: i32[N], inout y: f32[N]) {\n    launch (i in ceildiv(N, 32)) threads 32 {\n        simt (t) {\n"
                           "            var l: local f32[200000];\n            for k in 0..200000 { l[k] = k as f32; }\n"
                           "            if i * 32 + t < N { let q = x[i * 32 + t] as int; y[i * 32 + t] = if q >= 0 && q < 200000 { l[q] } else { 0 }; }\n"
                           "        }\n    }\n}\n");
  Ran ran = folder.tilec("far.tile --target=x86-64,sm_80 -o far.o");
  CHECK(ran.code == 1);
  CHECK_MESSAGE(ran.says("far.tile:4:"), ran.out);
  CHECK_MESSAGE(ran.says("error: `l` takes 800000 bytes of each lane's own memory but `sm_80` has 524288 [T0502]"), ran.out);
  CHECK(folder.tilec("far.tile --target=x86-64 -o far.o").code == 0);
}

TEST_CASE("a tile that is much too large is refused before a layout is looked for") {
  Folder folder;
  folder.write("slow.tile", "export kernel slow(A: f16[M, K], B: f16[K, N], out C: f32[M, N]) {\n    launch (i in ceildiv(N, 64), j in ceildiv(M, 64)) threads 128 {\n"
                            "        var a: shared f16[64, 100000];\n        var b: shared f16[100000, 64];\n        var c: fragment f32[64, 64] = 0;\n"
                            "        a = A.tile(j, 0);\n        b = B.tile(0, i);\n        c += a @ b;\n        C.tile(j, i) = c;\n    }\n}\n");
  auto begin = std::chrono::steady_clock::now();
  Ran ran = folder.tilec("slow.tile --target=sm_90a -o slow.ptx --emit=ptx");
  CHECK(ran.code == 1);
  CHECK_MESSAGE(ran.says("`slow` needs 12800000 bytes of shared memory but `sm_90a` has"), ran.out);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("a product's operands that go through shared tiles are noted where they stand") {
  Folder folder;
  folder.write("big.tile", "export kernel big(L: f16[M, K], R: f16[K, N], out C: f32[M, N]) {\n    launch (i in 1) {\n"
                           "        C.tile(0, 0) =\n            L.tile[256, 128](0, 0)\n            @ R.tile[128, 1024](0, 0);\n    }\n}\n");
  Ran ran = folder.tilec("big.tile --emit=ptx --target=sm_80 -o big.ptx");
  CHECK_MESSAGE(ran.says("big.tile:5:15: note: `R` takes 262144 bytes"), ran.out);
  CHECK_MESSAGE(ran.says("big.tile:4:13: note: `L` takes 65536 bytes"), ran.out);
}

TEST_CASE("`run` says which contract fails, with its numbers, and how to set them") {
  Folder folder;
  folder.write("k.tile", "export kernel k(A: f32[N], out B: f32[N], G: int)\n    requires N % G == 0, G > 1\n{\n    launch (i in N / G) { B[i] = A[i]; }\n}\n");
  Ran bad = folder.tilec("run k.tile --dim G=2,N=33");
  CHECK(bad.code == 5);
  CHECK_MESSAGE(bad.says("k.tile:2:14: fault: requires N % G == 0, where N is 33 and G is 2 [contract]"), bad.out);
  CHECK_MESSAGE(bad.says("--dim NAME=VALUE"), bad.out);
  Ran good = folder.tilec("run k.tile --dim G=2,N=34");
  CHECK_MESSAGE(good.code == 0, good.out);
}

TEST_CASE("`run` takes dims that meet the contract, and says so, or says that it found none") {
  Folder folder;
  folder.write("k.tile", R"(export kernel k(A: f32[B, N, K; s, lda, 1], out C: f32[N - 40, G], H: int)
    requires K % 32 == 0, N % G == 0, B % H == 0, H > 1, lda % 16 == 0
{
    launch (i in N - 40) { C[i, 0] = A[0, i, H]; }
}
export kernel none(A: f32[N], out B: f32[N]) requires N > 100000 { launch (i in N) { B[i] = A[i]; } }
export kernel row(A: f32[M, N; lda, 1], out B: f32[M]) requires lda % 16 == 0 { launch (i in M) { B[i] = A[i, 0]; } }
)");
  Ran chosen = folder.tilec("run k.tile --kernel k");
  CHECK_MESSAGE(chosen.out == "k: N = 41, K = 64, G = 41, as its contract asks\nk: done\n", chosen.out);
  Ran strided = folder.tilec("run k.tile --kernel row");
  CHECK_MESSAGE(strided.out == "row: lda = 48, as its contract asks\nrow: done\n", strided.out);
  Ran given = folder.tilec("run k.tile --kernel k --dim N=60,K=32");
  CHECK_MESSAGE(given.says("k: G = 60, as its contract asks"), given.out);
  Ran none = folder.tilec("run k.tile --kernel none");
  CHECK(none.code == 5);
  CHECK_MESSAGE(none.says("help: no values up to 4096 were found that meet the contract; give them: `--dim N=VALUE`"), none.out);
}

TEST_CASE("every word of `--counters` is explained, and help shows words") {
  Folder folder;
  folder.write("k.tile", "export kernel k(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\n");
  Ran ran = folder.tilec("run k.tile --counters");
  CHECK_MESSAGE(ran.says("k: done\nlane operations "), ran.out);
  std::ifstream file(TILEC_TESTS "/../docs/reference/command-line.md");
  std::string page{std::istreambuf_iterator<char>(file), {}};
  page = page.substr(page.find("| counted by `--counters`"));
  std::string line(trim(ran.out.substr(ran.out.find('\n') + 1)));
  for (const std::string& part : split(line, ',')) {
    std::string word(trim(part.substr(0, part.find_last_of(' '))));
    CHECK_MESSAGE(page.find(word.starts_with("converted ") ? word.substr(10) : word) != page.npos, word);
  }
  CHECK(folder.tilec("check --help").says("{text,json,sarif}"));
  CHECK(folder.tilec("check --diagnostics-format=sarif k.tile").says("2.1.0"));
  CHECK(folder.tilec("check --diagnostics-format=xml k.tile").code == 2);
}

TEST_CASE("what is no program is refused by its first mistakes, however long it is") {
  Folder folder;
  std::string c = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\n  for (int i = 0; i < 4; i++) printf(\"%d\", i);\n  return 0;\n}\n";
  for (int i = 0; i < 9; ++i) c += "static int f" + std::to_string(i) + "(int *a) {\n  for (int k = 0; k < 4; ++k) a[k] = 0;\n  return a[0];\n}\n";
  folder.write("main.c", c);
  Ran foreign = folder.tilec("check main.c");
  CHECK_MESSAGE(foreign.times(": error: ") == 4, foreign.out);
  CHECK_MESSAGE(foreign.says("after 3 mistakes the rest of this file is not read [T0021]"), foreign.out);
  CHECK_MESSAGE(foreign.says("is `main.c` a program of this language?"), foreign.out);
  folder.write("main.tile", c);
  Ran ours = folder.tilec("check main.tile");
  CHECK_MESSAGE(ours.times(": error: ") == 3, ours.out);  // each line for a preprocessor, and that the rest is none of ours
  CHECK(!folder.tilec("check main.tile --error-limit 0").says("T0021"));

  std::string bytes = "kernel f() { }\n";
  bytes += '\0';
  for (int i = 0; i < 1000; ++i) bytes += char(i * 37);
  folder.write("bytes.tile", bytes);
  Ran binary = folder.tilec("check bytes.tile");
  CHECK_MESSAGE(binary.times("error: ") == 1, binary.out);
  CHECK_MESSAGE(binary.says("bytes.tile:2:1: error: the character `0x00` has no meaning"), binary.out);
  for (std::string unit : {"}", "$", "\"a\n", "x = ;\n"}) {
    std::string text = "kernel f() {\n";
    for (int i = 0; i < 2000; ++i) text += unit;
    folder.write("long.tile", text + "\n}\n");
    Ran ran = folder.tilec("check long.tile");
    CHECK_MESSAGE(ran.times(": error: ") <= 12, ran.out);
    CHECK_MESSAGE(ran.says("after 10 mistakes"), ran.out);
  }
}

TEST_CASE("@file stands for the words in it") {
  Folder folder;
  folder.write("a b.tile", "export kernel copy(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\n");
  folder.write("options", "'a b.tile'\n--emit=header\t-o \"x \\\"y.h\" @more");
  folder.write("more", "--prefix my_");
  Ran made = folder.tilec("@options");
  CHECK_MESSAGE(made.code == 0, made.out);
  CHECK(folder.run("grep -c 'my_copy(' 'x \"y.h'").code == 0);
  Ran none = folder.tilec("check @none");
  CHECK(none.code == 3);
  CHECK_MESSAGE(none.says("cannot read `none`: No such file or directory [T0600]"), none.out);
  folder.write("round", "@round");
  CHECK(folder.tilec("check @round").code == 3);
}

TEST_CASE("`explain` names exports, and those that share a kernel once") {
  Folder folder;
  folder.write("k.tile", "kernel copy[T: float](A: T[N], out B: T[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\n"
                         "export copy[T = f32] as narrow;\nexport copy[T = f32] as again;\nexport copy[T = f64] as wide;\n"
                         "export kernel alone(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\n");
  Ran ran = folder.tilec("explain k.tile --target=x86-64");
  CHECK(ran.code == 0);
  CHECK_MESSAGE(ran.times("kernel copy[T = f32] as narrow, again on x86-64\n") == 1, ran.out);
  CHECK_MESSAGE(ran.times("kernel copy[T = f64] as wide on x86-64\n") == 1, ran.out);
  CHECK_MESSAGE(ran.times("kernel alone on x86-64\n") == 1, ran.out);
  CHECK(ran.times(" on x86-64\n") == 3);
}

TEST_CASE("an edge that would divide is masked, unless it is not known where it lies") {
  Folder folder;
  auto checked = [&](const std::string& body) {
    folder.write("k.tile", "export kernel k(a: i32[N], b: i32[N], out c: i32[N]) {\n    launch (i in ceildiv(N, 64)) {\n" + body + "    }\n}\n");
    return folder.tilec("check k.tile");
  };
  Ran ran = checked("        let y = b.tile[64](i);\n        c.tile(i) = a.tile[64](i) / (y * 2);\n");
  CHECK_MESSAGE(ran.code == 0, ran.out);
  ran = checked("        var y = b.tile[64](0);\n        for k in 0..4 {\n            c.tile(i) = a.tile[64](i) / y;\n            y = b.tile[64](k);\n        }\n");
  CHECK_MESSAGE(ran.code == 0, ran.out);
  ran = checked("        var y = b.tile[64](0); var k = 0;\n        while k < 4 {\n            c.tile(i) = a.tile[64](i) / y;\n            y = b.tile[64](k); k += 1;\n        }\n");
  CHECK_MESSAGE(ran.says("k.tile:5:25: error: the padding value 0 of `y` would enter this division [T0404]"), ran.out);
}

TEST_CASE("padding that is written already is replaced, not given twice") {
  Folder folder;
  folder.write("k.tile", "export kernel k(A: f32[M, N], out B: f32[M]) {\n    launch (i in ceildiv(M, 64)) {\n"
                         "        var t: shared f32[64, 128] = A.tile(i, 0, pad = 0);\n        B.tile(i) = t.max(axis = 1);\n    }\n}\n");
  Ran ran = folder.tilec("check --diagnostics-format=json k.tile");
  CHECK_MESSAGE(ran.says("\"-inf\""), ran.out);
  CHECK_MESSAGE(!ran.says(", pad = -inf"), ran.out);
}

TEST_CASE("a store is reported at its target, a read at what is read") {
  Folder folder;
  folder.write("k.tile", "export kernel k(A: f32[N], out B: f32[N], inout s: f32[1]) {\n    launch (i in N) {\n"
                         "        s[0] = A[i] + 1;\n        B[i + 1] = A[i];\n    }\n}\n"
                         "export kernel shapes(A: f32[64], out B: f32[32]) {\n    launch (i in 1) {\n        B = A;\n    }\n}\n"
                         "export kernel reading(out B: f32[64]) {\n    launch (i in 1) {\n        var t: shared f32[64];\n        B = t;\n    }\n}\n");
  auto check_without = [&](const char* lines, std::initializer_list<const char*> parts) {
    Ran ran = folder.run("sed " + std::string(lines) + "d k.tile > part.tile && '" TILEC_BINARY "' check part.tile");
    for (const char* part : parts) CHECK_MESSAGE(ran.says(part), ran.out);
  };
  check_without("7,11", {"part.tile:3:9: error: two blocks", "part.tile:4:9: error: this access leaves `B`", "part.tile:10:13: error: `t` is read here"});
  check_without("1,6", {"part.tile:3:9: error: the shape `[32]` on the left does not agree with `[64]`"});
}

// What the first kernel of a reader of C has in it.
TEST_CASE("words of C are answered with ours") {
  Folder folder;
  auto says = [&](const std::string& head, const std::string& body, std::initializer_list<const char*> parts) {
    folder.write("k.tile", head + " {\n    launch (i in N) {\n        " + body + "\n    }\n}\n");
    Ran ran = folder.tilec("check k.tile");
    for (const char* part : parts) CHECK_MESSAGE(ran.says(part), ran.out);
    return ran;
  };
  const std::string head = "export kernel k(x: f32[N], out y: f32[N])";
  says("export kernel k(x: float[N], out y: uint8_t[N])", "y[i] = 1;", {"the type is called `f32` here", "k(x: f32[N], out y: uint8_t[N])", "the type is called `u8` here"});
  says(head, "y[i] = relu(x[i]);", {"it is in `std.math`: `import std.math;`, then `math.relu`"});
  says("import std.math;\n" + head, "y[i] = relu(x[i]) + math.Silu(x[i]);", {"y[i] = math.relu(x[i])", "did you mean `silu`?"});
  says(head, "y[i] = x[n];", {"`n` is not declared", "y[i] = x[N];"});
  CHECK(!says(head, "y[i] = x[q];", {"`q` is not declared"}).says("did you mean"));
  says(head, "float s = x[i]; y[i] = s;", {"expected `var s: f32` but found `float s`", "var s: f32 = x[i]; y[i] = s;"});
  says(head, "shared float s[4]; y[i] = x[i];", {"a declaration begins with `let` or `var`"});
  Ran loops = says(head, "var s: f32 = 0;\n        for (int j = 0; j < N; j++) { s += x[j]; }\n        for (j = 1; j <= N / (1 + 1); j += 2) { s += x[j] * wrong; }\n        y[i] = s;",
                   {"for j in 0..N { s", "for j in range(1, N / (1 + 1) + 1, 2) { s", "`wrong` is not declared", "3 errors"});
  CHECK(loops.times("[T0020]") == 2);
  Ran sum = says(head, "var s = 0;\n        s += x[i];\n        y[i] = x.tile[8](i).sum();", {"declare it as `f32`, or convert the other side with `as int`", "`axis = 0` leaves"});
  CHECK(!sum.says("s as f32 +="));
  says(head, "var t: fragment f32[64];\n        y.tile(i) = t + 1;", {"var t: fragment f32[64] = 0;"});
}

TEST_CASE("`run` with several kernels, `explain` of what is none") {
  Folder folder;
  folder.write("k.tile", "export kernel one(x: f32[N], out y: f32[N]) {\n    launch (i in N) { y[i] = x[i]; }\n}\n"
                         "export kernel two(x: f32[B, H, M, K], out y: f32[B, H, M, K], s: f32[H, M]) requires B == 3, M == 33, H == 33, K == 33 {\n"
                         "    launch (i in 1) { y[0, 0, 0, 0] = x[0, 0, 0, 0]; }\n}\n");
  Ran both = folder.tilec("run -w k.tile --dim H=33,N=7");
  CHECK_MESSAGE(both.code == 0, both.out);
  CHECK_MESSAGE(both.says("two: done"), both.out);
  Ran batch = folder.tilec("run -w k.tile --kernel two");
  CHECK_MESSAGE(batch.says("two: H = 33, as its contract asks\ntwo: done"), batch.out);
  Ran none = folder.tilec("run -w k.tile --dim Q=7");
  CHECK(none.code == 2);
  CHECK_MESSAGE(none.says("no kernel has a dim or an integer parameter of that name"), none.out);
  Ran page = folder.tilec("explain T9999");
  CHECK(page.code == 2);
  CHECK_MESSAGE(page.says("there is no diagnostic T9999"), page.out);
}

TEST_CASE("words without a value, with an unknown one, or to no purpose are told as such") {
  Folder folder;
  folder.write("k.tile", "export kernel one(x: f32[N], out y: f32[N]) {\n    launch (i in N) { y[i] = x[i]; }\n}\n");
  auto refused = [&](const std::string& words, std::string_view why) {
    Ran ran = folder.tilec(words);
    CHECK_MESSAGE((ran.code == 2 && ran.says(why)), words << "\n" << ran.out);
  };
  refused("check k.tile -R", "-R wants a group of remarks behind it");
  refused("k.tile -MT k.o", "without -MD, -MMD or -MF none are written");
  refused("k.tile -MP", "without -MD, -MMD or -MF none are written");
  refused("--print-completions=elvish", "there is no '--print-completions=elvish'; there are --print-completions, --print-completions=bash,");
  refused("--print-manual=json", "there is no '--print-manual=json'; there are --print-manual\n");
  refused("--print-targets k.tile", "'--print-targets' stands alone");
  refused("explain T404", "there is no diagnostic T404; did you mean T0404?");
  refused("explain t0404", "did you mean T0404?");
  refused("explain 404", "did you mean T0404?");
  refused("explain T04040", "there is no diagnostic T04040; `tilec explain --all`");
  refused("explain PadInReductio", "there is no diagnostic and no file PadInReductio; did you mean PadInReduction?");
  CHECK(folder.tilec("-w k.tile -MF alone.d").code == 0);
  CHECK(folder.read("alone.d") == "k.o k.h: k.tile\n");
}
