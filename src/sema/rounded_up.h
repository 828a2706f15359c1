// `ceildiv` and `round_up`: exact for all signs and to the ends of 64 bits. A fault has only what has no value.
#pragma once
#include "sema/scalar.h"

namespace tilec::sema {

Value ceildiv(Instance& in, const Value& a, const Value& b, Span span);
Value round_up(Instance& in, const Value& a, const Value& b, Span span);

}  // namespace tilec::sema
