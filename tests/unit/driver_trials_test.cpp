// What trials of the command found: values and names that were told wrongly or not at all, inputs without end, and numbers that
// are kept in f64.
#include <doctest/doctest.h>

#include "command.h"

using namespace tilec;
using namespace tilec::command;

namespace {

constexpr const char* kCopy = "export kernel copy(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\n";

std::string layer_norm(const char* mean) {
  return "export kernel norm(X: f32[M, N], out Y: f32[M, N]) {\n    launch (i in M) {\n        let x = X[i, 0 +: 128];\n"
         "        let mean = " + std::string(mean) + ";\n        let d = x - mean;\n        let v = (d * d).sum(axis = 0) / (N as f32);\n"
         "        Y[i, 0 +: 128] = d / sqrt(v + 0.00001);\n    }\n}\n";
}

// Narrow floats are computed with, converted to and from, negated, compared, and summed by atomics.
constexpr const char* kNarrow = R"(export kernel eight(A: f8e4m3[N], B: f8e4m3[N], out C: f32[N]) {
    launch (i in ceildiv(N, 64)) {
        let a = A.tile[64](i);
        let b = B.tile[64](i);
        C.tile(i) = (max(a * b, -a) + a) as f32 * 1.0;
    }
}
export kernel half(A: f16[N], B: f16[N], out C: f32[N], out D: bf16[N]) {
    launch (i in ceildiv(N, 64)) {
        let a = A.tile[64](i);
        let b = B.tile[64](i);
        C.tile(i) = exp(a * b + a) as f32 * 1.0;
        D.tile(i) = (a as bf16) * (b as bf16) + (b as bf16);
    }
}
export kernel converted(A: f32[N], B: f32[N], out C: f32[N]) {
    launch (i in ceildiv(N, 64)) {
        C.tile(i) = (A.tile[64](i) * B.tile[64](i)) as f8e5m2 as f32 + (A.tile[64](i) * 3) as f16 as f32;
    }
}
)";

}  // namespace

TEST_CASE("what is computed of padding enters no sum, and the kernel runs as it is meant in every form") {
  Folder folder;
  folder.write("norm.tile", layer_norm("x.sum(axis = 0) / (N as f32)"));
  Ran ran = folder.tilec("check norm.tile");
  CHECK_MESSAGE(ran.code == 0, ran.out);
  ran = folder.tilec("run norm.tile --after-each --dim N=100,M=3");
  CHECK_MESSAGE((ran.code == 0 && !ran.says("DIFFERS")), ran.out);
}

TEST_CASE("a name far from all others gets no suggestion, one of the library its import") {
  Folder folder;
  auto says = [&](const std::string& value) {
    folder.write("k.tile", "export kernel k(A: f32[N], out C: f32[N]) {\n    launch (i in ceildiv(N, 64)) {\n        let a = A.tile[64](i);\n        C.tile(i) = " + value + ";\n    }\n}\n");
    return folder.tilec("check k.tile");
  };
  CHECK_MESSAGE(says("a - mean(a)").times("did you mean") == 0, says("a - mean(a)").out);
  CHECK_MESSAGE(says("a - a.mean(axis = 0)").times("did you mean") == 0, says("a - a.mean(axis = 0)").out);
  CHECK_MESSAGE(says("sqtr(a)").says("did you mean `sqrt`?"), says("sqtr(a)").out);
  CHECK_MESSAGE(says("relu(a)").says("`import std.math;`, then `math.relu`"), says("relu(a)").out);
  CHECK_MESSAGE(says("sigmiod(a)").says("did you mean `math.sigmoid`, which is in `std.math`?"), says("sigmiod(a)").out);
}

TEST_CASE("the header shows the numbers that an export fixes") {
  Folder folder;
  folder.write("k.tile", "kernel k[T: type, B: int](A: T[N, B], W: T[D, B * 2], out C: T[N, B]) {\n    launch (i in ceildiv(N, 64)) { C.tile[64, 8](i, 0) = A.tile(i, 0) + W.tile(0, 0); }\n}\n"
                         "export k[T = f16, B = 64] as k64 where D = 128;\n");
  Ran ran = folder.tilec("-w k.tile -o k.o --header -");
  CHECK_MESSAGE(ran.says("in f16[N, 64]"), ran.out);
  CHECK_MESSAGE(ran.says("in f16[128, 64 * 2]"), ran.out);
  CHECK_MESSAGE(ran.says("k(A: f16[N, 64], W: f16[128, 64 * 2], out C: f16[N, 64])"), ran.out);
}

