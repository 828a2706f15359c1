// Warnings about what nothing uses: names that are declared, values of statements that do nothing else. Looks at the text alone, so that
// an instance in which a compile-time `if` is false does not count.
#pragma once
#include "sema/module.h"

namespace tilec::sema {

void warn_unused(const Module& file, const Modules& modules, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace tilec::sema
