// What a kernel is expected to take, as `explain --cost` prints it.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "machine/machine.h"
#include "sema/sema.h"

namespace tilec {

// `number`: of a dim or a scalar parameter, by name; none: it is not known, and the formulas stand alone.
std::string cost_text(std::span<const ExportInstance* const> exports, const ir::Kernel& lowered, const Machine& machine,
                      const std::function<std::optional<double>(const std::string& name)>& number);

// Which of several instances of an export a call takes: the one of the fewest clocks, of equal ones the first.
class TakenInstances {
 public:
  explicit TakenInstances(std::function<std::optional<double>(const std::string& name)> number) : number_(std::move(number)) {}

  void add(std::span<const ExportInstance* const> exports, const ir::Kernel& lowered, const Machine& machine);
  // A line for each export and machine, where there are several and all numbers are known.
  std::string text() const;

 private:
  struct Taken {
    std::string instance;
    double clocks = 0;
    int count = 0;
  };
  std::function<std::optional<double>(const std::string& name)> number_;
  std::map<std::pair<std::string, std::string>, Taken> taken_;  // by export and machine
};

}  // namespace tilec
