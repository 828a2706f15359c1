// What follows an operand: members, calls, regions.
#include "diag/diag.h"
#include "syntax/build.h"

namespace tilec::syntax {

// `next` is the postfix after this one: a region with arguments right behind it is a list of generic arguments, and
// both become one call.
ast::Expr* Builder::postfix(ast::Expr* base, P::PostfixContext* link, P::PostfixContext* next, bool& takes_next) {
  auto arguments_in = [](P::PostfixContext* context) {
    bool has_child = context && !context->children.empty();
    return rule_as<P::ArgumentsContext>(has_child ? context->children[0] : nullptr, P::RuleArguments);
  };
  if (link->children.empty()) return base;
  if (auto* arguments = arguments_in(link)) return call(base, nullptr, arguments);
  if (auto* region = rule_as<P::RegionContext>(link->children[0], P::RuleRegion)) {
    if (auto* arguments = arguments_in(next)) {
      takes_next = true;
      return call(base, region, arguments);
    }
    return index(base, region);
  }
  ast::Name member = name(link->name());
  if (!member.exists()) ast_.has_errors = true;
  return make(cover(base->span, span(link)), ast::Member{base, member});
}

ast::Expr* Builder::call(ast::Expr* callee, P::RegionContext* generics, P::ArgumentsContext* context) {
  ast::Call node{.callee = callee, .generics = {}, .generics_span = {}, .arguments = {}, .arguments_span =
      span(context)};
  if (generics) {
    node.generics = generics_of(generics);
    node.generics_span = span(generics);
  }
  node.arguments = arguments(context);
  return make(cover(callee->span, span(context)), std::move(node));
}

ast::Expr* Builder::index(ast::Expr* base, P::RegionContext* context) {
  ast::Index node{.base = base, .subscripts = {}, .options = {}, .brackets_span = span(context)};
  for (auto* part : context->subscript()) {
    if (part->name()) node.options.push_back({name(part->name()), expression(part->expression(0)), span(part)});
    else node.subscripts.push_back(subscript(part));
  }
  return make(cover(base->span, span(context)), std::move(node));
}

ast::Subscript Builder::subscript(P::SubscriptContext* context) {
  ast::Subscript result{ast::SubscriptKind::Index, span(context)};
  if (context->UNDERSCORE()) {
    result.kind = ast::SubscriptKind::NewAxis;
    return result;
  }
  auto parts = context->expression();
  if (context->PLUS_COLON()) {
    result.kind = ast::SubscriptKind::Length;
    result.lo = expression(parts.size() > 0 ? parts[0] : nullptr);
    result.hi = expression(parts.size() > 1 ? parts[1] : nullptr);
  } else if (context->COLON()) {
    result.kind = parts.empty() ? ast::SubscriptKind::All : ast::SubscriptKind::Bounds;
    bool begins_with_colon = token_of(context->children[0]) != nullptr;
    if (!begins_with_colon && parts.size() > 0) result.lo = expression(parts[0]);
    if (begins_with_colon && parts.size() > 0) result.hi = expression(parts[0]);
    if (!begins_with_colon && parts.size() > 1) result.hi = expression(parts[1]);
  } else {
    result.lo = expression(parts.empty() ? nullptr : parts[0]);
  }
  return result;
}

std::vector<ast::Argument> Builder::generics_of(P::RegionContext* context) {
  std::vector<ast::Argument> list;
  for (auto* part : context->subscript()) {
    bool is_value = !part->COLON() && !part->PLUS_COLON() && !part->UNDERSCORE();
    if (!is_value) diagnostics_.at(span(part)).error(diag::ExpectedToken, "a type or a value", "a range of indices");
    list.push_back({name(part->name()), is_value ? expression(part->expression(0)) : missing(span(part)), span(part)});
  }
  return list;
}

ast::Argument Builder::argument(P::ArgumentContext* context) {
  if (!context || context->children.empty()) return {{}, missing(span(context)), span(context)};
  ast::Name given = name(rule_as<P::NameContext>(context->children[0], P::RuleName));
  return {given, expression(rule_as<P::ExpressionContext>(context->children.back(), P::RuleExpression)), span(context)};
}

std::vector<ast::Argument> Builder::arguments_of(const std::vector<P::ArgumentContext*>& contexts) {
  std::vector<ast::Argument> list;
  list.reserve(contexts.size());
  for (auto* context : contexts) list.push_back(argument(context));
  return list;
}

std::vector<ast::Argument> Builder::arguments(P::ArgumentsContext* context) {
  return context ? arguments_of(context->argument()) : std::vector<ast::Argument>{};
}

std::vector<ast::Argument> Builder::generic_arguments(P::GenericArgumentsContext* context) {
  return context ? arguments_of(context->argument()) : std::vector<ast::Argument>{};
}

}  // namespace tilec::syntax
