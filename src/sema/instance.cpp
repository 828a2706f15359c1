#include "sema/instance.h"

namespace tilec::sema {

Instance::Instance(Session& session, const Module& module) : session(session), builder(kernel, kernel.new_region()) {
  kernel.body = builder.region();
  builder.keep_operands();
  scopes.emplace_back();
  frames.push_back({.module = &module});
}

namespace {

bool is_in_library(const Instance& in, Span span) {
  return std::ranges::any_of(in.frames, [&](const Frame& frame) {
    return frame.module && frame.module->is_library && frame.module->file == span.file;
  });
}

// A user's mistake stands in the user's text: inside a function of the library that is its call.
Span own_place(const Instance& in, Span span) {
  Span call = in.builder.held_span();
  return call.valid() && is_in_library(in, span) ? call : span;
}

bool lies_in(Span span, Span around) {
  return span.valid() && span.file == around.file && span.begin >= around.begin && span.end <= around.end;
}

}  // namespace

InstancePlace::InstancePlace(const Instance& in, Span span)
    : in_(in), span_(own_place(in, span)), inside_(span_ != span ? span : Span{}), place_(in.session.diagnostics.at(span_)) {}

// An argument is converted while the function's frame is open, and stands in the text of its caller: no call led there.
size_t InstancePlace::frames_around() const {
  if (inside_.valid()) return in_.frames.size();
  auto own = std::ranges::find_if(in_.frames, [&](const Frame& frame) { return frame.call.valid() && lies_in(span_, frame.call); });
  return size_t(own - in_.frames.begin());
}

Report InstancePlace::traced(Report report) const {
  for (size_t i = frames_around(); i-- > 0;) {
    const Frame& frame = in_.frames[i];
    if (!frame.call.valid() || !frame.decl) continue;
    auto* fn = frame.decl->as<ast::Fn>();
    auto* kernel = frame.decl->as<ast::Kernel>();
    if (!fn && !kernel) continue;
    std::string_view called = (fn ? fn->signature : kernel->signature).name.text;
    if (!inside_.valid() || !frame.module->is_library) report.note(frame.call, diag::InstantiatedHere, called);
    else if (frame.call == in_.builder.held_span()) report.note(inside_, diag::InsideLibrary, called);
  }
  return report;
}

void Instance::declare(const ast::Name& name, Value value, std::string_view kind) {
  if (!name.exists() || name.text == "_") return;
  for (const Binding& other : scopes.back())
    if (other.name == name.text) {
      at(name.span).error(diag::Redeclared, name.text).note(other.span, diag::DeclaredHere, name.text);
      return;
    }
  if (scalar_named(name.text)) {
    at(name.span).error(diag::NotAllowedHere, "`" + std::string(name.text) + "`", kBecauseType).help(help_on_type_name(name.text));
    value = Poison{};
  }
  scopes.back().push_back({name.text, name.span, std::move(value), kind});
}

void Instance::declare(const ast::Name& name, VariableId variable) {
  declare(name, Value(Poison{}), "");
  if (scalar_named(name.text)) return;
  if (!scopes.back().empty() && scopes.back().back().name == name.text) scopes.back().back().what = variable;
}

const Binding* Instance::find(std::string_view name) const {
  for (size_t i = scopes.size(); i-- > frames.back().first_scope;)
    for (size_t k = scopes[i].size(); k-- > 0;)
      if (scopes[i][k].name == name) return &scopes[i][k];
  return nullptr;
}

VariableId Instance::new_variable(std::string name, Span span, ir::Type type, ir::ValueId initial) {
  VariableId id{uint32_t(variables.size())};
  variables.push_back({.name = std::move(name), .span = span, .type = std::move(type), .current = {}, .depth = depth});
  if (initial.valid()) set(id, initial);
  return id;
}

void Instance::set(VariableId id, ir::ValueId value) {
  Variable& v = variable(id);
  v.current = value;
  v.was_written = true;
  assigned_when.clear();
  if (kernel.value(value).hint.empty() && kernel.value(value).op.valid() && !kernel.constant(value))
    kernel.value(value).hint = v.name;
}

MemoryId Instance::new_memory(Memory memory) {
  memories.push_back(std::move(memory));
  return {uint32_t(memories.size() - 1)};
}

std::vector<ir::ValueId> Instance::snapshot() const {
  std::vector<ir::ValueId> values;
  for (const Variable& v : variables) values.push_back(v.current);
  return values;
}

void Instance::restore(const std::vector<ir::ValueId>& values) {
  INVARIANT(values.size() <= variables.size(), "variables are a stack: what a snapshot saw is still there");
  for (size_t i = 0; i < values.size(); ++i) variables[i].current = values[i];
}

Value not_supported(Instance& in, Span span, std::string_view what) {
  in.at(span).error(diag::NotSupportedYet, what);
  return Poison{};
}

bool is_too_long(Instance& in, Span span, std::string_view growth) {
  constexpr size_t kMostOperations = 200'000;
  if (std::max(in.kernel.ops.size(), in.rounds) <= kMostOperations) return false;
  std::string what = "a kernel of more than " + std::to_string(kMostOperations) + " operations";
  if (!in.session.diagnostics.has_errors()) not_allowed(in, span, what, "here: " + std::string(growth));
  return true;
}

Value not_allowed(Instance& in, Span span, std::string_view what, std::string_view where, const char* help) {
  auto said = in.at(span).error(diag::NotAllowedHere, what, where);
  if (help) said.help(help);
  return Poison{};
}

bool require_block(Instance& in, Span span, std::string_view what) {
  if (in.level == Level::Block) return true;
  constexpr std::string_view kWhere[] = {"in a compile-time value", "outside of a launch", "",
                                         "inside `parallel` or on one element", "inside `simt`"};
  not_allowed(in, span, what, kWhere[int(in.level)]);
  return false;
}

}  // namespace tilec::sema