TEST_CASE("integer parameters of `run` may be negative, extents may not") {
  Folder folder;
  folder.write("k.tile", "export kernel k(A: i32[N], s: int, out C: i32[N]) {\n    launch (i in N) { C[i] = A[i] + (s as i32); }\n}\n");
  CHECK_MESSAGE(folder.tilec("run k.tile --dim s=-1").code == 0, folder.tilec("run k.tile --dim s=-1").out);
  CHECK(folder.tilec("run k.tile --dim N=-1").says("tilec: --dim N=-1: an extent is a whole number from 0"));
  CHECK(folder.tilec("run k.tile --dim s=x").says("tilec: --dim s=x: the value of a parameter is a whole number"));
  CHECK(folder.tilec("run k.tile --dim s=").code == 2);
}

TEST_CASE("objects put together show all that they hold") {
  Folder folder;
  folder.write("copy.tile", kCopy);
  folder.write("other.tile", "export kernel other(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i] + 1; }\n}\n");
  REQUIRE(folder.tilec("copy.tile -o copy.o").code == 0);
  REQUIRE(folder.tilec("other.tile -o other.o").code == 0);
  REQUIRE(folder.run("ld -r copy.o other.o -o both.o").code == 0);
  Ran ran = folder.tilec("inspect both.o");
  CHECK(ran.code == 0);
  CHECK_MESSAGE(ran.says("kernel     copy("), ran.out);
  CHECK_MESSAGE(ran.says("kernel     other("), ran.out);
}

TEST_CASE("an input without end is refused, and so is a chain without end, both with the reason") {
  Folder folder;
  Ran endless = folder.tilec("check /dev/zero");
  CHECK(endless.code == 3);
  CHECK_MESSAGE(endless.says("cannot read `/dev/zero`: it has more than 256 MiB"), endless.out);
  std::string chain = "A[i]";
  for (int n = 0; n < 1200; ++n) chain += " + A[i]";
  folder.write("chain.tile", "export kernel k(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = " + chain + "; }\n}\n");
  CHECK(folder.tilec("check chain.tile").says("help: in a chain such as `a + b + c` each operator is a level"));
}

TEST_CASE("what the command line cannot be says who speaks") {
  Folder folder;
  for (const char* words : {"explain T0100 --emit=foo", "check", "run --completion=never k.tile"}) {
    Ran ran = folder.tilec(words);
    CHECK(ran.code == 2);
    CHECK_MESSAGE(ran.out.starts_with("tilec: "), words << "\n" << ran.out);
  }
  CHECK(folder.tilec("check --help").code == 0);
}

TEST_CASE("one run completes copies late and early where there are any") {
  Folder folder;
  folder.write("sums.tile", "export kernel sums(x: f32[M, N], out y: f32[M]) {\n    launch (i in ceildiv(M, 8)) {\n        var s: fragment f32[8] = 0;\n"
                            "        for k in pipelined(ceildiv(N, 64), stages = 2) { s += x.tile[8, 64](i, k).sum(axis = 1); }\n        y.tile(i) = s;\n    }\n}\n");
  Ran both = folder.tilec("run sums.tile --after-each --completion=both --target=model --dim M=9 --dim N=130");
  CHECK_MESSAGE(both.code == 0, both.out);
  CHECK_MESSAGE(both.says("sums after lower: agrees"), both.out);
  CHECK_MESSAGE(both.says("sums after lower, completed early: agrees"), both.out);
  CHECK_MESSAGE(!both.says("sums after place, completed early"), both.out);
  CHECK(folder.tilec("run sums.tile --after-each --completion=early --target=model").times("completed early") == 0);
}

