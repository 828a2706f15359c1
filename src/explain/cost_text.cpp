#include "explain/cost_text.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "explain/explain.h"

namespace tilec {

namespace {

using ir::Formula;

// The numbers of one call.
class Call {
 public:
  Call(const ir::Kernel& kernel, const std::function<std::optional<double>(const std::string&)>& number) : kernel_(kernel), number_(number) {}

  void add_missing(const Formula& formula, std::vector<std::string>& missing) const {
    for (const Formula::Node& node : formula.nodes())
      if (is_named(node) && !number_(name(node)) && std::ranges::find(missing, name(node)) == missing.end()) missing.push_back(name(node));
  }
  double operator()(const Formula& formula) const {
    return formula.evaluate([&](const Formula::Node& node) { return number_(name(node)).value_or(0); });
  }

 private:
  static bool is_named(const Formula::Node& node) { return node.kind == Formula::Kind::Dim || node.kind == Formula::Kind::Param; }
  const std::string& name(const Formula::Node& node) const {
    return node.kind == Formula::Kind::Dim ? kernel_.dims[node.a].name : kernel_.params[node.a].name;
  }

  const ir::Kernel& kernel_;
  const std::function<std::optional<double>(const std::string&)>& number_;
};

struct Unit {
  const char* name;
  Formula ir::Estimate::*clocks;
};
constexpr Unit kUnits[] = {{"matrix products", &ir::Estimate::products}, {"the caches that all cores share", &ir::Estimate::caches},
                           {"lanes", &ir::Estimate::lanes}, {"device memory", &ir::Estimate::memory}};
// Where no unit is busy for most of the time, it goes by in waiting for them.
constexpr double kMost = 0.5;

std::string digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, x < 100 ? "%.3g" : "%.0f", x);
  return text;
}

std::string numbers_text(const ir::Estimate& estimate, const Call& call, const Machine& machine) {
  double all = call(estimate.clocks), most = 0;
  std::string parts, limit;
  for (const Unit& unit : kUnits) {
    double share = call(estimate.*unit.clocks) / all;
    if (share > most) most = share, limit = unit.name;
    parts += (parts.empty() ? "" : ", ") + std::string(unit.name) + " " + digits(std::round(share * 100)) + " %";
  }
  if (most < kMost) limit = "how long it takes to begin, to wait for memory, and to end";
  return "  expected: " + digits(all) + " clocks, " + digits(all / machine.pace.gigahertz / 1000) + " us at " + digits(machine.pace.gigahertz) +
         " GHz\n  busy: " + parts + "\n  limited by: " + limit + "\n";
}

}  // namespace

std::string cost_text(std::span<const ExportInstance* const> exports, const ir::Kernel& lowered, const Machine& machine,
                      const std::function<std::optional<double>(const std::string& name)>& number) {
  std::string out = kernel_line(exports, machine);
  if (lowered.estimates.empty()) return out + "  nothing is expected: " + std::string(machine.name) + " does not say how fast it is\n";
  Call call(lowered, number);
  for (size_t i = 0; i < lowered.estimates.size(); ++i) {
    const ir::Estimate& estimate = lowered.estimates[i];
    if (lowered.estimates.size() > 1) out += "launch " + std::to_string(i) + "\n";
    out += "  clocks: " + estimate.clocks.text(lowered) + "\n";
    std::vector<std::string> missing;
    call.add_missing(estimate.clocks, missing);
    if (missing.empty()) out += numbers_text(estimate, call, machine);
    else out += "  `--dim " + join(missing, "=VALUE,") + "=VALUE` makes it a number\n";
  }
  return out;
}

void TakenInstances::add(std::span<const ExportInstance* const> exports, const ir::Kernel& lowered, const Machine& machine) {
  Call call(lowered, number_);
  std::vector<std::string> missing;
  double clocks = 0;
  for (const ir::Estimate& estimate : lowered.estimates) call.add_missing(estimate.clocks, missing), clocks += call(estimate.clocks);
  if (lowered.estimates.empty() || !missing.empty()) return;
  for (const ExportInstance* e : exports) {
    Taken& taken = taken_[{e->name, std::string(machine.name)}];
    if (taken.count++ == 0 || clocks < taken.clocks) taken.instance = e->instance, taken.clocks = clocks;
  }
}

std::string TakenInstances::text() const {
  std::string out;
  for (const auto& [of, taken] : taken_)
    if (taken.count > 1) out += "such a call of `" + of.first + "` on " + of.second + " takes " + taken.instance + "\n";
  return out;
}

}  // namespace tilec
