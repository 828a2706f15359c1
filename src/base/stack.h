// How much is left of the stack of the calling thread: what nests as deep as its input asks first, and says that it is too deep.
#pragma once

namespace tilec {

// Is more than three eighths of it used? What remains takes any one function or expression as deep as the parser lets through.
bool is_stack_low();

}  // namespace tilec
