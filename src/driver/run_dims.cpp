#include "driver/run_dims.h"

#include <cerrno>
#include <algorithm>
#include <functional>
#include <set>

#include "ir/scalar_eval.h"
#include "ir/sources.h"

namespace tilec {

namespace {

constexpr int kMostTrials = 200'000;  // of numbers for a contract

bool is_integer_parameter(const ir::Kernel& kernel, const ir::Param& p) {
  return is_integer(kernel.type(p.value).element) && !kernel.type(p.value).is_buffer();
}

bool has_number(const ir::Kernel& kernel, const std::string& name) {
  return std::ranges::any_of(kernel.dims, [&](const ir::Dim& d) { return d.name == name; }) ||
         std::ranges::any_of(kernel.params, [&](const ir::Param& p) { return p.name == name && is_integer_parameter(kernel, p); });
}

bool is_dim(const ir::Kernel& kernel, const std::string& name) {
  return std::ranges::any_of(kernel.dims, [&](const ir::Dim& d) { return d.name == name; });
}

// The type of a parameter of a kernel that is asked for, which the number is none of; empty where it is one of all.
std::string_view refused_type(const Options& options, const Program& program, const std::string& name, int64_t value) {
  for (const ExportInstance& e : program.exports)
    for (const ir::Param& p : e.kernel.params) {
      bool is_it = (options.kernel.empty() || e.name == options.kernel) && p.name == name && is_integer_parameter(e.kernel, p);
      Scalar type = e.kernel.type(p.value).element;
      bool fits = value >= integer_min(type) && (value < 0 || uint64_t(value) <= integer_max(type));
      if (is_it && !fits) return tilec::name(type);
    }
  return {};
}

int64_t default_of(const ir::Kernel& kernel, const ir::Dim& dim) {
  for (const ir::Param& p : kernel.params)
    for (size_t i = 0; i + 2 < p.extents.size(); ++i)
      if (p.extents[i] == dim.value) return kDefaultBatch;
  return kDefaultDim;
}

// Which dims and integer parameters a value of the body hangs on.
void add_names(const ir::Kernel& kernel, ir::ValueId v, std::set<std::string>& names) {
  ir::each_source(kernel, v, [&](ir::ValueId x) {
    for (const ir::Dim& dim : kernel.dims)
      if (dim.value == x) return void(names.insert(dim.name));
    if (const ir::Param* p = kernel.param_of(x); p && is_integer_parameter(kernel, *p)) names.insert(p->name);
  });
}

// A requirement, or that a tensor has elements.
struct Condition {
  std::set<std::string> names;
  std::function<bool(const Dims&)> holds;  // also where it is not known
};

std::vector<Condition> conditions_of(const ir::Kernel& kernel) {
  std::vector<Condition> conditions;
  auto add = [&](ir::ValueId v, auto is_fine) {
    Condition c{{}, [&kernel, v, is_fine](const Dims& dims) { return is_fine(host_value(kernel, v, dims)); }};
    add_names(kernel, v, c.names);
    conditions.push_back(std::move(c));
  };
  for (const ir::Requirement& r : kernel.requirements) add(r.condition, [](std::optional<int64_t> x) { return x != 0; });
  for (const ir::Param& p : kernel.params)
    for (ir::ValueId v : p.extents) add(v, [](std::optional<int64_t> x) { return !x || *x >= 1; });
  return conditions;
}

// A number to be found, from `first` on: first larger ones, for they make more tiles than one, then smaller ones.
struct Unknown {
  std::string name;
  int64_t first, least;

  std::vector<int64_t> candidates() const {
    std::vector<int64_t> result;
    for (int64_t n = first; n <= first + 128; ++n) result.push_back(n);
    for (int64_t n = first - 1; n >= least; --n) result.push_back(n);
    for (int64_t n = 256; n <= kMostDim; n *= 2)
      if (n > first + 128) result.push_back(n);
    return result;
  }
};

struct Search {
  std::span<const Condition> conditions;
  std::span<const Unknown> unknowns;
  Dims dims;
  int trials = 0;

