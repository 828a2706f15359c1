#include "base/scalar.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "ir/scalar_eval.h"

using namespace tilec;

TEST_CASE("every bit pattern of the small floats decodes and encodes to itself") {
  for (Scalar s : {Scalar::F16, Scalar::BF16, Scalar::F8E4M3, Scalar::F8E5M2})
    for (uint64_t bits = 0; bits < 1ull << bit_width(s); ++bits) {
      double value = decode(s, bits);
      if (std::isnan(value)) CHECK(std::isnan(decode(s, encode(s, value))));
      else CHECK(encode(s, value) == bits);
    }
}

TEST_CASE("rounding is to nearest, ties to even") {
  CHECK(round_to(Scalar::F16, 2049) == 2048);
  CHECK(round_to(Scalar::F16, 2051) == 2052);
  CHECK(round_to(Scalar::BF16, 257) == 256);
  CHECK(round_to(Scalar::F16, 65519) == 65504);
  CHECK(std::isinf(round_to(Scalar::F16, 65520)));
  CHECK(round_to(Scalar::F16, std::ldexp(1.0, -25)) == 0);
  CHECK(round_to(Scalar::F16, std::ldexp(3.0, -26)) == std::ldexp(1.0, -24));
}

TEST_CASE("tf32 is the upper 19 bits of a float") {
  for (uint64_t upper = 0; upper < 1 << 19; ++upper) {
    uint64_t bits = upper << 13;
    double value = decode(Scalar::TF32, bits);
    for (uint64_t lower : {0x0000, 0x0001, 0x1000, 0x1fff}) {
      double same = decode(Scalar::TF32, bits | lower);
      if (!(std::isnan(value) ? std::isnan(same) : same == value)) FAIL(upper);
    }
    if (std::isnan(value)) {
      CHECK(std::isnan(decode(Scalar::TF32, encode(Scalar::TF32, value))));
      continue;
    }
    if (value != double(std::bit_cast<float>(uint32_t(bits))) || encode(Scalar::TF32, value) != bits) FAIL(upper);
  }
}

TEST_CASE("to tf32 is rounded to nearest even, beyond its range to infinity") {
  auto rounded = [](uint32_t bits) { return uint32_t(encode(Scalar::TF32, std::bit_cast<float>(bits))); };
  CHECK(rounded(0x3f801000) == 0x3f800000);  // ties
  CHECK(rounded(0x3f803000) == 0x3f804000);
  CHECK(rounded(0x3f801001) == 0x3f802000);
  CHECK(rounded(0x3f800fff) == 0x3f800000);
  CHECK(rounded(0xbf803000) == 0xbf804000);
  CHECK(rounded(0x7f7fefff) == 0x7f7fe000);
  CHECK(rounded(0x7f7ff000) == 0x7f800000);
  CHECK(rounded(0xff7fffff) == 0xff800000);
  CHECK(rounded(0x7f800000) == 0x7f800000);
  CHECK(rounded(0x00001000) == 0);           // subnormals
  CHECK(rounded(0x00001001) == 0x2000);
  CHECK(rounded(0x80003000) == 0x80004000);
  CHECK(rounded(0x007fffff) == 0x00800000);
  for (uint32_t nan : {0x7f800001u, 0x7fc00000u, 0xff801fffu, 0x7fffffffu}) CHECK(std::isnan(std::bit_cast<float>(rounded(nan))));
}

TEST_CASE("fp8 saturates") {
  CHECK(round_to(Scalar::F8E4M3, 1e6) == 448);
  CHECK(round_to(Scalar::F8E4M3, -INFINITY) == -448);
  CHECK(round_to(Scalar::F8E5M2, 1e9) == 57344);
  CHECK(std::isinf(round_to(Scalar::F8E5M2, INFINITY)));
}

TEST_CASE("the least integer counts as the greatest magnitude") {
  auto absmax = [](Scalar type, std::initializer_list<int64_t> line) {
    ir::Number most = ir::identity(ir::ReduceFn::AbsMax, type);
    for (int64_t x : line) most = ir::combine(ir::ReduceFn::AbsMax, type, most, ir::Number::integer(x));
    return most.i;
  };
  CHECK(absmax(Scalar::I8, {3, -128, 5, 7}) == 127);
  CHECK(absmax(Scalar::I8, {3, -127, 5}) == 127);
  CHECK(absmax(Scalar::I16, {-32768}) == 32767);
  CHECK(absmax(Scalar::I64, {1, INT64_MIN}) == INT64_MAX);
  CHECK(absmax(Scalar::Index, {INT64_MIN, 2}) == INT64_MAX);
  CHECK(uint64_t(absmax(Scalar::U64, {-1, 2})) == UINT64_MAX);
}

TEST_CASE("integers wrap and saturate") {
  CHECK(wrap(Scalar::I8, 200) == -56);
  CHECK(wrap(Scalar::U8, -1) == 255);
  CHECK(saturate(Scalar::I8, int64_t(200)) == 127);
  CHECK(saturate(Scalar::U8, -3.0) == 0);
  CHECK(saturate(Scalar::I32, NAN) == 0);
}
