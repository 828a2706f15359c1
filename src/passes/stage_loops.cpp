#include "passes/stage_loops.h"

namespace tilec::passes {

void stage_loops(ir::Kernel& kernel, const Machine&, Diagnostics&) { kernel.form = ir::Form::Staged; }

}  // namespace tilec::passes
