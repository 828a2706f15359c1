// Kernels: dims, parameters, contracts, and the body.
#pragma once
#include "sema/instance.h"

namespace tilec::sema {

// What an export says beside the kernel's name.
struct Request {
  const Module* module;             // where the kernel is declared
  const ast::Decl* decl;
  const Module* asking;             // where the export stands
  std::span<const ast::Argument> generics, where;
  Span span;
};

struct LoweredKernel {
  ir::Kernel kernel;
  std::vector<Value> generics;  // of each compile-time parameter, in the order of the signature
};

// The kernel with these arguments lowered; nothing after a mistake.
std::optional<LoweredKernel> lower_kernel(Session& session, const Request& request);

}  // namespace tilec::sema
