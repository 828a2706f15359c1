// What is said beside an error: how to write it instead, the true reason, and nothing twice.
#include <doctest/doctest.h>

#include "command.h"

using namespace tilec;
using namespace tilec::command;

namespace {

struct Case {
  const char* source;
  const char* advice;
};

constexpr Case kCases[] = {
    {"kernel f(out A: f32[N]) { launch (i in N) { var n = 0; n++; A[i] = 0; } }", "write `n += 1;`"},
    {"kernel f(out A: f32[N]) { launch (i in N) { var n = 0; n--; A[i] = 0; } }", "write `n += 1;`"},
    {"kernel f(out A: f32[N]) { launch (i in N) { A[i] = 0.1f; } }", "A[i] = 0.1; } }"},
    {"kernel f(out A: f32[N]) { launch (i in N) { A[i] = 0.1f; } }", "a number has no suffix"},
    {"kernel f(out A: f32[N]) { launch (i in N) threads 100 { simt (t) { A[i] = 0; } } }", "write 96 or 128"},
    {"kernel f(out A: f32[N]) { launch (i in N) threads 2000 { simt (t) { A[i] = 0; } } }", "write 1024"},
    {"kernel f(A: f32[N], out B: f32[N]) { launch (i in N) { B.tile(i) = A.tile(i); } }", "`.tile[LENGTH](...)`"},
    {"kernel f(A: f32[N, M], out B: f32[N, M]) { launch (i in N) { B.tile(i, 0) = -A.tile(i, 0); } }", "`.tile[ROWS, COLUMNS](...)`"},
    {"kernel f(A: f32[N, M, K], out B: f32[N]) { launch (i in N) { B[i] = A.tile(i, 0, 0).sum(axis = 0)[0, 0]; } }",
     "`.tile[EXTENT, ROWS, COLUMNS](...)`"},
    {"kernel f(out A: f32[N]) { launch (i in N) { var _t: shared f32[0]; A[i] = 0; } }", "one that a call gives, as in `f32[N]`, may be 0"},
    {"kernel f(out A: f32[N], out B: f32[N]) { launch (i in N) { A[i] = 0; } launch (i in N) { B[i] = A[i]; } }",
     "or an earlier launch has written"},
    {"kernel f(out A: f32[N]) { launch (i in ceildiv(N, 64)) threads 64 { var s: shared f32[64]; simt (t) { s[t] = 1; } A.tile(i) = s; } }",
     "what `simt` writes is not counted"},
    {"kernel f(float* x, out A: f32[N]) { launch (i in N) { A[i] = 0; } }", "is no pointer: `x: f32[N]`"},
    {"kernel f(out A: f32[N]) { let w = workspace f32[N]; launch (i in N) { A[i] = 0; } }", "`var w: workspace f32[N];`"},
    {"kernel f(x: f32[64], y: i32[64], out A: f32[64]) { launch (i in 1) { let t = y.tile[64](0); A.tile[64](0) = x[t]; } }", "`x[t[i]]`"},
    {"kernel f(x: i32[N], out A: i32[M]) { launch (i in M) { var m = x.tile[64](i); for c in parallel(64) { if i * 64 + c >= N { m[c] = 0; } } "
     "A[i] = if (m > 3).all(axis=0) { 1 } else { 0 }; } }",
     "name what enters it with `var`, and set its elements beyond the edge to true"},
    {"kernel f(x: i32[M], out A: i32[M]) { launch (i in 1) threads 64 { simt (t) { for k in 0..4 { if x[t] > k { break; } sync; sync; } } A[0] = 1; } }",
     "threads may part here"},
};

}  // namespace

TEST_CASE("an error says once what is wrong, and how to mend it") {
  Folder folder;
  for (const Case& c : kCases) {
    folder.write("k.tile", "export " + std::string(c.source) + "\n");
    Ran ran = folder.tilec("check k.tile");
    CHECK_MESSAGE(ran.says(c.advice), ran.out);
    CHECK_MESSAGE(ran.says("1 error\n"), ran.out);
  }
}

TEST_CASE("a read with padding is told of once, however much it reaches") {
  Folder folder;
  folder.write("k.tile",
               "export kernel k(A: f32[M, N], out B: f32[M]) {\n    launch (i in ceildiv(M, 64)) {\n        let s = A.tile[64, 128](i, 0, pad = 1);\n"
               "        let e = s - s.max(axis = 1)[:, _];\n        B.tile(i) = s.sum(axis = 1) + e.min(axis = 1);\n    }\n}\n");
  Ran ran = folder.tilec("check k.tile");
  CHECK_MESSAGE(ran.times("[T0404]") == 1, ran.out);
}

TEST_CASE("padding before a part's start is told of where nothing shows that there is none") {
  Folder folder;
  auto said_of = [&](const std::string& contract, const std::string& start) {
    folder.write("k.tile", "export kernel k(A: f32[M, N], x: int, d: int, out B: f32[M]) requires " + contract + " {\n    launch (i in ceildiv(M, 64)) {\n"
                           "        let j = " + start + ";\n        var s = A[i * 64 +: 64, j +: 64, pad = 0];\n        B.tile(i) = s.max(axis = 1);\n    }\n}\n");
    return folder.tilec("check k.tile");
  };
  const std::string note = "note: nothing shows that this part of `A` starts at 0 or behind: what lies before";
  Ran ran = said_of("d >= 1, x <= 1000000", "x");
  CHECK_MESSAGE((ran.says("[T0404]") && ran.says(note)), ran.out);
  CHECK_MESSAGE(!said_of("d >= 1, x >= 0, x <= 1000000", "x").says(note), ran.out);
  CHECK(!said_of("d >= 1, x >= 0, x <= 1000000", "x / d").says(note));
  CHECK(said_of("d <= 1, x >= 0, x <= 1000000", "x / d").says(note));
}

