// The made-up GPU: with all that it can, without roles of warps, and without asynchronous engines.
#pragma once
#include "machine/machine.h"

namespace tilec::target::model {

std::span<const Machine> machines();
const Machine& asynchronous();  // `model`
const Machine& without_roles(); // `model-no-roles`
const Machine& synchronous();   // `model-sync`

}  // namespace tilec::target::model