TEST_CASE("extents that functions make by branches and loops are computed") {
  Folder folder;
  folder.write("made.tile", "fn made(a: int) -> int {\n    if a < 0 { return 7; }\n    var s: int = 0;\n    for k in 0..a { s += k; if s > 5 { return s; } }\n    for k in [1, 2] { s += k; }\n"
                            "    return s;\n}\nexport kernel k(n: int, inout B: i32[made(n)]) {\n    launch (i in made(n)) { B[i] = 1; }\n}\n");
  for (auto [n, ones] : {std::pair{"-3", 7}, std::pair{"2", 4}, std::pair{"9", 6}})
    for (const char* form : {"source", "typed"}) {
      Ran ran = folder.tilec(std::string("run made.tile --print=json --form=") + form + " --dim n=" + n);
      std::string all = "\"B\":[1";
      for (int i = 1; i < ones; ++i) all += ",1";
      CHECK_MESSAGE(ran.says(all + "]"), ran.out);
    }
}

TEST_CASE("remarks tell the layouts that change, and registers that do not suffice") {
  Folder folder;
  folder.write("turned.tile", "export kernel turned(A: f32[N, N], out B: f32[N, N]) {\n    launch (i in ceildiv(N, 64), j in ceildiv(N, 64)) threads 128 {\n"
                              "        let a = A.tile[64, 64](i, j);\n        B.tile(i, j) = a + a.T;\n    }\n}\n");
  Ran ran = folder.tilec("explain turned.tile --target model -R layout");
  CHECK_MESSAGE(ran.says("changes its layout here, through shared memory: 32 registers a lane [T0805"), ran.out);
  CHECK(folder.tilec("explain turned.tile --target model").times("[T0805") == 0);
  folder.write("product.tile", "export kernel product(A: f16[M, K], B: f16[K, N], out C: f32[M, N]) {\n    launch (i in ceildiv(M, 128), j in ceildiv(N, 256)) threads 128 {\n"
                               "        var sum: fragment f32[128, 256] = 0;\n        for k in 0..ceildiv(K, 64) { sum += A.tile[128, 64](i, k) @ B.tile[64, 256](k, j); }\n"
                               "        C.tile(i, j) = sum;\n    }\n}\n");
  Ran product = folder.tilec("explain product.tile --target sm_90a -R spill");
  CHECK_MESSAGE(product.says("product.tile:2:5: remark: by an estimate, "), product.out);
  CHECK_MESSAGE(product.says(" registers are needed at once and `sm_90a` has 255: some values may go through memory [T0806"), product.out);
  CHECK(folder.tilec("explain turned.tile --target model -R spill").times("[T0806") == 0);
}

TEST_CASE("numbers that are kept in f64 stay so behind the integer code of narrow floats") {
  Folder folder;
  folder.write("narrow.tile", kNarrow);
  for (const char* machine : {"model", "x86-64", "x86-64-v3"}) {
    Ran ran = folder.tilec("run narrow.tile --after-each --numeric=wide --dim N=4096 --target=" + std::string(machine));
    CHECK(ran.code == 0);
    constexpr std::string_view kAgrees = " after legalise: agrees, greatest difference ";
    for (size_t at = 0; (at = ran.out.find(kAgrees, at)) != std::string::npos;) {
      at += kAgrees.size();
      CHECK_MESSAGE(std::stod(ran.out.substr(at)) <= 1e-6, machine << "\n" << ran.out.substr(at, 60));
    }
    CHECK_MESSAGE(ran.times(" after legalise: agrees") == 3, machine << "\n" << ran.out);
  }
}

TEST_CASE("a product is of its operands' elements, however wide its tile is") {
  Folder folder;
  for (const char* columns : {"16", "48", "80"}) {
    folder.write("k.tile", "export kernel k(A: f32[M, K], B: f32[K, " + std::string(columns) + "], out C: f32[M, " + columns + "]) {\n"
                 "    launch (i in ceildiv(M, 64)) {\n        var sum: fragment f32[64, " + columns + "] = 0;\n"
                 "        for k in 0..ceildiv(K, 64) { sum += A.tile[64, 64](i, k) @ B.tile[64, " + columns + "](k, 0); }\n        C.tile(i, 0) = sum;\n    }\n}\n");
    for (const char* machine : {"x86-64", "x86-64-v3", "x86-64-v4", "aarch64"}) {
      Ran ran = folder.tilec("explain --target=" + std::string(machine) + " k.tile");
      CHECK_MESSAGE(ran.says(": outer.f32\n"), ran.out);
    }
  }
}

