// Exports, launches and threads: what begins a kernel, and in which order its blocks and threads run.
#include <algorithm>
#include <numeric>
#include <random>

#include "judge/evaluator.h"

namespace tilec::judge {

namespace {

constexpr int64_t kMostBlocks = 1 << 22;

const ast::Kernel* kernel_named(const Module& module, std::string_view name) {
  auto found = module.declarations.find(name);
  if (found == module.declarations.end()) return nullptr;
  for (const ast::Decl* decl : found->second)
    if (auto* kernel = decl->as<ast::Kernel>()) return kernel;
  return nullptr;
}

struct Exported {
  const ast::ExportedInstance* instance = nullptr;
  const ast::Export* of = nullptr;
  std::string_view kernel;
};

// The instance of this number; one behind them all is a copy of the first.
Exported find_export(const Ast& ast, const std::string& name, size_t number) {
  for (const ast::Decl* decl : ast.declarations) {
    if (auto* kernel = decl->as<ast::Kernel>(); kernel && kernel->is_exported && kernel->signature.name.text == name) return {nullptr, nullptr, kernel->signature.name.text};
    auto* e = decl->as<ast::Export>();
    if (!e || e->instances.empty()) continue;
    std::string_view own = e->alias.exists() ? e->alias.text : e->instances[0].path.back().text;
    if (own == name) return {&e->instances[number < e->instances.size() ? number : 0], e, ""};
  }
  return {};
}

}  // namespace

void Evaluator::stop(interp::FaultKind kind, Span span, std::string text) { throw Stopped{{kind, span, std::move(text)}}; }
void Evaluator::unknown(Span span, std::string what) { throw Unknown{{span, std::move(what)}}; }

void Evaluator::bind_parameters(const ast::Kernel& kernel, std::span<const interp::Argument> arguments) {
  for (const auto& [name, value] : options_.dims) {
    auto is_parameter = std::ranges::any_of(kernel.signature.parameters, [&](const ast::Parameter& p) { return p.name.text == name; });
    if (!is_parameter) bind(name, integer_of(value));
  }
  for (size_t i = 0; i < kernel.signature.parameters.size(); ++i) {
    const ast::Parameter& p = kernel.signature.parameters[i];
    if (auto* number = std::get_if<ir::Number>(&arguments[i])) bind(p.name.text, from(type_of(*p.type).scalar, *number, false));
    else if (auto* tensor = std::get_if<interp::Tensor*>(&arguments[i])) {
      View view;
      view.memory = std::make_shared<Memory>(std::string(p.name.text), *tensor, p.direction != ast::Direction::Out);
      for (size_t d = 0; d < (*tensor)->extents.size(); ++d) view.axes.push_back({(*tensor)->extents[d], (*tensor)->strides[d]});
      bind(p.name.text, view);
    } else {
      bind(p.name.text, Absent{});
    }
  }
}

void Evaluator::check_contract(const ast::Kernel& kernel) {
  for (const ast::Expr* requirement : kernel.signature.requirements)
    if (!number(*requirement).truth())
      stop(interp::FaultKind::Contract, requirement->span, "requires " + std::string(sources_.text(requirement->span)));
}

void Evaluator::run_export(const std::string& name, size_t number, std::span<const interp::Argument> arguments) {
  Frame frame{modules_.root(), {Scope{}}};
  frame_ = &frame;
  Exported found = find_export(*modules_.root()->ast, name, number);
  Module* home = modules_.root();
  std::string_view kernel_name = found.kernel;
  if (found.instance) {
    for (size_t i = 0; i + 1 < found.instance->path.size(); ++i) {
      auto next = home->imports.find(found.instance->path[i].text);
      if (next == home->imports.end()) unknown(found.instance->path[i].span, "this module");
      home = next->second;
    }
    kernel_name = found.instance->path.back().text;
  }
  const ast::Kernel* kernel = kernel_named(*home, kernel_name);
  if (!kernel || kernel->signature.parameters.size() != arguments.size()) unknown({}, "the export `" + name + "`");
  std::vector<std::pair<std::string_view, Value>> generics;
  size_t next = 0;
  if (found.instance)
    for (const ast::Argument& a : found.instance->generics) {
      std::string_view of = a.is_named() || next >= kernel->signature.generics.size() ? a.name.text : kernel->signature.generics[next++].name.text;
      generics.emplace_back(of, eval(*a.value));
    }
  frame.module = home;
  for (const ast::GenericParameter& g : kernel->signature.generics) {
    auto given = std::ranges::find_if(generics, [&](auto& pair) { return pair.first == g.name.text; });
    if (given == generics.end() && !g.default_value) unknown(g.span, "a parameter without a value");
    Value value = given != generics.end() ? given->second : eval(*g.default_value);
    auto* literal = std::get_if<Number>(&value);
    bind(g.name.text, literal ? Value(settle(*literal, g.span)) : value);
  }
  bind_parameters(*kernel, arguments);
  check_contract(*kernel);
  execute(kernel->body);
}

void Evaluator::launch(const ast::Launch& launched, Span span) {
  Shape grid;
  for (const ast::LaunchAxis& axis : launched.axes) {
    grid.push_back(int64_t(whole_number(*axis.extent)));
    if (grid.back() < 0) stop(interp::FaultKind::Contract, axis.extent->span, "a launch extent is " + std::to_string(grid.back()));
  }
  threads_ = 0;
  for (const ast::LaunchOption& option : launched.options)
    if (option.kind == ast::LaunchOptionKind::Threads) threads_ = int64_t(whole_number(*option.value));
  double blocks = 1;
  for (int64_t extent : grid) blocks *= double(extent);
  if (blocks > double(kMostBlocks)) unknown(span, "a launch of so many blocks");
  std::vector<int64_t> order(size_t(count_of(grid)));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(options_.seed));
  is_in_launch_ = true;
  for (int64_t block : order) {
    frame_->scopes.emplace_back();
    for (size_t d = 0; d < grid.size(); ++d) {
      bind(launched.axes[d].name.text, integer_of(block % grid[d]));
      block /= grid[d];
    }
    execute(launched.body);
    frame_->scopes.pop_back();
  }
  is_in_launch_ = false;
  threads_ = 0;
}

