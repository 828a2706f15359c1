// What the body of a `parallel` loop writes by subscripts, seen before it is lowered.
#pragma once
#include "sema/instance.h"

namespace tilec::sema {

// Every element that is assigned to, or stands for an `inout` or `out` parameter of a call.
void each_written_element(Instance& in, std::span<const ast::Stmt* const> statements,
                          const std::function<void(const ast::Index&, Span)>& found);

}  // namespace tilec::sema
