// The machine behind portable C: loops of a few lanes that any compiler may turn into vectors.
#pragma once
#include <span>

#include "machine/machine.h"

namespace tilec::target::c {

std::span<const Machine> machines();

}  // namespace tilec::target::c