// Twice the time for each level would not end.
TEST_CASE("loops nest deep") {
  std::string heads, tails;
  for (int i = 0; i < 60; ++i) heads += "for x" + std::to_string(i) + " in 0..2 {\n u += 1;\n", tails += "}\n";
  Folder folder;
  folder.write("k.tile", "export kernel k(A: f32[M, K], out C: f32[M]) {\nlaunch (i in ceildiv(M, 8)) {\nvar a: shared f32[8, 8];\n"
               "var t: fragment f32[8] = 0;\nvar u: fragment f32[8] = 0;\n" + heads +
               "a = A.tile(i, 0);\nt = max(t + a.sum(axis = 1), u);\n" + tails + "C.tile(i) = t;\n}\n}\n");
  Ran ran = folder.tilec("check k.tile");
  CHECK_MESSAGE(ran.code == 0, ran.out);
}

// Each of these ended in minutes, or not at all: conditions that repeat what they are made of, or are read from their end, and
// pairs of touches of which each was a question with variables of its own.
TEST_CASE("long chains of conditions and of touches are checked") {
  constexpr int kLinks = 2000;
  auto chain = [](const std::string& first, auto&& link) {
    std::string text = "export kernel k(A: f32[N], out C: f32[N]) {\nlaunch (i in N) threads 64 {\nsimt (t) {\nvar x: f32 = 0;\nvar n: int = t;\n" + first;
    for (int j = 0; j < kLinks; ++j) text += link(std::to_string(j));
    return text + "if n < N && n >= 0 { x += A[n]; }\nif t == 0 { C[i] = x; }\n}\n}\n}\n";
  };
  auto checks = [](const std::string& text) {
    Folder folder;
    folder.write("k.tile", text);
    Ran ran = folder.tilec("check k.tile");
    CHECK_MESSAGE(ran.code == 0, ran.out.substr(0, 500));
  };
  checks(chain("var p: bool = t > 3;\nvar q: bool = t > 5;\n", [](const std::string& j) { return "let b" + j + ": bool = if p { q } else { !q };\np = q;\nq = b" + j + ";\nif q { n += 1; }\n"; }));
  checks(chain("var p: bool = t > 3;\n", [](const std::string& j) { return "p = p && n + t * " + j + " < N || n == " + j + ";\n"; }));
  checks(chain("", [](const std::string&) { return std::string("if n >= 0 && n < N { x += A[n]; n += 1; }\n"); }));
  checks(chain("", [](const std::string& j) { return "if t == 0 && i < " + j + " { C[i] = x; }\n"; }));
}

// Each link is used twice: following both uses would not end. A product of all would have a degree that no solver bears.
TEST_CASE("long chains of numbers that are used twice each are compiled") {
  Folder folder;
  auto chain = [](const std::string& first, const std::string& link) {
    std::string text = "let a0 = " + first + ";\n";
    for (int i = 0; i < 40; ++i) {
      std::string next = link;
      for (size_t at; (at = next.find('@')) != std::string::npos;) next.replace(at, 1, "a" + std::to_string(i));
      text += "let a" + std::to_string(i + 1) + " = " + next + ";\n";
    }
    return text;
  };
  auto compiles = [&](const std::string& type, const std::string& launch) {
    folder.write("k.tile", "export kernel k(X: " + type + "[M, N], out Y: " + type + "[M, N]) {\n" + launch + "}\n");
    for (const char* target : {"x86-64-v4", "ptx:sm_90a"}) {
      Ran ran = folder.tilec("compile -o k.o k.tile --target=" + std::string(target));
      CHECK_MESSAGE(ran.code == 0, ran.out.substr(0, 500));
    }
  };
  for (const char* link : {"@ * @", "@ - @ / 2", "min(@, @ + 1)", "@ & (@ | 1)", "if @ > 3 { @ } else { @ + 1 }"}) {
    compiles("f32", "launch (i in M) {\n" + chain("i", link) + "Y[i, 0 +: 256] = X[a40 +: 1, 0 +: 256].reshape[256];\n}\n");
    compiles("f32", "launch (i in M) {\n" + chain("i", link) + "if a40 > 5 { Y[i, 0 +: 256] = X[i, 0 +: 256]; }\n}\n");
    compiles("i32", "launch (i in M) {\nfor j in parallel(256) {\n" + chain("j", link) + "if j < N && a40 < N { Y[i, j] = X[i, max(a40, 0)]; }\n}\n}\n");
  }
  for (const char* link : {"@ + @", "max(@, @ - 1)"}) {
    compiles("f32", chain("M", link) + "launch (i in min(a40, M)) { Y[i, 0 +: 256] = X[i, 0 +: 256]; }\n");
    compiles("f32", "launch (i in M) {\n" + chain("X[i, 0 +: 256]", link) + "Y[i, 0 +: 256] = a40;\n}\n");
  }
}

