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

// The kernel with these arguments lowered; nothing after a mistake.
std::optional<ir::Kernel> lower_kernel(Session& session, const Request& request);

}  // namespace tilec::sema
