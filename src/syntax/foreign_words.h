// What C, and others, call the types.
#pragma once
#include <optional>
#include <string_view>

#include "base/scalar.h"

namespace tilec::syntax {

std::optional<Scalar> foreign_type(std::string_view name);
// `inf`, `-inf` or `nan` where a word in quotes means that, as Python writes it; otherwise empty.
std::string_view infinite_word(std::string_view quoted);

}  // namespace tilec::syntax