  // Do the conditions hold that hang on this unknown and on no later one?
  bool fits(size_t known) const {
    auto is_later = [&](const std::string& name) {
      return std::ranges::any_of(unknowns.subspan(known + 1), [&](const Unknown& u) { return u.name == name; });
    };
    return std::ranges::all_of(conditions, [&](const Condition& c) {
      return !c.names.contains(unknowns[known].name) || std::ranges::any_of(c.names, is_later) || c.holds(dims);
    });
  }
  bool run(size_t next) {
    if (next == unknowns.size()) return true;
    for (int64_t n : unknowns[next].candidates()) {
      if (++trials > kMostTrials) return false;
      dims[unknowns[next].name] = n;
      if (fits(next) && run(next + 1)) return true;
    }
    return false;
  }
};

// Gives other numbers to the unknowns where the conditions that they can meet do not hold.
void settle(std::span<const Condition> all, const std::vector<Unknown>& unknowns, RunDims& result) {
  std::set<std::string> names;
  for (const Unknown& u : unknowns) names.insert(u.name);
  std::vector<Condition> conditions;
  for (const Condition& c : all)
    if (std::ranges::any_of(c.names, [&](const std::string& n) { return names.contains(n); })) conditions.push_back(c);
  if (std::ranges::all_of(conditions, [&](const Condition& c) { return c.holds(result.dims); })) return;
  Search search{conditions, unknowns, result.dims};
  bool is_found = search.run(0);
  for (const Unknown& u : unknowns) {
    if (!is_found) result.failed.push_back(u.name);
    else if (search.dims.at(u.name) != u.first) result.moved.push_back(u.name);
  }
  if (is_found) result.dims = std::move(search.dims);
}

// Strides that are dims of their own (`lda`) default to what a dense tensor has.
Dims dense_strides(const ir::Kernel& kernel, const Dims& dims) {
  Dims strides;
  for (const ir::Param& p : kernel.params) {
    int64_t dense = 1;
    for (size_t axis = p.strides.size(); axis-- > 0;) {
      for (const ir::Dim& dim : kernel.dims)
        if (dim.value == p.strides[axis]) strides[dim.name] = std::max<int64_t>({dense, 1, strides[dim.name]});
      dense *= host_value(kernel, p.extents[axis], dims).value_or(1);
    }
  }
  return strides;
}

}  // namespace

std::optional<Dims> given_dims(const Options& options, const Program& program) {
  Dims dims;
  for (const std::string& text : options.dims) {
    size_t equal = text.find('=');
    std::string name = text.substr(0, equal);
    char* end = nullptr;
    errno = 0;
    int64_t value = equal == text.npos ? -1 : std::strtoll(text.c_str() + equal + 1, &end, 10);
    const bool is_too_large = errno == ERANGE;
    bool is_known = std::ranges::any_of(program.exports, [&](const ExportInstance& e) {
      return (options.kernel.empty() || e.name == options.kernel) && has_number(e.kernel, name);
    });
    bool is_extent = std::ranges::any_of(program.exports, [&](const ExportInstance& e) { return is_dim(e.kernel, name); });
    bool is_number = end && end != text.c_str() + equal + 1 && *end == 0 && (!is_extent || value >= 0);
    std::string_view refused = is_known && is_number ? refused_type(options, program, name, value) : "";
    if (!refused.empty() && !is_too_large) {
      std::fprintf(stderr, "tilec: --dim %s: `%s`, %lld, is no %s\n", text.c_str(), name.c_str(), (long long)value, std::string(refused).c_str());
      return std::nullopt;
    }
    if (is_known && is_number && !is_too_large && dims.emplace(name, value).second) continue;
    std::fprintf(stderr, "tilec: --dim %s: %s\n", text.c_str(),
                 !is_known    ? "no kernel has a dim or an integer parameter of that name"
                 : is_too_large ? "the value is beyond 64 bits"
                 : is_number  ? "it has been given a value before"
                 : is_extent  ? "an extent is a whole number from 0"
                              : "the value of a parameter is a whole number");
    return std::nullopt;
  }
  return dims;
}

RunDims dims_of(const Dims& said, const ir::Kernel& kernel) {
  RunDims result;
  for (const auto& [name, value] : said)
    if (has_number(kernel, name)) result.dims[name] = value;
  const Dims given = result.dims;
  std::vector<Condition> conditions = conditions_of(kernel);
  Dims strides = dense_strides(kernel, {});
  std::vector<Unknown> extents, steps;
  for (const ir::Dim& dim : kernel.dims) {
    if (dim.fixed) result.dims[dim.name] = *dim.fixed;
    if (dim.fixed || given.contains(dim.name) || strides.contains(dim.name)) continue;
    extents.push_back({dim.name, result.dims[dim.name] = default_of(kernel, dim), 0});
  }
  for (const ir::Param& p : kernel.params) {
    bool is_asked = is_integer_parameter(kernel, p) && std::ranges::any_of(conditions, [&](const Condition& c) { return c.names.contains(p.name); });
    if (is_asked && !given.contains(p.name)) extents.push_back({p.name, result.dims[p.name] = kDefaultBatch, 0});
  }
  std::vector<Condition> without_strides = conditions;
  std::erase_if(without_strides, [&](const Condition& c) {
    return std::ranges::any_of(c.names, [&](const std::string& n) { return strides.contains(n); });
  });
  settle(without_strides, extents, result);
  for (auto [name, dense] : dense_strides(kernel, result.dims)) {
    bool is_fixed = std::ranges::any_of(kernel.dims, [&](const ir::Dim& d) { return d.name == name && d.fixed; });
    if (!is_fixed && !given.contains(name)) steps.push_back({name, result.dims[name] = dense, dense});
  }
  settle(conditions, steps, result);
  return result;
}

namespace {

constexpr int kMostTurns = 1 << 16;  // of a loop that an extent is computed by

struct HostValues {
  using Values = std::vector<std::optional<int64_t>>;

