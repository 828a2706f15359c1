// Through the command: blocks whose elements are apart by digits, strides and mixed radices, those that are not, and blocks that wait.
#include "command.h"

using namespace tilec::command;

namespace {

Ran checked(const Folder& folder, const std::string& text) { return folder.tilec("check " + folder.write("k.tile", "export kernel k" + text + "\n")); }

}  // namespace

TEST_SUITE("apart") {
  TEST_CASE("quotients and remainders, strides and mixed radices tell blocks apart") {
    Folder folder;
    for (const char* text :
         {"(x: f32[M, N], out y: f32[M, N]) { launch (g in 16) { for i in range(g, M, 16) { y[i, 0 +: 64] = x[i, 0 +: 64]; } } }",
          "(x: f32[M, N], out y: f32[M, N], G: i32) requires G >= 1 { launch (g in G as int) { for i in range(g, M, G as int) { y[i, 0 +: 64] = x[i, 0 +: 64]; } } }",
          "(x: f32[P], out y: f32[P], G: i32) requires G >= 1 { launch (g in G as int) { for t in 0..ceildiv(P, G as int) {"
          " if g + t * (G as int) < P { y[g + t * (G as int)] = x[g]; } } } }",
          "(x: f32[P], out y: f32[B, H]) requires P == B * H { launch (i in P) { y[i / H, i % H] = x[i]; } }",
          "(x: f32[NH, 64], out y: f32[N, H, 64]) requires NH == N * H { launch (nh in NH) { y[nh / H, nh % H, 0 +: 64] = x[nh, 0 +: 64]; } }",
          "(x: f32[P], out y: f32[B, H, W]) requires P == B * H * W { launch (i in ceildiv(B * H * W, 64)) { for r in parallel(64) {"
          " let m = i * 64 + r; if m < B * H * W { y[m / W / H, m / W % H, m % W] = x[m]; } } } }",
          "(x: f32[A, B, C], out y: f32[P]) requires P == A * B * C { launch (i in A, j in B, k in C) { y[(i * B + j) * C + k] = x[i, j, k]; } }",
          "(x: f32[S, 64], out y: f32[S, 64], L: i32) requires L >= 1 { launch (i in ceildiv(L as int, 16), c in ceildiv(S, L as int)) { for r in 0..16 {"
          " if i * 16 + r < L && c * L + i * 16 + r < S { y[c * L + i * 16 + r, 0 +: 64] = x[c * L + i * 16 + r, 0 +: 64]; } } } }",
          "(x: f32[P], out y: f32[A, B, C, D]) requires P == A * B * C * D { launch (b in ceildiv(P, 64)) { for r in parallel(64) {"
          " let i = b * 64 + r; if i < P { y[i / (B * C * D), i / (C * D) % B, i / D % C, i % D] = x[i]; } } } }",
          "(x: f32[P], out y: f32[A, B, C, D]) requires P == A * B * C * D { launch (b in P) { y[b / (B * C * D), b % (B * C * D) / (C * D), b % (C * D) / D, b % D] = x[b]; } }",
          "(x: f32[P], out y: f32[D, B, A, C]) requires P == A * B * C * D { launch (i in P) { y[i % D, i / (C * D) % B, i / (B * C * D), i / D % C] = x[i]; } }",
          "(x: f32[M, N], out y: f32[P]) requires P == M * N { launch (b in ceildiv(M * N, 64)) { for r in parallel(64) {"
          " let i = b * 64 + r; if i < M * N { y[i % N * M + i / N] = x[i / N, i % N]; } } } }",
          "(x: f32[M, 64], out y: f32[M, 64], G: i32) requires G >= 1 { launch (c in G as int) { let L = ceildiv(M, G as int);"
          " for r in range(c * L, min(M, (c + 1) * L)) { y[r, :] = x[r, :]; } } }",
          "(x: f32[M, 64], out y: f32[M, 64], G: i32) requires G >= 1 { launch (c in G as int) { for r in range(M * c / G, M * (c + 1) / G) { y[r, :] = x[r, :]; } } }",
          "(x: f32[N], out y: f32[N]) { launch (g in 64) threads 128 { simt (t) { for i in range(g * 128 + t, N, 64 * 128) { y[i] = x[i]; } } } }",
          "(x: f32[B, M, N], out y: f32[B, M, N]) { launch (t in B * ceildiv(M, 16) * ceildiv(N, 64)) { let nt = ceildiv(N, 64); let mt = ceildiv(M, 16);"
          " let z = t / (mt * nt); let rest = t % (mt * nt); y[z].tile(rest / nt, rest % nt) = x[z].tile[16, 64](rest / nt, rest % nt); } }"}) {
      Ran ran = checked(folder, text);
      CHECK_MESSAGE((ran.code == 0 && !ran.says("T0700") && !ran.says("T0706")), text << "\n" << ran.out);
    }
  }

  TEST_CASE("what is not apart is told") {
    Folder folder;
    for (const char* text :
         {"(x: f32[P], out y: f32[A, B, C, D]) requires P == A * B * C * D { launch (i in P) { y[i / (B * C * D), i / (C * D) % B, i / C % C, i % D] = x[i]; } }",
          "(x: f32[P], out y: f32[A, B, C]) requires P == 2 * A * B * C { launch (i in P) { y[i / (B * C) % A, i / C % B, i % C] = x[i]; } }",
          "(x: f32[P], out y: f32[A, B, C], D: i32) requires P == A * B * C, D >= 1 { launch (i in P) { if i / D / B < A { y[i / D / B, i / D % B, i % C] = x[i]; } } }",
          "(x: f32[M, 64], out y: f32[M, 64], G: i32) requires G >= 1 { launch (c in G as int) { for r in range(M * c / G, M * (c + 1) / G + 1) {"
          " if r < M { y[r, :] = x[r, :]; } } } }",
          "(x: f32[M, N], out y: f32[M, N]) { launch (g in 17) { for i in range(g, M, 16) { y[i, 0 +: 64] = x[i, 0 +: 64]; } } }",
          "(x: f32[P], out y: f32[B, H]) requires P == B * H, H >= 3 { launch (i in P) { y[i / H, i % 3] = x[i]; } }",
          "(x: f32[P], out y: f32[P], G: i32, Q: i32) requires G >= 1, Q >= 1 { launch (g in G as int) { for t in 0..ceildiv(P, Q as int) {"
          " if g + t * (Q as int) < P { y[g + t * (Q as int)] = x[g]; } } } }",
          "(x: f32[S, 64], out y: f32[S, 64], L: i32) requires L >= 1 { launch (i in ceildiv(L as int, 16), c in ceildiv(S, L as int)) { for r in 0..16 {"
          " if i * 16 + r <= L && c * L + i * 16 + r < S { y[c * L + i * 16 + r, 0 +: 64] = x[c * L + i * 16 + r, 0 +: 64]; } } } }"}) {
      Ran ran = checked(folder, text);
      CHECK_MESSAGE((ran.says("T0401") || ran.says("T0700")), text << "\n" << ran.out);
    }
  }

  TEST_CASE("a block that waits for another one stops the run at its line") {
    Folder folder;
    for (const char* loop : {"while atomic_add(ready[0], 0) < 63 - (i as i32) { }", "while ready[0] < 63 - (i as i32) { }",
                             "var turns: i32 = 0; while atomic_add(ready[0], 0) < 63 - (i as i32) { turns = (turns + 1) % 3; }"}) {
      folder.write("k.tile", std::string("export kernel k(inout ready: i32[1]) {\n    launch (i in 64) {\n        ") + loop + "\n        atomic_add(ready[0], 1);\n    }\n}\n");
      Ran ran = folder.run("timeout 60 '" TILEC_BINARY "' run -w k.tile");
      CHECK_MESSAGE((ran.code == 5 && ran.says("k.tile:3:") && ran.says("waits here for ever for `ready` to change")), loop << "\n" << ran.code << ran.out);
      Ran judged = folder.run("timeout 60 '" TILEC_BINARY "' run -w --form=source k.tile");
      CHECK_MESSAGE((judged.says("k.tile:3:") && (judged.says("waits here for ever") || judged.says("not judged"))), loop << "\n" << judged.code << judged.out);
    }
  }

  TEST_CASE("a loop that turns long and ends is no waiting") {
    Folder folder;
    folder.write("k.tile", "export kernel k(inout n: i32[1]) {\n    launch (i in 4) {\n        var k: i32 = 0;\n        while k < 20000 { k += 1; }\n"
                           "        while atomic_add(n[0], 1) < 5000 { }\n    }\n}\n");
    Ran ran = folder.tilec("run -w k.tile");
    CHECK_MESSAGE(ran.code == 0, ran.out);
  }

  TEST_CASE("the header stands beside the object") {
    Folder folder;
    folder.write("k.tile", "export kernel k(A: f32[N], out B: f32[N]) { launch (i in N) { B[i] = A[i]; } }\n");
    REQUIRE(folder.run("mkdir -p out").code == 0);
    REQUIRE(folder.tilec("k.tile --target x86-64 -o out/x.o").code == 0);
    CHECK(folder.read("out/x.h").find("tile_status k(") != std::string::npos);
    REQUIRE(folder.tilec("k.tile --target x86-64 -o out/y.o --header z.h").code == 0);
    CHECK_FALSE(std::filesystem::exists(folder.path / "out/y.h"));
    REQUIRE(folder.tilec("k.tile --target x86-64 -o out/plain").code == 0);
    CHECK_FALSE(std::filesystem::exists(folder.path / "out/plain.h"));
  }

  TEST_CASE("what is found in several files is one log") {
    Folder folder;
    folder.write("a.tile", "export kernel k(x: f32[N]) { y; }\n");
    folder.write("b.tile", "export kernel k(x: f32[N]) { z; }\n");
    Ran ran = folder.tilec("check --diagnostics-format=sarif a.tile b.tile");
    CHECK_MESSAGE((ran.times("\"$schema\"") == 1 && ran.times("\"ruleId\": \"T0100\"") == 2 && ran.says("a.tile") && ran.says("b.tile")), ran.out);
  }
}
