// Kernel to bytecode, once before a run.
#pragma once
#include "interp/handlers.h"

namespace tilec::interp {

// What of the run's options the code depends on. The program refers to the kernel, which must outlive it.
struct CompileOptions {
  Numeric numeric = Numeric::Typed;
  const Machine* machine = nullptr;
  bool takes_ints_exact = false;
};

Program compile(const ir::Kernel& kernel, const CompileOptions& options);

}  // namespace tilec::interp
