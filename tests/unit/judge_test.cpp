// The judge of analysis: what the source itself means, one row of the reference after the other.
#include <doctest/doctest.h>

#include "command.h"

using namespace tilec::command;

namespace {

// Runs `kernel k` of the text by the source alone; what is printed of it.
std::string told(const std::string& text, const std::string& data, int code = 0) {
  Folder folder;
  folder.write("k.tile", text);
  folder.write("d.json", data);
  Ran ran = folder.tilec("run k.tile --form=source --print json --data d.json");
  CAPTURE(ran.out);
  CHECK(ran.code == code);
  return ran.out;
}

std::string outputs(const std::string& text, const std::string& data) {
  std::string out = told(text, data);
  size_t at = out.find("\"outputs\":");
  return at == out.npos ? out : out.substr(at + 10, out.size() - at - 12);
}

std::string in_block(const std::string& body) { return "export kernel k(inout A: i32[4], n: int) { launch (q in 1) {\n" + body + "\n} }\n"; }
std::string after(const std::string& body, const std::string& functions = "") { return outputs(functions + in_block(body), R"({"A": [1, 2, 3, 4], "n": 5})"); }

constexpr const char* kBump = "fn bump(inout v: i32) -> i32 { v = v + 10; return v; }\n";
constexpr const char* kTouch = "fn touch(inout A: i32[4]) -> i32 { A[0] = A[0] + 100; return 1000; }\n";

}  // namespace

TEST_CASE("judge: an operand is a value from the moment that it is evaluated") {
  CHECK(after("A[1] = A[0] + touch(A);", kTouch) == R"({"A":[101,1001,3,4]})");
}

TEST_CASE("judge: an element that is added to is read before the value is evaluated") {
  CHECK(after("A[0] += touch(A);", kTouch) == R"({"A":[1001,2,3,4]})");
}

TEST_CASE("judge: the right side of && and || is evaluated where the left leaves the answer open") {
  CHECK(after("var v: i32 = 0; if n > 100 && bump(v) > 3 { A[1] = 9; } A[0] = v; if n > 0 || bump(v) > 3 { A[1] = 7; } A[2] = v;", kBump) ==
        R"({"A":[0,7,0,4]})");
}

TEST_CASE("judge: the condition of a while is evaluated before each turn, and not behind a break") {
  CHECK(after("var v: i32 = 0; while bump(v) < 50 { if v > 25 { break; } } A[0] = v;", kBump) == R"({"A":[30,2,3,4]})");
}

TEST_CASE("judge: a value if evaluates the chosen side alone") {
  CHECK(after("var v: i32 = 1; A[0] = if n > 2 { v } else { bump(v) }; A[1] = v;", kBump) == R"({"A":[1,1,3,4]})");
}

TEST_CASE("judge: an element of memory stands for an inout number") {
  CHECK(after("A[3] = bump(A[1]);", kBump) == R"({"A":[1,12,3,12]})");
}

TEST_CASE("judge: a return leaves the loops of its function") {
  CHECK(after("A[0] = first(n);", "fn first(n: int) -> i32 { for i in 0..n { for j in 0..n { if i * j == 6 { return (i * 10 + j) as i32; } } } return -1; }\n") ==
        R"({"A":[23,2,3,4]})");
}

TEST_CASE("judge: names of arguments may stand in any order, and are evaluated as written") {
  CHECK(after("var v: i32 = 0; A[0] = less(b = bump(v), a = bump(v));", std::string(kBump) + "fn less(a: i32, b: i32) -> i32 { return a - b; }\n") ==
        R"({"A":[10,2,3,4]})");
}

TEST_CASE("judge: division rounds toward minus infinity, ceildiv toward plus infinity") {
  CHECK(after("A[0] = ((n - 12) / 2) as i32; A[1] = ((n - 12) % 3) as i32; A[2] = ceildiv(7, n - 8) as i32; A[3] = (7 % (n - 8)) as i32;") ==
        R"({"A":[-4,2,-2,-2]})");
}

TEST_CASE("judge: integers wrap, `as` saturates") {
  CHECK(after("let x: i8 = 127; A[0] = (x + 1) as i32; A[1] = (300 as u8) as i32; A[2] = (-1.9) as i32; A[3] = nan as i32;") == R"({"A":[-128,255,-1,0]})");
}

TEST_CASE("judge: literals take the type of what they meet") {
  CHECK(outputs("export kernel k(x: f64[1], out y: f64[3]) { launch (q in 1) { y[0] = x[0] * 0.1; y[1] = x[0] + sqrt(2.0); let h = 0.1; y[2] = h as f64; } }",
                R"({"x": [1]})") == R"({"y":[0.1,2.414213562373095,0.10000000149011612]})");
}

TEST_CASE("judge: contracts are exact beyond 64 bits") {
  const char* text = "export kernel k(a: int, out y: i32[1]) requires a + 1 < 64 { launch (q in 1) { y[0] = 1; } }";
  CHECK(told(text, R"({"a": 9223372036854775807})", 5).find("contract") != std::string::npos);
  CHECK(told(text, R"({"a": 62})").find("[1]") != std::string::npos);
}

TEST_CASE("judge: an int that leaves 64 bits, a division by zero and an element outside are faults") {
  auto fault = [](const char* body) { return told(in_block(body), R"({"A": [1, 2, 3, 4], "n": 9223372036854775807})", 5); };
  CHECK(fault("A[0] = (n + 1) as i32;").find("overflow") != std::string::npos);
  CHECK(fault("A[0] = 1 / (A[1] - 2);").find("division by zero") != std::string::npos);
  CHECK(fault("A[n] = 1;").find("out of bounds") != std::string::npos);
}

