// What a C program gets from an object and from C text: every function that the header declares, statuses and sentences of
// calls that may not run, and the place and the number of an access that left its tensor.
#include <doctest/doctest.h>

#include "compiled_program.h"

using namespace tilec::command;

namespace {

constexpr const char* kKernels = R"(export kernel plain(x: f32[N], out y: f32[N]) {
    launch (i in ceildiv(N, 64)) { y.tile(i) = x.tile[64](i) + 1; }
}
export kernel reversed(x: f32[N], out y: f32[N]) {
    var w: workspace f32[N];
    launch (i in N) { w[i] = x[i]; }
    launch (i in N) { y[i] = w[N - 1 - i]; }
}
export kernel picked(at: i32[N], x: f32[M, 4], z: f32[L], out y: f32[N]) {
    launch (i in N) {
        y[i] = x[at[i] as int, 1] + z[at[i] as int];
    }
}
export kernel scaled(x: f32[M, ceildiv(K, 128)], k: f32[K], out y: f32[M]) {
    launch (i in M) { y[i] = x[i, 0 +: 1].sum(axis = 0); }
}
export kernel numbered(inout count: i32[1], out order: i32[N], a: int, b: int) requires a * b == N {
    launch (i in a, j in b) {
        let at = atomic_add(count[0], 1) as int;
        if at >= 0 && at < N { order[at] = (i + 100 * j) as i32; }
    }
}
export kernel of_nothing(x: f32[8], out y: f32[6], out n: i32[2]) {
    launch (i in 1) {
        let t = x.tile[8](0);
        y[0] = t.max(axis = 0);
        y[1] = t.min(axis = 0);
        y[2] = max(x[0], 3);
        y[3] = minimum(x[0], 3);
        y[4] = t.absmax(axis = 0);
        y[5] = t.sum(axis = 0);
        n[0] = t.argmax(axis = 0);
        n[1] = t.argmin(axis = 0);
    }
}
export kernel marked(alias inout x: f32[N], y: f32[N]) {
    launch (i in N) { x[i] = y[i]; }
}
)";

constexpr const char* kProgram = R"(#include <math.h>
#include <stdlib.h>
#define SAYS(text) (strcmp(tile1_last_message(), text) == 0)
int main(void) {
  size_t bytes = 77;
  CHECK(plain_workspace_size(5, &bytes) == TILE_OK && bytes == 0);
  CHECK(plain_load() == TILE_OK && plain_check(NULL) == TILE_OK && strcmp(plain_info()->name, "plain") == 0);
  CHECK(strstr(marked_info()->signature, "alias inout x: f32[N]"));
  float *m = aligned_alloc(256, 8192);
  for (int i = 0; i < 2048; i++) m[i] = (float)i;
  CHECK(reversed(m, m + 1024, 100, m, 512, NULL) == TILE_ALIAS);
  CHECK(PART("reversed: the workspace at 0x") && PART("of which this call takes 512 bytes, and argument x overlap"));
  CHECK(reversed(m, m + 1024, 100, m + 1024, 512, NULL) == TILE_ALIAS && PART("argument y overlap"));
  CHECK(reversed(m, m + 1024, 100, m + 1024 + 128, 512, NULL) == TILE_OK && m[1024] == 99);
  // More than what the call takes of it may be anybody's.
  CHECK(reversed(m, m + 128, 100, m + 256, 1000000, NULL) == TILE_OK && m[128] == 99);
  int32_t at[3] = {0, 7, 1};
  float x[5][4] = {{0}}, z[9] = {0}, y[3];
  CHECK(picked(at, &x[0][0], z, y, 3, 5, 9, NULL) == TILE_BOUNDS);
  CHECK(SAYS("picked: k.tile:11:16: x[at[i] as int, 1]: index 7 is outside"));
  CHECK(picked(at, &x[0][0], z, y, 3, 5, 5, NULL) == TILE_BOUNDS);
  at[1] = 2;
  CHECK(picked(at, &x[0][0], z, y, 3, 5, 2, NULL) == TILE_BOUNDS);
  CHECK(SAYS("picked: k.tile:11:37: z[at[i] as int]: index 2, the extent is 2"));
  at[1] = -4;
  CHECK(picked(at, &x[0][0], z, y, 3, 5, 9, NULL) == TILE_BOUNDS);
  CHECK(SAYS("picked: k.tile:11:16: x[at[i] as int, 1]: index -4 is outside"));
  free(m);
  // Extents that are computed from dims are compared once those are known.
  scaled_args args = {.struct_size = sizeof args, .x = {&x[0][0], {5, 2}}, .k = {z, {200}}, .y = {y, {5}}};
  float five[5];
  args.y.data = five;
  CHECK(scaled_call(&args) == TILE_OK);
  args.x.shape[1] = 3;
  CHECK(scaled_call(&args) == TILE_SHAPE && SAYS("scaled: extent 1 of x is 3, it must be 2"));
  // The first index of a launch is the fastest, where one thread runs all blocks.
  int32_t count = 0, order[6];
  CHECK(tile1_set_threads(1) == TILE_OK && numbered(&count, order, 3, 2, 6, NULL) == TILE_OK && count == 6);
  CHECK(order[0] == 0 && order[1] == 1 && order[2] == 2 && order[3] == 100 && order[4] == 101 && order[5] == 102);
  // A line without numbers.
  float nans[8], of[6];
  int32_t which[2];
  for (int i = 0; i < 8; i++) nans[i] = NAN;
  CHECK(of_nothing(nans, of, which, NULL) == TILE_OK && which[0] == 0 && which[1] == 0);
  CHECK(of[0] == -INFINITY && of[1] == INFINITY && of[2] == 3 && of[3] != of[3] && of[4] == 0 && of[5] != of[5]);
  puts("fine");
  return 0;
}
)";