// The parts between the `sync`s of the body run for all threads, one after the other; each thread keeps its names.
void Evaluator::simt(const ast::Simt& body, Span span) {
  if (threads_ <= 0) unknown(span, "threads of a launch that does not say how many");
  struct Thread {
    Scope names;
    bool is_done = false;
  };
  std::vector<Thread> threads(size_t(threads_), Thread{});
  const auto& statements = body.body.statements;
  for (size_t from = 0; from < statements.size();) {
    size_t to = from;
    while (to < statements.size() && !statements[to]->as<ast::Sync>()) ++to;
    for (thread_ = 0; thread_ < threads_; ++thread_) {
      Thread& thread = threads[size_t(thread_)];
      if (thread.is_done) continue;
      frame_->scopes.push_back(std::move(thread.names));
      if (from == 0) bind(body.thread.text, integer_of(thread_));
      for (size_t k = from; k < to && !thread.is_done; ++k) thread.is_done = execute(*statements[k]) != Flow::Next;
      thread.names = std::move(frame_->scopes.back());
      frame_->scopes.pop_back();
    }
    from = to + 1;
  }
  thread_ = -1;
}

Result run(const Ast& root, SourceMap& sources, const SourceProvider& provider, const std::string& export_name, size_t number,
           std::span<const interp::Argument> arguments, const Options& options) {
  Modules modules(root, sources, provider);
  Evaluator evaluator(modules, sources, options);
  try {
    evaluator.run_export(export_name, number, arguments);
  } catch (const Stopped& stopped) {
    return {stopped.fault, {}};
  } catch (const Unknown& unknown) {
    return {{}, unknown.unjudged};
  }
  return {};
}

}  // namespace tilec::judge
