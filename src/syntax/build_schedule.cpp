// Schedules.
#include "syntax/build.h"

namespace tilec::syntax {

ast::Schedule Builder::schedule(P::ScheduleDeclarationContext* context) {
  ast::Schedule result{.path = path(context->path()), .generics = generic_arguments(context->genericArguments()),
                       .where = {}, .is_wide = context->WIDE() != nullptr, .targets = {}, .items = {}, .items_span = {}};
  if (auto* where = context->whereClause()) result.where = arguments_of(where->argument());
  for (auto* target : context->targetName()) {
    if (!target->start) continue;
    ast::Name word = name_of(*target->start);
    if (target->STRING() && word.text.size() >= 2) word.text = word.text.substr(1, word.text.size() - 2);
    result.targets.push_back(word);
  }
  for (auto* item : context->scheduleItem())
    if (!item->children.empty()) result.items.push_back(schedule_item(item));
  if (auto* brace = context->LEFT_BRACE()) result.items_span = cover(span(*brace->getSymbol()), {});
  if (context->stop) result.items_span = cover(result.items_span, span(*context->stop));
  return result;
}

ast::ScheduleItem Builder::schedule_item(P::ScheduleItemContext* context) {
  Span where = span(context);
  if (auto* item = context->layoutItem()) {
    Span text = span(item->layoutText());
    return {where, ast::LayoutItem{names(item->nameList() ? item->nameList()->name() : std::vector<P::NameContext*>{}),
                                   input_.text.substr(text.begin, text.end - text.begin), text}};
  }
  if (auto* item = context->pipelineItem()) {
    ast::PipelineItem result{name(item->name()), {}, {}};
    if (item->nameList()) result.members = names(item->nameList()->name());
    if (auto* depth = item->depthClause(); depth && depth->start)
      result.clauses.push_back({name_of(*depth->start), expression(depth->expression())});
    for (ast::Clause& more : clauses(item->clause())) result.clauses.push_back(more);
    return {where, std::move(result)};
  }
  if (auto* item = context->roleItem()) {
    std::vector<ast::Name> list = names(item->name());
    ast::RoleItem result{list.empty() ? ast::Name{} : list[0], clauses(item->clause()), {}};
    if (!list.empty()) result.labels.assign(list.begin() + 1, list.end());
    return {where, std::move(result)};
  }
  if (auto* item = context->placeItem())
    return {where, ast::PlaceItem{names(item->nameList() ? item->nameList()->name() : std::vector<P::NameContext*>{}),
                                  clauses(item->clause())}};
  if (auto* item = context->requireItem())
    return {where, ast::RequireItem{names(item->nameList() ? item->nameList()->name()
        : std::vector<P::NameContext*>{})}};
  return {where, launch_option(context->launchOption())};
}

ast::LaunchOption Builder::launch_option(P::LaunchOptionContext* context) {
  ast::LaunchOption result{ast::LaunchOptionKind::Persistent, span(context), nullptr};
  if (!context || context->PERSISTENT()) return result;
  result.kind = context->THREADS()   ? ast::LaunchOptionKind::Threads
                : context->CLUSTER() ? ast::LaunchOptionKind::Cluster
                : context->RASTER()  ? ast::LaunchOptionKind::Raster
                                     : ast::LaunchOptionKind::Split;
  result.value = expression(context->expression());
  return result;
}

ast::Clause Builder::clause(P::ClauseContext* context) {
  return {name(context->name()), optional_expression(context->expression())};
}

std::vector<ast::Clause> Builder::clauses(const std::vector<P::ClauseContext*>& contexts) {
  std::vector<ast::Clause> list;
  for (auto* context : contexts) list.push_back(clause(context));
  return list;
}

}  // namespace tilec::syntax
