// What a kernel is expected to take, as `explain --cost` prints it.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "machine/machine.h"
#include "sema/sema.h"

namespace tilec {

// `number`: of a dim or a scalar parameter, by name; none: it is not known, and the formulas stand alone.
std::string cost_text(std::span<const ExportInstance* const> exports, const ir::Kernel& lowered, const Machine& machine,
                      const std::function<std::optional<double>(const std::string& name)>& number);

}  // namespace tilec
