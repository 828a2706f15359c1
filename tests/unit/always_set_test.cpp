// Variables without a first value that every path sets, through early exits and loops: accepted, and what the text means.
#include "command.h"

using namespace tilec::command;

TEST_SUITE("always set") {
  TEST_CASE("what every path sets may be read, however control leaves") {
    Folder folder;
    for (const char* body :
         {"fn f(x: f32, out a: f32) { if x > 3 { a = 1; return; } if x > 2 { if x > 2.5 { a = 4; return; } a = 7; return; } a = 0; }",
          "fn f(x: f32, out a: f32) { for j in 0..4 { if x > (j as f32) { a = (j as f32); return; } } a = -1; }",
          "fn f(x: f32, out a: f32) { { if x > 2 { a = 2; return; } } if x > 1 { a = 3; } else { a = 4; } }",
          "fn g(x: f32) -> f32 { var t: f32; while true { if x > 3 { t = 1; break; } if x > 2 { return 9; } t = 3; break; } return t; } fn f(x: f32, out a: f32) { a = g(x); }",
          "fn f(x: f32, out a: f32) { a = 0; for j in 0..3 { var t: f32; if x > 3 { t = 1; if x > 4 { continue; } } else { if x < 0 { break; } t = 2; } a += t; } }"}) {
      folder.write("k.tile", std::string(body) + "\nexport kernel k(A: f32[N], out B: f32[N]) { launch (i in N) { var p: f32; f(A[i] * 3, p); B[i] = p; } }\n");
      Ran checked = folder.tilec("check k.tile"), ran = folder.tilec("run k.tile --after-each");
      CHECK_MESSAGE((checked.code == 0 && checked.out.empty()), body << "\n" << checked.out);
      CHECK_MESSAGE((ran.code == 0 && ran.says("after analysis: agrees")), body << "\n" << ran.out);
    }
    folder.write("k.tile", "fn f(x: f32, out t: fragment f32[8]) { for j in 0..2 { if x > (j as f32) { t = 1; return; } } t = x; }\n"
                           "export kernel k(A: f32[N], out B: f32[N, 8]) { launch (i in N) { var p: fragment f32[8]; f(A[i], p); B[i, :] = p; } }\n");
    Ran tiles = folder.tilec("run k.tile --after-each");
    CHECK_MESSAGE((tiles.code == 0 && tiles.says("after analysis: agrees")), tiles.out);
  }
}
