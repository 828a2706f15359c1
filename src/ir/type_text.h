// Types as text, and back:
//   f32   varying i32   varying vector<4 f32>   tile<128x128 f32 @ reg(c0 ...) lane(...)>   buffer<global ?x64 f16>
//   token   ring<3>   flight<128x128 f32>
#pragma once
#include "ir/scanner.h"
#include "ir/type.h"

namespace tilec::ir {

std::string type_text(const Type& type, const layout::LayoutTable& layouts);
bool parse_type(Scanner& scanner, layout::LayoutTable& layouts, Type& out);

}  // namespace tilec::ir
