// The made-up GPU: with and without asynchronous engines.
#pragma once
#include "machine/machine.h"

namespace tilec::target::model {

std::span<const Machine> machines();
const Machine& asynchronous();  // `model`
const Machine& synchronous();   // `model-sync`

}  // namespace tilec::target::model
