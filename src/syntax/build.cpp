// Names and spans, and the file as a whole.
#include "syntax/build.h"

namespace tilec::syntax {

void Builder::file(TileParser::FileContext* context) {
  if (!context) return;
  for (auto* child : context->declaration()) ast_.declarations.push_back(declaration(child));
}

Span Builder::span(const Rule* context) const {
  if (!context || !context->start) return {};
  size_t begin = context->start->getStartIndex();
  size_t end = context->stop ? context->stop->getStopIndex() + 1 : begin;
  return input_.span(begin, std::max(begin, end));
}

ast::Name Builder::name_of(const antlr4::Token& token) { return {input_.spelling(token), span(token)}; }

ast::Name Builder::name(P::NameContext* context) {
  if (!context || context->children.empty()) return {};
  return name_of(*context->start);
}

std::vector<ast::Name> Builder::names(const std::vector<P::NameContext*>& contexts) {
  std::vector<ast::Name> list;
  for (auto* context : contexts) list.push_back(name(context));
  return list;
}

std::vector<ast::Name> Builder::path(P::PathContext* context) {
  std::vector<ast::Name> list = context ? names(context->name()) : std::vector<ast::Name>{};
  if (list.empty()) list.push_back({});
  return list;
}

}  // namespace tilec::syntax