// A machine with more lanes than a row has elements: some hold what others hold.
TEST_CASE("a row that fewer lanes hold than a warp has is summed once") {
  Folder folder;
  folder.write("k.tile", "export kernel k(X: f32[M, N], out Y: f32[M, N]) {\n    launch (i in M) {\n        var s: fragment f32[1] = 0;\n        var q: shared f32[1, 6];\n"
               "        for k in 0..ceildiv(N, 6) { q = X.tile(i, k); s += q.sum(axis = 1); }\n"
               "        for k in 0..ceildiv(N, 6) { q = X.tile(i, k); Y.tile(i, k) = q + s[:, _]; }\n    }\n}\n");
  for (const char* target : {"x86-64", "x86-64-v3", "x86-64-v4", "aarch64", "sm_90a"}) {
    Ran ran = folder.tilec("run --after-each k.tile --target=" + std::string(target));
    CHECK_MESSAGE((ran.code == 0 && ran.says("after lower: agrees") && !ran.says("DIFFERS")), ran.out);
  }
}

TEST_CASE("a number beyond the greatest int is a u64, and stays the one it is") {
  Folder folder;
  folder.write("k.tile", "export kernel k(u: u64[N], out c: u64[N]) {\n    launch (i in N) { c[i] = u[i] / 9223372036854775809 + (9223372036854775808 + 7); }\n}\n");
  Ran ran = folder.tilec("compile --stop-after=simplify k.tile");
  CHECK_MESSAGE(ran.says(" = constant " + std::to_string(INT64_MIN + 1) + " : u64\n"), ran.out);  // its bits
  CHECK_MESSAGE(ran.says(" = constant " + std::to_string(INT64_MIN + 7) + " : u64\n"), ran.out);
}

TEST_CASE("an object without a function is warned of where it is made") {
  Folder folder;
  folder.write("k.tile", "kernel copy(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\n");
  CHECK(folder.tilec("k.tile").says("k.tile:1:8: warning: nothing is exported: the object has no function for `copy` [T0711"));
  CHECK_FALSE(folder.tilec("check k.tile").says("T0711"));
  folder.write("k.tile", "kernel copy(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\nexport copy as mine;\n");
  CHECK_FALSE(folder.tilec("k.tile").says("T0711"));
}

TEST_CASE("what cuts is an int, whole quotients of literals are literals") {
  Folder folder;
  auto check = [&](const std::string& factor) {
    folder.write("k.tile", "export kernel k(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = " + factor + " * A[i]; }\n}\n");
    return folder.tilec("check k.tile");
  };
  CHECK(check("(1 / 2)").says("`int` does not turn into `f32` by itself [T0103]"));
  CHECK(check("1 / 2").code == 1);
  CHECK(check("(6 / 2)").code == 0);
  CHECK(check("(1.0 / 2)").code == 0);
}

TEST_CASE("functions that call each other in a long chain are refused before the stack ends") {
  std::string text = "fn g0(x: int) -> int { return x; }\n";
  for (int i = 1; i < 3000; ++i) text += "fn g" + std::to_string(i) + "(x: int) -> int { return g" + std::to_string(i - 1) + "(x) + 1; }\n";
  Folder folder;
  folder.write("k.tile", text + "export kernel k(out C: i64[N]) { launch (i in N) { C[i] = g2999(i) as i64; } }\n");
  Ran ran = folder.tilec("check k.tile");
  CHECK(ran.code == 1);
  CHECK_MESSAGE(ran.says("this is nested more than 256 levels deep [T0009]"), ran.out.substr(0, 300));
}