TEST_CASE("a fix of padding changes something, and names no bits of NaN") {
  Folder folder;
  auto said_of = [&](const std::string& read, const std::string& reduction) {
    folder.write("k.tile", "export kernel k(A: f32[M, N], out B: f32[M], out C: i32[M]) {\n    launch (i in ceildiv(M, 64)) {\n        var s = A.tile[64, 128](i, 0, " + read +
                           ");\n        " + reduction + "\n    }\n}\n");
    return folder.tilec("check k.tile -w");
  };
  for (const char* fine : {"pad = -inf", "pad = nan"}) {
    CHECK(!said_of(fine, "C.tile(i) = s.argmax(axis = 1);").says("error"));
    CHECK(!said_of(fine, "B.tile(i) = s.max(axis = 1);").says("error"));
  }
  Ran ran = said_of("pad = nan", "B.tile(i) = s.sum(axis = 1);");
  CHECK_MESSAGE((ran.says("the padding value nan of `s`") && ran.says("pad = 0);")), ran.out);
  ran = said_of("pad = 0", "C.tile(i) = s.argmin(axis = 1);");
  CHECK_MESSAGE((ran.says("[T0404]") && ran.says("pad = nan);")), ran.out);
}

TEST_CASE("a choice inside an expression is told to stand in brackets") {
  Folder folder;
  folder.write("k.tile", "export kernel k(x: i32[N], out A: i32[N]) { launch (i in N) { A[i] = x[i] + if x[i] > 3 { 1 } else { 2 }; } }\n");
  Ran ran = folder.tilec("check k.tile");
  CHECK_MESSAGE(ran.says("`x + (if c { 1 } else { 2 })`"), ran.out);
  folder.write("k.tile", "export kernel k(x: i32[N], out A: i32[N]) { launch (i in N) { A[i] = x[i] + (if x[i] > 3 { 1 } else { 2 }); } }\n");
  CHECK(folder.tilec("check k.tile").out.empty());
}

TEST_CASE("--dim is looked at once for all kernels") {
  Folder folder;
  folder.write("k.tile", "export kernel a(out A: f32[N]) { launch (i in N) { A[i] = 0; } }\nexport kernel b(out A: f32[N]) { launch (i in N) { A[i] = 0; } }\n");
  for (const char* words : {"N=x", "Q=3", "N=3,N=4"}) {
    Ran ran = folder.tilec("run k.tile --dim " + std::string(words));
    CHECK(ran.code == 2);
    CHECK_MESSAGE(ran.times("tilec: --dim ") == 1, ran.out);
    CHECK_MESSAGE(!ran.says("done"), ran.out);
  }
  CHECK(folder.tilec("run k.tile --dim N=3,N=4").says("tilec: --dim N=4: it has been given a value before"));
}

TEST_CASE("what newcomers write is told what to write here") {
  struct Row {
    const char *text, *says;
  };
  constexpr Row kRows[] = {
      {"launch (i in ceildiv(N, 64)) threads 64 { simt (t) { y[i * 64 + threadIdx] = 0; } }", "help: the threads of a block are the index of `simt (t) { ... }`"},
      {"launch (i in ceildiv(N, 64)) { y.tile(i) = matmul(x.tile[64](i), x.tile[64](i)); }", "help: a product of matrices is `a @ b`"},
      {"launch (i in ceildiv(N, 64)) { let t = x.tile[64](i); y.tile(i) = t @ t; }", "the product of two vectors is `(a * b).sum(axis = 0)`"},
      {"launch (i in N) { y[0] = x[i]; }", "or combine theirs with an atomic, as in `atomic_add`"},
      {"launch (i in ceildiv(N, 64)) threads 64 { simt (t) { if i * 64 + t < N { y[i * 64 + t] = 0; sync; } } }", "help: put the `sync;` where all threads of the block come by"},
  };
  Folder folder;
  for (auto [text, says] : kRows) {
    folder.write("k.tile", "export kernel f(x: f32[N], out y: f32[N]) {\n    " + std::string(text) + "\n}\n");
    Ran ran = folder.tilec("check k.tile");
    CHECK(ran.code == 1);
    CHECK_MESSAGE(ran.says(says), ran.out);
  }
  folder.write("k.tile", "export kernel f(K: f32[N, 64], out y: f32[N, 64]) {\n    launch (i in ceildiv(N, 64)) {\n        var k: shared f32[64, 64] = K.tile(i, 0);\n        y.tile(i, 0) = k;\n    }\n}\n"
               "schedule f { layout kk: swizzle(64); }\n");
  Ran ran = folder.tilec("check k.tile");
  CHECK_MESSAGE(ran.says("did you mean `k`?"), ran.out);
}
