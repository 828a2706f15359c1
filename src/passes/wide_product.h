// a * b + c of f64, rounded once, in integers: for machines that have neither an instruction nor a library for it.
#pragma once
#include "ir/builder.h"

namespace tilec::passes {

ir::ValueId fused_in_integers(ir::Builder& builder, ir::ValueId a, ir::ValueId b, ir::ValueId c);

}  // namespace tilec::passes