TEST_CASE("functions that nest in one another are refused before the stack ends") {
  auto repeat = [](std::string text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  auto check = [](const std::function<std::string(std::string)>& body) {
    std::string text = "fn g0(x: int) -> int { return x; }\n";
    for (int i = 1; i < 80; ++i) text += "fn g" + std::to_string(i) + "(x: int) -> int { return " + body("g" + std::to_string(i - 1) + "(x)") + "; }\n";
    Folder folder;
    folder.write("k.tile", text + "export kernel k(out C: i64[N]) { launch (i in N) { C[i] = g79(i) as i64; } }\n");
    return folder.tilec("check k.tile");
  };
  CHECK(check([&](std::string call) { return repeat("(1 + ", 100) + call + repeat(")", 100); }).says("[T0009]"));
  CHECK(check([&](std::string call) { return repeat("-", 300) + call; }).says("[T0009]"));
  CHECK(check([&](std::string call) { return repeat("if x > 0 { ", 100) + call + repeat("} else { 1 }", 100); }).says("[T0009]"));
}

// Rows may begin at multiples of a vector and end on none: no vector may lie across the end.
TEST_CASE("vectors over an edge touch nothing between the rows of a tensor with strides") {
  Folder folder;
  folder.write("k.tile", "export kernel strided(A: f16[M, N; lda, 1], out C: f16[M, N; ldc, 1]) {\n    launch (i in ceildiv(N, 64), j in ceildiv(M, 64)) threads 128 {\n"
               "        let x = A.tile[64, 64](j, i);\n        C.tile(j, i) = x + 1.0;\n    }\n}\n");
  for (const char* dims : {"M=70,N=65,lda=72,ldc=72", "M=70,N=68,lda=72,ldc=80", "M=3,N=72,lda=80,ldc=88"})
    for (const char* machine : {"sm_80", "sm_90a"}) {
      Ran ran = folder.tilec("run k.tile --after-each --target=" + std::string(machine) + " --dim " + dims);
      CHECK_MESSAGE(ran.code == 0, ran.out);
      CHECK_MESSAGE(ran.says("strided after cleanup: agrees"), ran.out);
      CHECK_FALSE(ran.says("fault"));
    }
}

TEST_CASE("a command line that says too much is refused") {
  Folder folder;
  folder.write("one.tile", "export kernel one(n: int, inout z: i32[1]) { launch (i in 1) { z[0] = n as i32; } }\n");
  auto refused = [&](const std::string& words, std::string_view why) {
    Ran ran = folder.tilec(words);
    CHECK_MESSAGE(ran.code == 2, words << "\n" << ran.out);
    CHECK_MESSAGE(ran.says(why), words << "\n" << ran.out);
  };
  refused("run one.tile one.tile", "one source file is run; 2 were given");
  refused("run one.tile nosuch.tile", "one source file is run; 2 were given");
  refused("run one.tile n=3", "`n=3` is no source file; a dim or a number is set by `--dim n=3`");
  refused("run one.tile --dim n=99999999999999999999", "the value is beyond 64 bits");
  refused("run one.tile --seed -1", "'-1' is no number from 0");
  refused("check one.tile --error-limit -1", "'-1' is no number from 0");
  CHECK(folder.tilec("run one.tile --dim n=9223372036854775807").code == 0);
}

TEST_CASE("C text of host code has no variable that nothing reads") {
  Folder folder;
  folder.write("host.tile", "fn next(inout v: int) -> int { v = v + 1; return v; }\n"
                            "export kernel one(inout z: i32[8], n: int) {\n    var v = n;\n    let w = if next(v) > 3 { next(v) } else { 0 };\n"
                            "    var g = 0;\n    if next(v) > 2 && next(v) > 100 { g = v; }\n    launch (i in 1) { z[0] = (w + g) as i32; }\n}\n");
  CHECK(folder.tilec("host.tile --target c -o host.c --header host.h").code == 0);
  Ran ran = folder.run("cc -std=c11 -O1 -Wall -Wextra -Werror -c host.c -o host.o");
  CHECK_MESSAGE(ran.code == 0, ran.out);
}
