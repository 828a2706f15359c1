// The made-up GPU: with all that it can, without roles of warps, without asynchronous engines, and with lanes that copy for
// products in flight.
#pragma once
#include "machine/machine.h"

namespace tilec::target::model {

std::span<const Machine> machines();
const Machine& asynchronous();  // `model`
const Machine& without_roles(); // `model-no-roles`
const Machine& synchronous();   // `model-sync`
const Machine& with_lanes();    // `model-lanes`

}  // namespace tilec::target::model
