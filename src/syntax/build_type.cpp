// Types.
#include "syntax/build.h"

namespace tilec::syntax {
namespace {

ast::Space space_of(size_t token) {
  switch (token) {
    case TileParser::SHARED: return ast::Space::Shared;
    case TileParser::FRAGMENT: return ast::Space::Fragment;
    case TileParser::LOCAL: return ast::Space::Local;
    case TileParser::WORKSPACE: return ast::Space::Workspace;
    case TileParser::TENSOR_MEMORY: return ast::Space::TensorMemory;
    default: return ast::Space::None;
  }
}

}  // namespace

const ast::Type* Builder::type(P::TypeContext* context) {
  if (!context || context->children.empty()) {
    ast_.has_errors = true;
    return ast_.add(ast::Type{span(context), ast::Missing{}});
  }
  if (context->path()) return ast_.add(ast::Type{span(context), shaped_type(context)});
  std::vector<const ast::Type*> parts;
  for (auto* part : context->type()) parts.push_back(type(part));
  if (!context->FN()) return ast_.add(ast::Type{span(context), ast::TupleType{std::move(parts)}});
  if (parts.empty()) parts.push_back(type(nullptr));
  const ast::Type* result = parts.back();
  parts.pop_back();
  return ast_.add(ast::Type{span(context), ast::FunctionType{std::move(parts), result}});
}

ast::ShapedType Builder::shaped_type(P::TypeContext* context) {
  ast::ShapedType shaped;
  if (auto* space = context->space(); space && space->start) {
    shaped.space = space_of(space->start->getType());
    shaped.space_span = span(space);
  }
  shaped.path = path(context->path());
  if (auto* extents = context->extents()) {
    shaped.has_extents = true;
    shaped.extents = expressions(extents->expression());
    if (auto* strides = extents->strides()) shaped.strides = expressions(strides->expression());
  }
  shaped.is_nullable = context->QUESTION() != nullptr;
  if (auto* spread = context->distribution()) {
    shaped.distribution = spread->REPLICATED() ? ast::Distribution::Replicated : ast::Distribution::Sharded;
    for (auto* axis : spread->axisName()) shaped.axes.push_back(axis->start ? name_of(*axis->start) : ast::Name{});
    shaped.mesh = name(spread->name());
  }
  return shaped;
}

}  // namespace tilec::syntax
