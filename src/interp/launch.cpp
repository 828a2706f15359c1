// The host's part: arguments, contract, launches.
#include "interp/compile.h"
#include "interp/schedule.h"

namespace tilec::interp {

using namespace ir;

std::string_view name(FaultKind kind) {
  constexpr std::string_view kNames[] = {
      "contract",   "out of bounds", "uninitialised", "race",     "block race",       "barrier",
      "token",      "flight",        "ring",          "deadlock", "division by zero", "overflow",
      "step limit", "uniformity",    "lane stride",   "loop",     "layout",           "atom"};
  return kNames[int(kind)];
}

Status fail(Run& run, FaultKind kind, uint32_t op, std::string text) {
  return fail_at(run, kind, op == ~0u ? run.kernel.span : run.kernel.ops[op].span, std::move(text));
}
Status fail_at(Run& run, FaultKind kind, Span span, std::string text) {
  if (!run.result.fault) run.result.fault = Fault{kind, span, std::move(text)};
  return Status::Stop;
}

void note_guard(Strand& s, uint32_t op, int64_t line, int64_t index) {
  if (!s.run->result.guard) s.run->result.guard = GuardHit{s.run->kernel.ops[op].span, line, index};
}

std::string name_of(const Allocation& memory) { return memory.name.empty() ? "memory" : "`" + memory.name + "`"; }

namespace {

bool contract(Run& run, std::string text) {
  fail(run, FaultKind::Contract, ~0u, std::move(text));
  return false;
}

// One allocation for each tensor, though several parameters may be given the same one.
Allocation* memory_of(Run& run, std::map<Tensor*, Allocation*>& known, Tensor* tensor, size_t p) {
  Allocation*& memory = known[tensor];
  bool is_new = !memory;
  if (is_new) {
    memory = &run.memory.emplace_back();
    memory->name = run.kernel.params[p].name;
    memory->data = tensor->bytes.data();
    memory->bytes = int64_t(tensor->bytes.size());
    memory->granule = byte_width(tensor->element);
  }
  return memory;
}

View view_of(Allocation* memory, const Tensor& tensor) {
  View view{.memory = memory, .element = tensor.element, .rank = int(tensor.extents.size())};
  std::copy(tensor.extents.begin(), tensor.extents.end(), view.extents);
  std::copy(tensor.strides.begin(), tensor.strides.end(), view.strides);
  view.reach = reach_of(view);
  return view;
}

bool fits(Run& run, const Param& param, const Type& type, const Tensor& tensor) {
  if (tensor.element != type.element)
    return contract(run, "`" + param.name + "` has elements of " + std::string(name(type.element)) +
                             ", the argument of " + std::string(name(tensor.element)));
  if (int(tensor.extents.size()) != type.rank())
    return contract(run, "`" + param.name + "` has " + std::to_string(type.rank()) + " dimensions, the argument " +
                             std::to_string(tensor.extents.size()));
  for (int d = 0; d < type.rank(); ++d)
    if (type.shape[size_t(d)] != kDynamic && type.shape[size_t(d)] != tensor.extents[size_t(d)])
      return contract(run, "extent " + std::to_string(d) + " of `" + param.name + "` is " +
                               std::to_string(type.shape[size_t(d)]) + ", of the argument " +
                               std::to_string(tensor.extents[size_t(d)]));
  if (int64_t(tensor.bytes.size()) < tensor.reach() * byte_width(tensor.element))
    return contract(run, "the bytes of `" + param.name + "` end before its last element");
  return true;
}

bool bind_param(Run& run, Strand& host, std::map<Tensor*, Allocation*>& known, size_t p, const Location& place) {
  const Param& param = run.kernel.params[p];
  const Type& type = run.kernel.type(param.value);
  const Argument& argument = run.arguments[p];
  if (type.is_scalar()) {
    const Number* number = std::get_if<Number>(&argument);
    if (!number) return contract(run, "`" + param.name + "` is a number, the argument is not");
    host.regs[place.slot] = to_slot(type.element, *number);
    return true;
  }
  if (std::holds_alternative<std::monostate>(argument)) {
    if (!param.may_be_null) return contract(run, "`" + param.name + "` may not be null");
    host.views[place.slot] = View{.element = type.element, .rank = type.rank()};
    return true;
  }
  Tensor* const* tensor = std::get_if<Tensor*>(&argument);
  if (!tensor) return contract(run, "`" + param.name + "` is a tensor, the argument is a number");
  if (!fits(run, param, type, **tensor)) return false;
  Allocation* memory = memory_of(run, known, *tensor, p);
  View view = view_of(memory, **tensor);
  bool is_given = param.access != Access::Out;
  if (!(*tensor)->is_dense() || !is_given) mark_existing(*memory, view, is_given);
  if (run.program.written[p] && run.program.tracks_touches && run.options.check_races)
    memory->cells.resize(size_t(memory->granules()));
  if (run.program.written[p]) memory->blocks.resize(1);
  host.views[place.slot] = view;
  return true;
}

// A dim is given by name, or is an extent or stride of some tensor.
std::optional<int64_t> dim_value(const Run& run, const Dim& dim) {
  if (auto it = run.options.dims.find(dim.name); it != run.options.dims.end()) return it->second;
  for (size_t p = 0; p < run.kernel.params.size(); ++p) {
    Tensor* const* tensor = std::get_if<Tensor*>(&run.arguments[p]);
    if (!tensor) continue;
    const Param& param = run.kernel.params[p];
    for (size_t d = 0; d < param.extents.size(); ++d)
      if (param.extents[d] == dim.value && d < (*tensor)->extents.size()) return (*tensor)->extents[d];
    for (size_t d = 0; d < param.strides.size(); ++d)
      if (param.strides[d] == dim.value && d < (*tensor)->strides.size()) return (*tensor)->strides[d];
  }
  return std::nullopt;
}

bool bind(Run& run, Strand& host) {
  const Kernel& kernel = run.kernel;
  if (run.arguments.size() != kernel.params.size())
    return contract(run, "the kernel has " + std::to_string(kernel.params.size()) + " parameters, " +
                             std::to_string(run.arguments.size()) + " arguments are given");
  std::map<Tensor*, Allocation*> known;
  const std::vector<ValueId>& args = kernel.region(kernel.body).args;
  for (size_t a = 0; a < args.size(); ++a) {
    const Location& place = run.program.functions[0].arguments[a];
    for (const Dim& dim : kernel.dims) {
      if (dim.value != args[a]) continue;
      auto value = dim_value(run, dim);
      if (!value) return contract(run, "no argument tells the dim `" + dim.name + "`");
      host.regs[place.slot].i = *value;
    }
    for (size_t p = 0; p < kernel.params.size(); ++p)
      if (kernel.params[p].value == args[a] && !bind_param(run, host, known, p, place)) return false;
  }
  return true;
}

}  // namespace

Status do_check_extent(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  if (!view.memory || view.extents[i.c] == s.at(i.b)->i) return Status::Next;
  return fail(*s.run, FaultKind::Contract, ~0u,
              "extent " + std::to_string(i.c) + " of `" + s.run->kernel.params[size_t(i.imm)].name + "` is " +
                  std::to_string(s.at(i.b)->i) + ", of the argument " + std::to_string(view.extents[i.c]));
}

Status do_check_stride(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  if (!view.memory || view.extents[i.c] <= 1 || view.strides[i.c] == s.at(i.b)->i) return Status::Next;
  return fail(*s.run, FaultKind::Contract, ~0u,
              "stride " + std::to_string(i.c) + " of `" + s.run->kernel.params[size_t(i.imm)].name + "` is " +
                  std::to_string(s.at(i.b)->i) + ", of the argument " + std::to_string(view.strides[i.c]));
}

Status do_check_requirement(Strand& s, const Instr& i) {
  if (s.at(i.a)->i) return Status::Next;
  const Requirement& requirement = s.run->kernel.requirements[size_t(i.imm)];
  Status status = fail(*s.run, FaultKind::Contract, ~0u, "requires " + requirement.text);
  if (s.run->result.fault) s.run->result.fault->span = requirement.span;
  return status;
}

RunResult run(const Kernel& kernel, std::span<const Argument> arguments, const RunOptions& options) {
  Program program = compile(kernel, {.numeric = options.numeric, .machine = options.machine, .takes_ints_exact = options.takes_ints_exact});
  Run run{.program = program, .kernel = kernel, .options = options, .arguments = arguments};
  run.random = options.seed;
  run.resting.resize(program.functions.size());
  Strand nobody;
  Strand* host = make_strand(run, 0, nobody);
  host->parent = nullptr;
  host->name = "the host";
  if (!program.flaw.empty())
    fail(run, FaultKind::Layout, program.flaw_op, program.flaw);
  else if (bind(run, *host))
    execute(*host);
  return std::move(run.result);
}

}  // namespace tilec::interp