TEST_CASE("judge: what was never written is not read") {
  CHECK(told("export kernel k(out y: f32[8]) { launch (q in 1) threads 32 { var s: shared f32[8]; y.tile(q) = s; } }", R"({})", 5).find("uninitialised") !=
        std::string::npos);
}

TEST_CASE("judge: tiles hang over edges, and what they have there enters no reduction") {
  CHECK(outputs("export kernel k(x: f32[N], out s: f32[3], out i: i32[1]) { launch (q in 1) {\n"
                "let t = x.tile[8](q); s[0] = t.sum(axis = 0); s[1] = x.tile[8](q, pad = -inf).max(axis = 0); s[2] = (t * inf).sum(axis = 0);\n"
                "i[0] = x.tile[8](q, pad = inf).argmax(axis = 0); } }",
                R"({"x": [1, 2, 3]})") == R"({"s":[6.0,3.0,"inf"],"i":[2]})");
}

TEST_CASE("judge: argmax takes no NaN, and 0 where there is nothing else") {
  CHECK(outputs("export kernel k(x: f32[2, 3], out i: i32[2]) { launch (q in 1) { i.tile(q) = x.tile[2, 3](q, 0).argmax(axis = 1); } }",
                R"({"x": [["nan", 1, 1], ["nan", "nan", "nan"]]})") == R"({"i":[1,0]})");
}

TEST_CASE("judge: a tile as the condition has faults in the elements alone that choose a side") {
  CHECK(outputs("export kernel k(a: i32[4], b: i32[4], out c: i32[4]) { launch (q in 1) { let x = a.tile[4](q); let y = b.tile[4](q);\n"
                "c.tile(q) = if y == 0 { -1 } else { x / y }; } }",
                R"({"a": [7, -7, 7, 1], "b": [2, 2, 0, -1]})") == R"({"c":[3,-4,-1,-1]})");
}

TEST_CASE("judge: a function of numbers works on tiles, and generics come from arguments") {
  CHECK(outputs("import std.math;\nenum Way { up, down }\nfn go[T: float, w: Way = Way.up](x: T, by: T = 2) -> T { if w == Way.up { return x + by; } return x - by; }\n"
                "export kernel k(x: f16[4], out y: f16[4], out z: f16[4]) { launch (q in 1) {\n"
                "y.tile(q) = go(math.relu(x.tile[4](q))); z.tile(q) = go[w = Way.down](x.tile[4](q), by = 1); } }",
                R"({"x": [-1, 0.5, 2, -3]})") == R"({"y":[2.0,2.5,4.0,2.0],"z":[-2.0,-0.5,1.0,-4.0]})");
}

TEST_CASE("judge: a product is added to what stands there") {
  CHECK(outputs("export kernel k(a: i8[2, 2], b: i8[2, 2], out c: i32[2, 2]) { launch (q in 1) {\n"
                "let x = a.tile[2, 2](0, 0); let y = b.tile[2, 2](0, 0); var acc: fragment i32[2, 2] = 1; acc += x @ y.T; c.tile(0, 0) = acc; } }",
                R"({"a": [[1, 2], [3, 4]], "b": [[5, 6], [7, -128]]})") == R"({"c":[18,-248,40,-490]})");
}

TEST_CASE("judge: threads between two syncs run one after the other, and keep their names") {
  CHECK(outputs("export kernel k(out y: i32[32]) { launch (q in 1) threads 32 { var s: shared i32[32] = 0;\n"
                "simt (t) { let own = t as i32 * 2; s[t] = own; sync; y[t] = s[31 - t] + own; } } }",
                "{}").starts_with(R"({"y":[62,62,62)"));
}

TEST_CASE("judge: what it does not know it says") {
  CHECK(told("export kernel k(out y: f32[32]) { launch (q in 1) threads 32 { simt (t) { y[t] = warp_sum(1.0); } } }", "{}").find("not_judged") != std::string::npos);
}

TEST_CASE("judge: a number that a branch puts in the place of padding counts") {
  auto sum = [](const std::string& then) {
    return told("export kernel k(A: f32[2, 8], B: f32[2, Q], out S: f32[2], n: i32) { launch (i in 1) {\n"
                "var v: fragment f32[2, 8] = B.tile[2, 8](i, 0); if n == 1 { v = 3; } " + then + " S.tile(i) = v.sum(axis = 1); } }",
                R"({"A": [[1, 2, 3, 4, 5, 6, 7, 8], [1, 1, 1, 1, 1, 1, 1, 1]], "B": [[1, 2], [3, 4]], "n": 1})");
  };
  CHECK(sum("").find(R"({"S":[24.0,24.0]})") != std::string::npos);
  CHECK(sum("v = v - A.tile[2, 8](i, 0);").find(R"({"S":[-12.0,16.0]})") != std::string::npos);
  CHECK(sum("v = A.tile[2, 8](i, 0);").find(R"({"S":[36.0,8.0]})") != std::string::npos);
}

TEST_CASE("judge: --after-each begins with the text") {
  Folder folder;
  folder.write("k.tile", in_block("A[0] = A[1] + n as i32;"));
  Ran ran = folder.tilec("run k.tile --after-each");
  CHECK(ran.code == 0);
  CHECK(ran.says("k after analysis: agrees"));
}