  const ir::Kernel& kernel;
  const Dims& dims;
  std::map<ir::ValueId, std::optional<int64_t>> known = {};

  std::optional<int64_t> of(ir::ValueId v) {
    auto [found, is_new] = known.try_emplace(v);
    return is_new ? known[v] = derive(v) : found->second;
  }

  // What a region yields for its arguments.
  Values yielded(ir::RegionId region, const Values& arguments) const {
    HostValues inside{kernel, dims, known};
    for (size_t i = 0; i < arguments.size(); ++i) inside.known[kernel.region(region).args[i]] = arguments[i];
    Values values;
    for (ir::ValueId v : kernel.terminator(region).as<ir::op::Yield>().values) values.push_back(inside.of(v));
    return values;
  }
  Values all_of(const std::vector<ir::ValueId>& values) {
    Values all;
    for (ir::ValueId v : values) all.push_back(of(v));
    return all;
  }
  Values results_of(const ir::op::If& branch) {
    auto condition = of(branch.condition);
    return condition ? yielded(*condition ? branch.then_body : branch.else_body, {}) : Values{};
  }
  Values results_of(const ir::op::For& loop) {
    auto low = of(loop.low), high = of(loop.high), step = of(loop.step);
    if (!low || !high || !step || *step <= 0) return {};
    Values carried = all_of(loop.inits);
    int64_t i = *low;
    for (int turn = 0; i < *high && turn < kMostTurns; ++turn) {
      Values arguments = carried;
      arguments.insert(arguments.begin(), i);
      carried = yielded(loop.body, arguments);
      if (*step > *high - i) return carried;
      i += *step;
    }
    return i < *high ? Values{} : carried;
  }
  Values results_of(const ir::op::While& loop) {
    Values carried = all_of(loop.inits);
    for (int turn = 0; turn < kMostTurns; ++turn) {
      Values passed = yielded(loop.condition, carried);
      const std::optional<int64_t> goes_on = passed[0];
      passed.erase(passed.begin());
      if (!goes_on) return {};
      if (!*goes_on) return passed;
      carried = yielded(loop.body, passed);
    }
    return {};
  }

  std::optional<int64_t> derive(ir::ValueId v) {
    auto named = [&](const std::string& name) {
      auto found = dims.find(name);
      return found == dims.end() ? std::nullopt : std::optional(found->second);
    };
    for (const ir::Dim& dim : kernel.dims)
      if (dim.value == v) return named(dim.name);
    if (const ir::Param* p = kernel.param_of(v)) return is_integer_parameter(kernel, *p) ? named(p->name) : std::nullopt;
    const ir::Op* op = kernel.definition(v);
    if (!op) return std::nullopt;
    Scalar type = kernel.type(v).element;
    auto number = [](std::optional<ir::Number> x) { return x ? std::optional(x->i) : std::nullopt; };
    auto operand = [&](ir::ValueId x) { return is_float(kernel.type(x).element) ? std::nullopt : of(x); };
    if (is_float(type)) return std::nullopt;
    if (auto* c = op->get<ir::op::Constant>()) return c->number.i;
    if (auto* u = op->get<ir::op::Unary>()) {
      auto x = operand(u->x);
      return x ? number(ir::evaluate(u->fn, type, ir::Number::integer(*x))) : std::nullopt;
    }
    if (auto* b = op->get<ir::op::Binary>()) {
      auto x = operand(b->a), y = operand(b->b);
      return x && y ? number(ir::evaluate(b->fn, type, ir::Number::integer(*x), ir::Number::integer(*y))) : std::nullopt;
    }
    if (auto* c = op->get<ir::op::Convert>()) {
      auto x = operand(c->x);
      return x ? std::optional(ir::evaluate_convert(kernel.type(c->x).element, type, c->mode, ir::Number::integer(*x)).i) : std::nullopt;
    }
    if (auto* s = op->get<ir::op::Select>()) {
      auto c = operand(s->condition);
      return c ? operand(*c ? s->a : s->b) : std::nullopt;
    }
    auto result = [&](const Values& all) {
      const size_t at = size_t(std::ranges::find(op->results, v) - op->results.begin());
      return at < all.size() ? all[at] : std::nullopt;
    };
    if (auto* branch = op->get<ir::op::If>()) return result(results_of(*branch));
    if (auto* loop = op->get<ir::op::For>()) return result(results_of(*loop));
    if (auto* loop = op->get<ir::op::While>()) return result(results_of(*loop));
    if (auto* c = op->get<ir::op::Compare>()) {
      auto x = operand(c->a), y = operand(c->b);
      if (x && y) return ir::evaluate(c->fn, kernel.type(c->a).element, ir::Number::integer(*x), ir::Number::integer(*y));
    }
    return std::nullopt;
  }
};

}  // namespace

std::optional<int64_t> host_value(const ir::Kernel& kernel, ir::ValueId v, const Dims& dims) { return HostValues{kernel, dims}.of(v); }

}  // namespace tilec