std::string listed(int count, const std::string& before, const std::string& between, const std::string& after = "") {
  std::string out;
  for (int i = 0; i < count; ++i) out += (i ? between : "") + before + std::to_string(i) + after;
  return out;
}

}  // namespace

TEST_CASE("every declared function is there, and calls that may not run say why") {
  Folder folder;
  folder.write("k.tile", kKernels);
  folder.write("main.c", std::string(kCallerHead) + kProgram);
  for (const char* output : {"k.o", "k.c"}) {
    Ran made = folder.tilec("k.tile --header k.h -o " + std::string(output) + (output[2] == 'c' ? " --target c" : ""));
    CHECK_MESSAGE(made.code == 0, made.out);
    Ran ran = folder.run("cc -std=c11 -Wall -Wextra -Wpedantic -Werror main.c " + std::string(output) + " -o main -pthread -lm && ./main");
    CHECK_MESSAGE(ran.out == "fine\n", output << ": " << ran.out);
  }
}

TEST_CASE("a kernel may have any number of parameters and launches") {
  constexpr int kMany = 90;
  Folder folder;
  std::string launches;
  for (int i = 0; i < 2 * kMany; ++i) launches += "    launch (i in N0, j in N0 * " + std::to_string(i) + " + 1) { if j == 0 { y[i] += x" + std::to_string(i / 2) + "[0 +: 1].sum(axis = 0); } }\n";
  std::string parameters;
  for (int i = 0; i < kMany; ++i) parameters += ", x" + std::to_string(i) + ": f32[M" + std::to_string(i) + "]";
  folder.write("many.tile", "export kernel many(inout y: f32[N0]" + parameters + ") {\n" + launches + "}\n");
  Ran made = folder.tilec("many.tile --target x86-64-v3");
  CHECK_MESSAGE(made.code == 0, made.out);
  folder.write("main.c", "#include <stdio.h>\n#include \"many.h\"\nint main(void) {\n  static float x[" + std::to_string(kMany) +
                             "][2], y[2];\n  many_args args = {.struct_size = sizeof args, .y = {y, {2}}, " +
                             listed(kMany, ".x", ", ", " = {x[0], {2}}") + "};\n  x[0][0] = 1;\n  int status = many_call(&args);\n"
                             "  printf(\"%d %g %s\\n\", status, (double)y[1], tile1_last_message());\n}\n");
  Ran ran = folder.run("cc main.c many.o -o main -pthread && ./main");
  CHECK_MESSAGE(ran.out == "0 180 \n", ran.out);
}
