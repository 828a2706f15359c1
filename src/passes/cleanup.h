// The parts of `cleanup`, which other passes may end with.
#pragma once
#include <functional>

#include "ir/kernel.h"

namespace tilec::passes {

void merge_equal_scalars(ir::Kernel& kernel);  // merge.cpp
void drop_dead_code(ir::Kernel& kernel);       // dead_code.cpp
// Of a program whose numbers are not checked yet: what may have no value stays, as a fault is told also where nobody reads the number.
void drop_harmless_code(ir::Kernel& kernel);
// Puts f(v) in the place of every value that the kernel's interface names: dims, parameters, requirements.
void remap_interface(ir::Kernel& kernel, const std::function<ir::ValueId(ir::ValueId)>& f);

}  // namespace tilec::passes
