#include "base/scalar.h"

#include <doctest/doctest.h>

#include <cmath>

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

TEST_CASE("fp8 saturates") {
  CHECK(round_to(Scalar::F8E4M3, 1e6) == 448);
  CHECK(round_to(Scalar::F8E4M3, -INFINITY) == -448);
  CHECK(round_to(Scalar::F8E5M2, 1e9) == 57344);
  CHECK(std::isinf(round_to(Scalar::F8E5M2, INFINITY)));
}

TEST_CASE("integers wrap and saturate") {
  CHECK(wrap(Scalar::I8, 200) == -56);
  CHECK(wrap(Scalar::U8, -1) == 255);
  CHECK(saturate(Scalar::I8, int64_t(200)) == 127);
  CHECK(saturate(Scalar::U8, -3.0) == 0);
  CHECK(saturate(Scalar::I32, NAN) == 0);
}
