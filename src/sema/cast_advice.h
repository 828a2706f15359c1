// How a number is converted where it does not turn into another type by itself.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "sema/instance.h"

namespace tilec::sema {

// Offers a conversion of what stands at `span`; where it is a quotient of integers, and becomes a float, of its parts.
void advise_cast(Instance& in, Report& report, Span span, Scalar from, Scalar to);

// `1 / N` as a quotient of floats, `1.0 / (N as f32)`; none where the text is no product or quotient alone.
std::optional<std::string> float_quotient(std::string_view text, std::string_view type);
// Is there a `/` whose result the text's value is made of?
bool has_quotient(std::string_view text);

}  // namespace tilec::sema
