// What C, and others, call the types.
#pragma once
#include <optional>
#include <string_view>

#include "base/scalar.h"

namespace tilec::syntax {

std::optional<Scalar> foreign_type(std::string_view name);

}  // namespace tilec::syntax
