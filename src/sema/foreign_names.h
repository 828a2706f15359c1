// What is written instead of names of other languages and libraries, and of extents that no tile can have.
#pragma once
#include <string_view>

namespace tilec::sema {

// Empty: none is known.
std::string_view help_for_name(std::string_view word);
std::string_view help_for_parameter(std::string_view word);         // or what it is called here
std::string_view help_for_member_of_module(std::string_view word);  // of `torch`, `tl`
bool is_foreign_module(std::string_view word);
std::string_view help_for_member(std::string_view word);  // of tiles, tensors and numbers

// Where one is known at run time only.
constexpr std::string_view kTileExtents =
    "an extent of a tile is a number, a `const` or a parameter in brackets, `kernel k[BM: int = 64](...)`; a tile may hang over the edge of a tensor";

}  // namespace tilec::sema
