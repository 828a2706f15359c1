// What a `schedule` block names: labels of statements, tiles and needs, none of which may be unknown.
#pragma once
#include "sema/instance.h"

namespace tilec::sema {

// The variables of a kernel, parameters first: what a schedule may call by name.
std::vector<std::string> variables_of(const ast::Kernel& kernel);

void check_schedule_names(Instance& in, const ast::Schedule& schedule, const ast::Kernel& kernel);

}  // namespace tilec::sema
