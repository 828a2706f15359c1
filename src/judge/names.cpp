// Modules, names and types as the program writes them.
#include "diag/diag.h"
#include "judge/evaluator.h"
#include "syntax/parse.h"

namespace tilec::judge {

Modules::Modules(const Ast& root, SourceMap& sources, const SourceProvider& provider) : sources_(sources), provider_(provider) {
  prelude_ = load(provider_.module("std.core"));
  root_ = add(root, std::string(sources.name(root.file)));
}

Module* Modules::load(std::optional<SourceProvider::Source> source) {
  if (!source) return nullptr;
  if (auto found = modules_.find(source->name); found != modules_.end()) return found->second.get();
  tilec::Diagnostics own{Policy{}};
  FileId file = sources_.add(source->name, std::move(source->text));
  asts_.push_back(std::make_unique<Ast>(parse(file, sources_, own, Reading::AsWritten)));
  return add(*asts_.back(), source->name);
}

Module* Modules::add(const Ast& ast, std::string name) {
  Module* module = (modules_[name] = std::make_unique<Module>()).get();
  module->ast = &ast;
  module->name = name;
  for (const ast::Decl* decl : ast.declarations) {
    if (auto* c = decl->as<ast::Const>()) module->declarations[c->name.text].push_back(decl);
    if (auto* e = decl->as<ast::Enum>()) module->declarations[e->name.text].push_back(decl);
    if (auto* k = decl->as<ast::Kernel>()) module->declarations[k->signature.name.text].push_back(decl);
    if (auto* f = decl->as<ast::Fn>()) module->declarations[f->signature.name.text].push_back(decl);
    auto* import = decl->as<ast::Import>();
    if (!import) continue;
    std::string path;
    for (const ast::Name& part : import->path) path += (path.empty() ? "" : ".") + std::string(part.text);
    Module* imported = load(import->path.empty() ? provider_.file(name, import->file) : provider_.module(path));
    std::string_view alias = import->alias.exists() ? import->alias.text : import->path.empty() ? std::string_view() : import->path.back().text;
    if (imported) module->imports[alias] = imported;
  }
  return module;
}

Binding* Evaluator::find(std::string_view name) {
  for (size_t s = frame_->scopes.size(); s-- > 0;) {
    auto& names = frame_->scopes[s].names;
    for (size_t n = names.size(); n-- > 0;)
      if (names[n].first == name) return names[n].second.get();
  }
  return nullptr;
}

void Evaluator::bind(std::string_view name, Value value) {
  if (name != "_") frame_->scopes.back().names.emplace_back(name, std::make_shared<Binding>(Binding{std::move(value), true}));
}

std::optional<Value> Evaluator::value_in(Module& module, std::string_view name) {
  if (auto found = module.imports.find(name); found != module.imports.end()) return ModuleValue{found->second};
  auto found = module.declarations.find(name);
  if (found == module.declarations.end()) return std::nullopt;
  const ast::Decl* decl = found->second.front();
  if (auto* e = decl->as<ast::Enum>()) return EnumType{e};
  auto* constant = decl->as<ast::Const>();
  if (!constant) return std::nullopt;
  if (auto known = module.constants.find(decl); known != module.constants.end()) return known->second;
  Frame frame{&module, {Scope{}}};
  Frame* before = frame_;
  frame_ = &frame;
  Value value = eval(*constant->value);
  if (constant->type) value = converted(value, type_of(*constant->type).scalar, decl->span, false);
  frame_ = before;
  return module.constants[decl] = value;
}

// An element would have kept what it held; the number that stands for it is padding.
void Evaluator::ask_cell(const Binding& binding, Span span) {
  auto* number = binding.is_cell ? std::get_if<Number>(&binding.value) : nullptr;
  if (number && number->is_padding()) unknown(span, "what stands for an element to which padding was assigned");
}

Value Evaluator::name_value(const ast::Name& name) {
  if (Binding* binding = find(name.text)) {
    if (!binding->is_set) stop(interp::FaultKind::Uninitialised, name.span, "`" + std::string(name.text) + "` is read before it is written");
    ask_cell(*binding, name.span);
    return binding->value;
  }
  if (auto value = value_in(*frame_->module, name.text)) return *value;
  if (name.text == "threads" && threads_) return integer_of(threads_);
  if (auto scalar = scalar_named(name.text)) return TypeValue{*scalar};
  if (modules_.prelude())
    if (auto value = value_in(*modules_.prelude(), name.text)) return *value;
  unknown(name.span, "the name `" + std::string(name.text) + "`");
}

std::vector<std::pair<Module*, const ast::Fn*>> Evaluator::functions_named(std::string_view name, Module& module) {
  std::vector<std::pair<Module*, const ast::Fn*>> out;
  if (auto found = module.declarations.find(name); found != module.declarations.end())
    for (const ast::Decl* decl : found->second)
      if (auto* fn = decl->as<ast::Fn>()) out.emplace_back(&module, fn);
  return out;
}

Type Evaluator::type_of(const ast::Type& type) {
  auto* shaped = type.as<ast::ShapedType>();
  if (!shaped) unknown(type.span, "this type");
  Type out;
  out.space = shaped->space;
  const ast::Name& first = shaped->path.front();
  Binding* bound = find(first.text);
  if (auto* t = bound ? std::get_if<TypeValue>(&bound->value) : nullptr) out.scalar = t->scalar;
  else if (auto scalar = scalar_named(first.text)) out.scalar = *scalar;
  else out.other = None{};
  out.is_tile = shaped->has_extents;
  for (const ast::Expr* extent : shaped->extents) {
    auto* name = extent->as<ast::NameRef>();
    Binding* shape = name ? find(name->name.text) : nullptr;
    auto* s = shape ? std::get_if<ShapeValue>(&shape->value) : nullptr;
    Value value = s ? Value(*s) : eval(*extent);
    if (auto* list = std::get_if<ShapeValue>(&value)) out.shape.insert(out.shape.end(), list->extents.begin(), list->extents.end());
    else out.shape.push_back(int64_t(number_of(value, extent->span).i));
  }
  return out;
}

std::optional<Scalar> Evaluator::scalar_of_value(const Value& value) {
  if (auto* n = std::get_if<Number>(&value)) return n->is_literal ? std::nullopt : std::optional(n->type);
  if (auto* t = std::get_if<TilePtr>(&value)) return (*t)->type;
  if (auto* v = std::get_if<View>(&value)) return v->memory->element;
  if (auto* p = std::get_if<Pending>(&value)) return p->type;
  return std::nullopt;
}

// A function that gives what it takes says its type by its arguments.
std::optional<Scalar> Evaluator::scalar_of_call(const ast::Call& call) {
  std::string_view name;
  std::vector<std::pair<Module*, const ast::Fn*>> functions;
  const ast::Expr* receiver = receiver_of(call, functions, name);
  if (!call.generics.empty() && (name == "convert" || name == "wrap" || name == "bits")) {
    Value t = eval(*call.generics[0].value);
    if (auto* type = std::get_if<TypeValue>(&t)) return type->scalar;
  }
  if (name == "tile" && receiver) return scalar_of(*receiver);
  for (auto& [module, fn] : functions) {
    auto* result = fn->signature.result ? fn->signature.result->as<ast::ShapedType>() : nullptr;
    if (!result || !suits(*fn, call, receiver)) continue;
    if (auto fixed = scalar_named(result->path.front().text)) return fixed;
    for (size_t i = 0; i < fn->signature.parameters.size(); ++i) {
      auto* p = fn->signature.parameters[i].type->as<ast::ShapedType>();
      size_t at = i - (receiver ? 1 : 0);
      const ast::Expr* argument = receiver && i == 0 ? receiver : at < call.arguments.size() ? call.arguments[at].value : nullptr;
      if (!p || !argument || p->path.front().text != result->path.front().text) continue;
      if (auto type = scalar_of(*argument)) return type;
    }
  }
  return std::nullopt;
}

std::optional<Scalar> Evaluator::scalar_of(const ast::Expr& expr) {
  if (auto* name = expr.as<ast::NameRef>()) {
    Binding* binding = find(name->name.text);
    if (binding) return scalar_of_value(binding->value);
    auto value = value_in(*frame_->module, name->name.text);
    return value ? scalar_of_value(*value) : std::nullopt;
  }
  if (auto* unary = expr.as<ast::Unary>()) return scalar_of(*unary->operand);
  if (auto* member = expr.as<ast::Member>()) return scalar_of(*member->base);
  if (auto* index = expr.as<ast::Index>()) return scalar_of(*index->base);
  if (auto* call = expr.as<ast::Call>()) return scalar_of_call(*call);
  if (auto* cast = expr.as<ast::Cast>()) {
    Value type = name_value(cast->element);
    auto* t = std::get_if<TypeValue>(&type);
    return t ? std::optional(t->scalar) : std::nullopt;
  }
  auto either = [&](const ast::Expr& a, const ast::Expr& b) {
    auto x = scalar_of(a);
    return x && *x != Scalar::Index ? x : [&] { auto y = scalar_of(b); return y ? y : x; }();
  };
  if (auto* choice = expr.as<ast::IfExpr>()) return either(*choice->then_value, *choice->else_value);
  if (auto* binary = expr.as<ast::Binary>()) {
    bool is_truth = binary->op >= ast::BinaryOp::Or && binary->op <= ast::BinaryOp::GreaterEqual;
    return is_truth ? Scalar::Bool : either(*binary->lhs, *binary->rhs);
  }
  return expr.as<ast::BoolLiteral>() ? std::optional(Scalar::Bool) : std::nullopt;
}

// Lengths are known at compile time, and evaluating them changes nothing.
std::optional<Shape> Evaluator::shape_of_part(const ast::Index& index) {
  if (auto* member = index.base->as<ast::Member>(); member && member->name.text == "reshape") {
    Shape out;
    for (const ast::Subscript& s : index.subscripts) out.push_back(int64_t(whole_number(*s.lo)));
    return out;
  }
  auto* name = index.base->as<ast::NameRef>();
  Binding* binding = name ? find(name->name.text) : nullptr;
  auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
  if (!view || index.subscripts.size() != view->axes.size()) return std::nullopt;
  Shape out;
  for (size_t d = 0; d < index.subscripts.size(); ++d) {
    const ast::Subscript& s = index.subscripts[d];
    if (s.kind == ast::SubscriptKind::Index) continue;
    if (s.kind == ast::SubscriptKind::Length) out.push_back(int64_t(whole_number(*s.hi)));
    else if (s.kind == ast::SubscriptKind::All) out.push_back(view->axes[d].extent);
    else return std::nullopt;
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

std::optional<Shape> Evaluator::shape_of_tile(const ast::Expr& expr) {
  auto either = [&](const ast::Expr& a, const ast::Expr& b) {
    auto x = shape_of_tile(a);
    return x ? x : shape_of_tile(b);
  };
  if (auto* name = expr.as<ast::NameRef>()) {
    Binding* binding = find(name->name.text);
    if (!binding) return std::nullopt;
    if (auto* tile = std::get_if<TilePtr>(&binding->value)) return (*tile)->shape;
    auto* view = std::get_if<View>(&binding->value);
    return view && view->kind != Kind::Tensor && !view->axes.empty() ? std::optional(view->extents()) : std::nullopt;
  }
  if (auto* unary = expr.as<ast::Unary>()) return shape_of_tile(*unary->operand);
  if (auto* cast = expr.as<ast::Cast>()) return shape_of_tile(*cast->operand);
  if (auto* choice = expr.as<ast::IfExpr>()) return either(*choice->then_value, *choice->else_value);
  if (auto* binary = expr.as<ast::Binary>(); binary && binary->op != ast::BinaryOp::MatrixMultiply) return either(*binary->lhs, *binary->rhs);
  if (auto* index = expr.as<ast::Index>()) return shape_of_part(*index);
  auto* call = expr.as<ast::Call>();
  auto* member = call ? call->callee->as<ast::Member>() : nullptr;
  if (member && member->name.text == "tile" && !call->generics.empty()) return shape_of(call->generics);
  return call ? shape_of_result(*call) : std::nullopt;
}

// Of a function whose result says its shape in numbers.
std::optional<Shape> Evaluator::shape_of_result(const ast::Call& call) {
  std::string_view name;
  std::vector<std::pair<Module*, const ast::Fn*>> functions;
  const ast::Expr* receiver = receiver_of(call, functions, name);
  for (auto& [module, fn] : functions) {
    auto* result = fn->signature.result ? fn->signature.result->as<ast::ShapedType>() : nullptr;
    if (!result || result->extents.empty() || !suits(*fn, call, receiver)) continue;
    Shape out;
    for (const ast::Expr* extent : result->extents)
      if (auto* n = extent->as<ast::IntLiteral>()) out.push_back(int64_t(n->value));
    if (out.size() == result->extents.size()) return out;
  }
  return std::nullopt;
}

}  // namespace tilec::judge
