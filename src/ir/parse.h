// Reads the text that `print` writes, and what people write by hand in tests:
//
//   kernel "double", fast_math=true
//     dim "N", %N
//     param "x", %x, extents=[%N], type="f32[N]"
//   { (%N: int, %x: buffer<global ? f32>)
//     %low, %high = op operand, [operand, operand], attribute=value : type, type !0:12:40 {
//       ...
//     } label { ... }
//   }
//
//   - Operands stand in the order of the operation's row; attributes with other than their default values follow by
//     name. `fn` and `how` are written behind the name of the operation (`binary.add %a, %b`), a number as if it were
//     an operand.
//   - A value is %hint_7, %7 or %hint; the number is its id, and a value without one gets an id that is free. It may be
//     used before its definition in the text: whether that has a meaning is for `verify` to say.
//   - The second region and those after it carry the name of their field, and may be missing (an `if` without
//     `else_body`). Spans (file:begin:end) may be left out. `// comments` end with the line.
#pragma once
#include <optional>

#include "ir/kernel.h"

namespace tilec::ir {

// Nothing where the text is not that of a kernel; then `error`, if given, is "line 3: what is wrong".
std::optional<Kernel> parse(std::string_view text, std::string* error = nullptr);

}  // namespace tilec::ir
