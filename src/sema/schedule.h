// `schedule` blocks: which kernel and instance they speak of, and what they pin outright.
#pragma once
#include "sema/kernel.h"

namespace tilec::sema {

// An export and what its compile-time parameters and its dims came to.
struct Instantiation {
  Request request;
  std::vector<Value> generics;
  std::vector<ir::Dim> dims;
  bool is_wide = false;  // the copy in wider clusters
};

// Adds the schedules of `root` that speak of this instance.
void pin_schedules(Session& session, const Module& root, const Instantiation& made, ExportInstance& instance);
// How a schedule in `root` names `made` and no other of `all` that differs from it. One that states fewer dims goes behind.
std::string instance_text(Session& session, const Module& root, const Instantiation& made, std::span<const Instantiation> all);
// Reports schedules that speak of no kernel, give it parameters that it lacks, or are for no instance of `made`.
void check_schedules(Session& session, const Module& root, std::span<const Instantiation> made);

}  // namespace tilec::sema
