// Declarations.
#include "base/text.h"
#include "diag/diag.h"
#include "syntax/build.h"
#include "syntax/literals.h"

namespace tilec::syntax {

// The `///` lines that end on the line before `offset`.
std::string Builder::doc_before(uint32_t offset) const {
  auto after = std::ranges::lower_bound(ast_.comments, offset, {}, [](const ast::Comment& c) { return c.span.begin; });
  std::vector<std::string> lines;
  uint32_t next = offset;
  while (after != ast_.comments.begin()) {
    const ast::Comment& comment = *--after;
    std::string_view between = input_.text.substr(comment.span.end, next - comment.span.end);
    bool is_adjacent = trim(between).empty() && std::ranges::count(between, '\n') == 1;
    if (!comment.is_doc || !comment.is_alone || !is_adjacent) break;
    std::string_view line = input_.text.substr(comment.span.begin + 3, comment.span.end - comment.span.begin - 3);
    lines.emplace_back(line.starts_with(' ') ? line.substr(1) : line);
    next = comment.span.begin;
  }
  std::ranges::reverse(lines);
  return join(lines, "\n");
}

ast::Decl* Builder::declaration(P::DeclarationContext* context) {
  ast::Decl result{span(context), ast::Missing{}, attributes(context->attribute()), {}};
  result.doc = doc_before(result.span.begin);
  Rule* body = context->children.empty() ? nullptr : rule_of(context->children.back());
  switch (body ? body->getRuleIndex() : size_t(P::RuleDeclaration)) {
    case P::RuleImportDeclaration: result.node = import(static_cast<P::ImportDeclarationContext*>(body)); break;
    case P::RuleConstDeclaration: {
      auto* value = static_cast<P::ConstDeclarationContext*>(body);
      result.node = ast::Const{name(value->name()), optional_type(value->type()), expression(value->expression())};
      break;
    }
    case P::RuleEnumDeclaration: result.node = enumeration(static_cast<P::EnumDeclarationContext*>(body)); break;
    case P::RuleKernelDeclaration: {
      auto* kernel = static_cast<P::KernelDeclarationContext*>(body);
      ast::Signature head = signature(kernel->signature());
      if (auto* type = kernel->signature() ? kernel->signature()->type() : nullptr)
        diagnostics_.at(span(type)).error(diag::ExpectedToken, "`{`", "a result").help("a kernel has no result: what it makes is stored in an `out`");
      result.node = ast::Kernel{std::move(head), kernel->EXPORT() != nullptr, block(kernel->block())};
      break;
    }
    case P::RuleFnDeclaration: result.node = function(static_cast<P::FnDeclarationContext*>(body)); break;
    case P::RuleOpDeclaration: {
      auto* op = static_cast<P::OpDeclarationContext*>(body);
      result.node = ast::Op{signature(op->signature()), op->EXPORT() != nullptr, expression(op->expression())};
      break;
    }
    case P::RuleExportDeclaration: result.node = export_of(static_cast<P::ExportDeclarationContext*>(body)); break;
    case P::RuleScheduleDeclaration: result.node = schedule(static_cast<P::ScheduleDeclarationContext*>(body)); break;
    case P::RuleTestDeclaration: {
      auto* test = static_cast<P::TestDeclarationContext*>(body);
      result.node = ast::Test{name(test->name()), block(test->block())};
      break;
    }
    case P::RuleTuneDeclaration: result.node = tune(static_cast<P::TuneDeclarationContext*>(body)); break;
    case P::RuleMeshDeclaration: {
      auto* mesh = static_cast<P::MeshDeclarationContext*>(body);
      result.node = ast::Mesh{name(mesh->name()), arguments_of(mesh->argument())};
      break;
    }
    case P::RuleStaticAssert: result.node = static_assertion(static_cast<P::StaticAssertContext*>(body)); break;
    default: ast_.has_errors = true;
  }
  return ast_.add(std::move(result));
}

ast::Import Builder::import(P::ImportDeclarationContext* context) {
  ast::Import result{.path = {}, .file = {}, .source_span = {}, .alias = name(context->name())};
  if (auto* text = context->STRING()) {
    const antlr4::Token* token = text->getSymbol();
    result.file = string_value(std::span(&token, 1));
    result.source_span = span(*token);
  } else {
    result.path = path(context->path());
    result.source_span = span(context->path());
  }
  return result;
}

ast::Enum Builder::enumeration(P::EnumDeclarationContext* context) {
  ast::Enum result{name(context->name(0)), {}};
  for (size_t i = 1; auto* member = context->name(i); ++i)
    result.members.push_back({name(member), doc_before(span(member).begin)});
  return result;
}

ast::Fn Builder::function(P::FnDeclarationContext* context) {
  ast::Fn result{.signature = signature(context->signature()), .is_reference = context->REFERENCE() != nullptr,
      .body = {}};
  if (auto* with = context->signature(); with && with->fnCondition())
    result.condition = expression(with->fnCondition()->expression());
  if (context->block()) result.body = block(context->block());
  else if (context->expression()) result.value = expression(context->expression());
  return result;
}

ast::Export Builder::export_of(P::ExportDeclarationContext* context) {
  ast::Export result{{}, name(context->name()), {}};
  for (auto* instance : context->exportedInstance()) result.instances.push_back({path(instance->path()), generic_arguments(instance->genericArguments())});
  if (auto* where = context->whereClause()) result.where = arguments_of(where->argument());
  // `where N = 4096 as name` reads as a cast of the number.
  const auto* cast = result.where.empty() ? nullptr : result.where.back().value->as<ast::Cast>();
  if (cast && !result.alias.exists()) {
    diagnostics_.at(cast->element.span).error(diag::AliasAfterWhere, "as", "where");
    result.alias = cast->element;
    result.where.back().value = cast->operand;
  }
  return result;
}

ast::Tune Builder::tune(P::TuneDeclarationContext* context) {
  ast::Tune result{.path = path(context->path()), .generics = generic_arguments(context->genericArguments()),
                   .axes = {}, .problem = {}};
  for (auto* axis : context->tuneAxis()) result.axes.push_back({name(axis->name()), expression(axis->expression())});
  if (auto* given = context->givenClause()) result.given = expression(given->expression());
  if (context->pattern()) {
    result.problem = pattern(context->pattern());
    result.problems = expression(context->expression());
  }
  return result;
}

ast::Signature Builder::signature(P::SignatureContext* context) {
  ast::Signature result;
  if (!context) return result;
  result.name = name(context->name());
  result.generics = generic_parameters(context->genericParameters());
  if (auto* list = context->parameters()) {
    for (auto* one : list->parameter()) result.parameters.push_back(parameter(one));
    result.parameters_span = span(list);
  }
  result.result = optional_type(context->type());
  if (auto* contract = context->requiresClause()) result.requirements = expressions(contract->expression());
  return result;
}

std::vector<ast::GenericParameter> Builder::generic_parameters(P::GenericParametersContext* context) {
  std::vector<ast::GenericParameter> list;
  if (!context) return list;
  for (auto* one : context->genericParameter())
    list.push_back({name(one->name()), optional_type(one->type()), optional_expression(one->expression()), span(one)});
  return list;
}

ast::Parameter Builder::parameter(P::ParameterContext* context) {
  ast::Parameter result{.name = name(context->name()), .type = type(context->type()),
                        .default_value = optional_expression(context->expression()), .doc = {}, .span = span(context)};
  result.doc = doc_before(result.span.begin);
  bool has_direction = false;
  for (auto* mode : context->parameterMode()) {
    if (!mode->start) continue;
    size_t type = mode->start->getType();
    bool* flag = type == P::CONST ? &result.is_const : type == P::ALIAS ? &result.is_alias : &has_direction;
    if (std::exchange(*flag, true))
      diagnostics_.at(span(mode)).error(diag::RepeatedModifier, input_.spelling(*mode->start));
    if (type == P::IN) result.says_in = true;
    if (type == P::OUT) result.direction = ast::Direction::Out;
    if (type == P::INOUT) result.direction = ast::Direction::InOut;
  }
  return result;
}

}  // namespace tilec::syntax
