// Floats of 8 and 16 bits, and tf32, as integer code: exact for every pattern and every value, whatever the machine does to
// subnormals.
#pragma once
#include <optional>

#include "ir/builder.h"
#include "machine/machine.h"

namespace tilec::passes {

// Does the machine hold this type only in memory, so that it is computed in f32?
bool is_storage_only(const Machine& machine, Scalar type);
// The unsigned integer that holds its bits.
Scalar word_of(Scalar type);

class Narrow {
 public:
  Narrow(ir::Builder& builder, const Machine& machine) : b_(builder), machine_(machine) {}

  ir::ValueId widen(ir::ValueId x);                       // a narrow float as f32
  ir::ValueId narrow(ir::ValueId x, Scalar to);           // an f32 rounded to a narrow float
  ir::ValueId cut(ir::ValueId x);                         // a tf32 out of memory: zeros in the bits that it has not
  ir::ValueId same(ir::ValueId pattern, Scalar to, ir::ValueId exact);  // bits that stand for the number `exact`
  ir::ValueId convert(ir::ValueId x, Scalar to, ir::ConvertMode mode);  // any scalar to any, one of them narrow
  std::optional<ir::ValueId> lengthened(ir::ValueId x, Scalar to);  // where only the mantissa grows: zeros behind its bits
  ir::ValueId toward_zero(ir::ValueId x, Scalar to);      // any scalar rounded to any float, away from no number
  ir::ValueId fma(ir::ValueId a, ir::ValueId b, ir::ValueId c, Scalar to);  // of f32s that stand for `to`, or of f64s, rounded once

 private:
  bool converts_natively(Scalar type) const;  // either way
  bool rounds_natively(Scalar type) const;    // from f32
  ir::ValueId rounded(ir::ValueId x, Scalar to, ir::ValueId exact, bool rounds);  // an f32 or f64; `exact` is what it stands for
  ir::ValueId to_float(ir::ValueId x, Scalar to);         // to nearest
  ir::ValueId integer_toward_zero(ir::ValueId x, Scalar to);
  ir::ValueId f32_rounded_to_odd(ir::ValueId x);          // an f64 as the f32 that rounds on as the f64 would
  ir::ValueId integer_rounded_to_odd(ir::ValueId x);      // an integer as such an f64
  ir::ValueId sum_rounded_to_odd(ir::ValueId x, ir::ValueId y, ir::ValueId sum);
  ir::ValueId word(uint32_t bits) { return b_.constant(Scalar::I32, ir::Number::integer(int32_t(bits))); }
  ir::ValueId bits(ir::ValueId x, Scalar as) { return b_.convert(x, as, ir::ConvertMode::Bits); }
  struct Meaning {
    ir::ValueId exact;
    bool rounds;
  };
  ir::ValueId pack(ir::ValueId pattern, Scalar to, Meaning meaning);  // the low bits of an i32 as a narrow float
  ir::ValueId meant(ir::ValueId x, Scalar to, Meaning meaning, ir::ConvertMode mode = ir::ConvertMode::Bits);
  ir::ValueId unpack(ir::ValueId x);                      // the bits of a narrow float as an i32

  ir::Builder& b_;
  const Machine& machine_;
};

}  // namespace tilec::passes
