// `tilec run --data` and `--print json`: a kernel gets the numbers of a file, and says what came out.
#include <doctest/doctest.h>

#include "command.h"

using namespace tilec::command;

namespace {

constexpr const char* kScale = R"(export kernel scale(a: f32[M, N], s: f32, k: i64[M], w: f32[N]?, out b: f32[M, N], inout n: u64[M]) {
    launch (i in M) {
        b[i, 0 +: 4] = a[i, 0 +: 4] * s;
        n[i] = n[i] + k[i].wrap[u64]();
    }
}
)";

Ran run(const char* data, const char* more = "") {
  Folder folder;
  folder.write("k.tile", kScale);
  folder.write("d.json", data);
  return folder.tilec(std::string("run k.tile --data d.json --print json ") + more);
}

}  // namespace

TEST_CASE("run: numbers of a file, and what comes out as JSON") {
  Ran ran = run(R"({"a": [[1, 0.1, "inf", "nan"]], "s": -0.5, "k": [-9223372036854775808], "n": [18446744073709551615], "w": null})");
  CHECK(ran.code == 0);
  CHECK(ran.out == "{\"kernel\":\"scale\",\"form\":\"typed\",\"fault\":null,\"guard\":null,\"outputs\":"
                   "{\"b\":[-0.5,-0.05000000074505806,\"-inf\",\"nan\"],\"n\":[9223372036854775807]}}\n");
}

TEST_CASE("run: of a flat list the dims are named; other forms print as well") {
  Ran ran = run(R"({"a": [1, 2, 3, 4], "M": 1, "N": 4, "s": 2, "k": [1], "n": [18446744073709551614]})", "--form=thread --target x86-64-v3");
  CHECK(ran.code == 0);
  CHECK(ran.says("\"form\":\"thread\""));
  CHECK(ran.says("{\"b\":[2.0,4.0,6.0,8.0],\"n\":[18446744073709551615]}"));
}

TEST_CASE("run: a fault is part of the object") {
  Folder folder;
  folder.write("k.tile", "export kernel k(a: int, out b: i64[1]) requires a > 1 { launch (i in 1) { b[0] = a as i64; } }");
  folder.write("d.json", R"({"a": 1})");
  Ran ran = folder.tilec("run k.tile --data d.json --print json");
  CHECK(ran.code == 5);
  CHECK(ran.says(R"("fault":{"kind":)"));
  CHECK(ran.says(R"("text":"requires a > 1"},"guard":null,"outputs":{}})"));
}

// A kernel with masks is run behind the proofs, where guards stand.
TEST_CASE("run: a guard that failed is told, and is no success") {
  Folder folder;
  folder.write("k.tile", "export kernel k(x: f32[M, N], at: i32[M], out y: f32[M]) {\n    launch (i in M) {\n"
                         "        let s = exp(x[i, 0 +: 4]).sum(axis = 0);\n        let l = at[i] as int;\n        y[i] = s - x[i, l];\n    }\n}\n");
  folder.write("d.json", R"({"x": [[1, 2], [3, 4]], "at": [0, 3]})");
  for (const char* form : {"", " --form typed", " --form thread --target x86-64-v3"}) {
    const Ran ran = folder.tilec(std::string("run k.tile --data d.json") + form);
    CHECK_MESSAGE(ran.code == 5, ran.out);
    CHECK_MESSAGE(ran.says("k.tile:5:20: a guard failed: here a call returns TILE_BOUNDS"), ran.out);
  }
  CHECK(folder.tilec("run k.tile --data d.json --after-each --target x86-64").says("the text has a fault where a guard fails"));
  folder.write("d.json", R"({"x": [[1, 2], [3, 4]], "at": [0, 1]})");
  CHECK(folder.tilec("run k.tile --data d.json").code == 0);
}

TEST_CASE("run: a file of numbers that is not there cannot be read") {
  Folder folder;
  folder.write("k.tile", "export kernel k(a: i8, out b: i64[1]) { launch (i in 1) { b[0] = a as i64; } }");
  CHECK(folder.tilec("run k.tile --data gone.json").code == 3);
  CHECK(folder.tilec("run k.tile --dim a=127").code == 0);
  CHECK(folder.tilec("run k.tile --dim a=500").says("tilec: --dim a=500: `a`, 500, is no i8"));
  CHECK(folder.tilec("run k.tile --dim a=-129").code == 2);
}

TEST_CASE("run: numbers that cannot be are refused") {
  struct Row { const char *data, *text; };
  const Row rows[] = {
      {R"({"a": [[1]], "s": 2, "k": [1]})", "`n` is missing"},
      {R"({"a": [1, 2], "N": 2, "s": 2, "k": [1]})", "`n` is missing"},
      {R"({"a": [1, 2], "s": 2, "n": [1, 2], "k": [1, 2]})", "the dim `N` is missing"},
      {R"({"a": [[1], [1, 2]], "s": 2, "n": [1, 2], "k": [1, 2]})", "different lengths"},
      {R"({"a": [[1]], "s": 2, "n": [-1], "k": [1]})", "element 0 of `n`, -1, is no u64"},
      {R"({"a": [[1]], "s": 1e300, "n": [1], "k": [1]})", "is no f32"},
      {R"({"a": [[1]], "s": 1, "n": [1], "k": [0.5]})", "is no i64"},
      {R"({"a": [[1]], "s": 1, "n": [1], "k": [1], "q": 1})", "no kernel has a parameter or a dim `q`"},
      {R"({"a": [[1, 2]], "s": 2, "k": [1], "n": [1], "w": [1, 2, 3]})", "`w` is f32[2] with 2 elements, the list is [3] with 3"},
      {"[1]", "an object"}, {"{", "this is not JSON: line 1, column 2"}, {"{\"a\": [1],\n  \"s\": 1,,\n}", "this is not JSON: line 2, column 10"},
      {R"({"a": [[1]], "s": 1, "n": [1], "k": [1], "s": 2})", "`s` is given twice"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.data);
    Ran ran = run(row.data);
    CAPTURE(ran.out);
    CHECK(ran.code == 2);
    CHECK(ran.says(row.text));
  }
}
