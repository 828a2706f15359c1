// The text of a kernel, in every form; `parse` reads it back (parse.h describes the text).
#pragma once
#include "ir/kernel.h"

namespace tilec::ir {

struct PrintOptions {
  bool spans = false;  // the place in the source behind every line: !file:begin:end
};

// Prints broken kernels as well, as far as they can be read.
std::string print(const Kernel& kernel, PrintOptions options = {});
// One operation without its regions, on one line.
std::string print_op(const Kernel& kernel, OpId op, PrintOptions options = {});
// %hint_7, or %7
std::string value_name(const Kernel& kernel, ValueId value);

}  // namespace tilec::ir
