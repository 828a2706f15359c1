// `schedule` blocks: which kernel and instance they speak of, and what they pin outright.
#pragma once
#include "sema/kernel.h"

namespace tilec::sema {

// Adds the schedules of `root` that speak of this instance.
void pin_schedules(Session& session, const Module& root, const Request& request, ExportInstance& instance);
// Reports schedules that speak of no kernel, or give it parameters that it lacks.
void check_schedules(Session& session, const Module& root);

}  // namespace tilec::sema
