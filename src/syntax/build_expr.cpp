// Expressions. The grammar's chain of operands becomes a tree by precedence climbing.
#include <cmath>
#include <limits>

#include "diag/diag.h"
#include "syntax/build.h"
#include "syntax/literals.h"

namespace tilec::syntax {
namespace {

using ast::BinaryOp;

struct OperatorRow {
  size_t token;
  BinaryOp op;
};
constexpr OperatorRow kOperators[] = {
    {TileParser::OR_OR, BinaryOp::Or}, {TileParser::AND_AND, BinaryOp::And},
    {TileParser::EQUAL, BinaryOp::Equal}, {TileParser::NOT_EQUAL, BinaryOp::NotEqual},
    {TileParser::LESS, BinaryOp::Less}, {TileParser::LESS_EQUAL, BinaryOp::LessEqual},
    {TileParser::GREATER, BinaryOp::Greater}, {TileParser::GREATER_EQUAL, BinaryOp::GreaterEqual},
    {TileParser::OR, BinaryOp::BitOr}, {TileParser::XOR, BinaryOp::BitXor}, {TileParser::AND, BinaryOp::BitAnd},
    {TileParser::SHIFT_LEFT, BinaryOp::ShiftLeft}, {TileParser::SHIFT_RIGHT, BinaryOp::ShiftRight},
    {TileParser::PLUS, BinaryOp::Add}, {TileParser::MINUS, BinaryOp::Subtract},
    {TileParser::STAR, BinaryOp::Multiply}, {TileParser::SLASH, BinaryOp::Divide},
    {TileParser::PERCENT, BinaryOp::Remainder}, {TileParser::AT, BinaryOp::MatrixMultiply},
};

BinaryOp operator_of(size_t token) {
  for (const OperatorRow& row : kOperators)
    if (row.token == token) return row.op;
  return BinaryOp::Add;
}

const int kComparison = precedence(BinaryOp::Equal);

// A stack of operands and one of the operators between them; an operator is applied once the next binds no tighter.
class Climber {
 public:
  Climber(const Input& input, Ast& ast, Diagnostics& diagnostics) : input_(input), ast_(ast), diagnostics_(diagnostics) {}

  void operand(ast::Expr* expr) { operands_.push_back(expr); }

  void binary(BinaryOp op, Span span) {
    reduce(precedence(op));
    if (precedence(op) == kComparison) compare(span, spelling(op));
    operators_.push_back({op, span});
  }

  void cast(ast::Name element) {
    ast::Expr* inner = operands_.back();
    operands_.back() = ast_.add({cover(inner->span, element.span), ast::Cast{inner, element}});
  }

  void is_test(ast::Name name, Span span) {
    reduce(kComparison);
    compare(span, "is");
    ast::Expr* inner = operands_.back();
    operands_.back() = ast_.add({cover(inner->span, name.span), ast::IsTest{inner, name}});
  }

  ast::Expr* finish() {
    reduce(0);
    return operands_.back();
  }

 private:
  struct Pending {
    BinaryOp op;
    Span span;
  };

  void reduce(int least) {
    while (!operators_.empty() && precedence(operators_.back().op) >= least) {
      Pending pending = operators_.back();
      operators_.pop_back();
      ast::Expr* rhs = operands_.back();
      operands_.pop_back();
      ast::Expr* lhs = operands_.back();
      operands_.back() = ast_.add({cover(lhs->span, rhs->span), ast::Binary{pending.op, pending.span, lhs, rhs}});
    }
  }

  // After reduce(kComparison), a comparison on the left is the operand itself.
  void compare(Span span, std::string_view text) {
    const ast::Expr& left = *operands_.back();
    if (left.is_parenthesized) return;
    const auto* before = left.as<ast::Binary>();
    bool is_comparison = before && precedence(before->op) == kComparison;
    if (is_comparison) {
      Span middle = before->rhs->span;
      std::string again = " && " + std::string(input_.text.substr(middle.begin, middle.end - middle.begin));
      diagnostics_.at(span).error(diag::ChainedComparison, text, spelling(before->op)).mark(before->op_span)
          .fix({middle.file, middle.end, middle.end}, again, "each comparison stands alone: `a < b && b < c`");
    }
    bool is_test = left.as<ast::IsTest>();
    if (is_test) diagnostics_.at(span).error(diag::ChainedComparison, text, "is");
    if (is_comparison || is_test) operands_.back() = ast_.add(ast::Expr{left.span, ast::Missing{}});
  }

  const Input& input_;
  Ast& ast_;
  Diagnostics& diagnostics_;
  std::vector<ast::Expr*> operands_;
  std::vector<Pending> operators_;
};

ast::UnaryOp unary_of(size_t token) {
  if (token == TileParser::NOT) return ast::UnaryOp::Not;
  return token == TileParser::TILDE ? ast::UnaryOp::BitNot : ast::UnaryOp::Negate;
}

}  // namespace

ast::Expr* Builder::missing(Span where) {
  ast_.has_errors = true;
  return make(where, ast::Missing{});
}

ast::Expr* Builder::expression(P::ExpressionContext* context) {
  if (!context || context->children.empty()) return missing(span(context));
  antlr4::tree::ParseTree* child = context->children[0];
  if (auto* chosen = rule_as<P::IfExpressionContext>(child, P::RuleIfExpression)) return if_expression(chosen);
  if (context->QUESTION()) return conditional(context);
  return binary(rule_as<P::BinaryExpressionContext>(child, P::RuleBinaryExpression));
}

// `a ? b : c` of other languages.
ast::Expr* Builder::conditional(P::ExpressionContext* context) {
  Span all = span(context);
  auto report = diagnostics_.at(span(*context->QUESTION()->getSymbol())).error(diag::ConditionalOperator);
  if (antlr4::tree::TerminalNode* colon = context->COLON(); colon && colon->getSymbol()->getTokenIndex() != size_t(-1)) {
    Span begin{all.file, all.begin, all.begin}, end{all.file, all.end, all.end};
    report.fix({{begin, "if "}, {span(*context->QUESTION()->getSymbol()), "{"}, {span(*colon->getSymbol()), "} else {"}, {end, " }"}},
               "write it with `if`");
  }
  report.help("a choice for each element of whole tiles is `select(condition, a, b)`");
  for (P::ExpressionContext* part : context->expression()) expression(part);
  return missing(all);
}

std::vector<const ast::Expr*> Builder::expressions(const std::vector<P::ExpressionContext*>& contexts) {
  std::vector<const ast::Expr*> list;
  list.reserve(contexts.size());
  for (auto* context : contexts) list.push_back(expression(context));
  return list;
}

ast::Expr* Builder::if_expression(P::IfExpressionContext* context) {
  const ast::Expr* otherwise =
      context->ifExpression() ? if_expression(context->ifExpression()) : expression(context->expression(2));
  return make(span(context), ast::IfExpr{expression(context->expression(0)), expression(context->expression(1)),
      otherwise});
}

ast::Expr* Builder::binary(P::BinaryExpressionContext* context) {
  if (!context || context->children.empty()) return missing(span(context));
  Climber climber(input_, ast_, diagnostics_);
  auto& children = context->children;
  climber.operand(operand(rule_as<P::OperandContext>(children[0], P::RuleOperand)));
  for (size_t i = 1; i < children.size(); i += 2) {
    antlr4::tree::ParseTree* next = i + 1 < children.size() ? children[i + 1] : nullptr;
    if (const antlr4::Token* word = token_of(children[i])) {
      ast::Name element = name(rule_as<P::NameContext>(next, P::RuleName));
      if (word->getType() == P::AS) climber.cast(element);
      else climber.is_test(element, span(*word));
    } else if (auto* op = rule_as<P::BinaryOperatorContext>(children[i], P::RuleBinaryOperator); op && op->start) {
      climber.binary(operator_of(op->start->getType()), span(*op->start));
      climber.operand(operand(rule_as<P::OperandContext>(next, P::RuleOperand)));
    }
  }
  return climber.finish();
}

ast::Expr* Builder::operand(P::OperandContext* context) {
  if (!context) return missing({});
  std::vector<const antlr4::Token*> prefixes;
  ast::Expr* expr = nullptr;
  auto& children = context->children;
  for (size_t i = 0; i < children.size(); ++i) {
    Rule* rule = rule_of(children[i]);
    if (!rule) continue;
    if (rule->getRuleIndex() == P::RulePrefixOperator) {
      if (rule->start) prefixes.push_back(rule->start);
    } else if (rule->getRuleIndex() == P::RulePrimary) {
      expr = primary(static_cast<P::PrimaryContext*>(rule));
    } else if (expr && rule->getRuleIndex() == P::RulePostfix) {
      auto* next = rule_as<P::PostfixContext>(i + 1 < children.size() ? children[i + 1] : nullptr, P::RulePostfix);
      bool takes_next = false;
      expr = postfix(expr, static_cast<P::PostfixContext*>(rule), next, takes_next);
      i += takes_next;
    }
  }
  if (!expr) expr = missing(span(context));
  for (size_t i = prefixes.size(); i-- > 0;) {
    Span op = span(*prefixes[i]);
    expr = make(cover(op, expr->span), ast::Unary{unary_of(prefixes[i]->getType()), op, expr});
  }
  return expr;
}

ast::Expr* Builder::primary(P::PrimaryContext* context) {
  if (context->children.empty()) return missing(span(context));
  if (auto* simple = rule_as<P::NameContext>(context->children[0], P::RuleName)) {
    ast::Name id = name(simple);
    return id.exists() ? make(id.span, ast::NameRef{id}) : missing(span(context));
  }
  const antlr4::Token* first = token_of(context->children[0]);
  if (!first) return missing(span(context));
  bool is_paren = first->getType() == P::LEFT_PAREN;
  if (!is_paren && first->getType() != P::LEFT_BRACKET) {
    if (first->getType() != P::STRING) return literal(*first);
    std::vector<const antlr4::Token*> parts;
    for (auto* part : context->STRING()) parts.push_back(part->getSymbol());
    return make(span(context), ast::StringLiteral{string_value(parts)});
  }
  std::vector<P::ExpressionContext*> elements = context->expression();
  if (!is_paren) return make(span(context), ast::List{expressions(elements)});
  if (elements.size() != 1 || context->COMMA().size() > 0) return
      make(span(context), ast::Tuple{expressions(elements)});
  ast::Expr* inner = expression(elements[0]);
  if (!inner->is_parenthesized) inner->bare_span = inner->span;
  inner->span = span(context);
  inner->is_parenthesized = true;
  return inner;
}

ast::Expr* Builder::literal(const antlr4::Token& token) {
  Span where = span(token);
  std::string_view text = input_.spelling(token);
  switch (token.getType()) {
    case P::TRUE: return make(where, ast::BoolLiteral{true});
    case P::FALSE: return make(where, ast::BoolLiteral{false});
    case P::INFINITE: return make(where, ast::FloatLiteral::of(std::numeric_limits<double>::infinity()));
    case P::NOT_A_NUMBER: return make(where, ast::FloatLiteral::of(std::numeric_limits<double>::quiet_NaN()));
    case P::FLOAT:
      if (auto value = float_value(text)) {
        if (std::isinf(value->nearest)) diagnostics_.at(where).error(diag::NumberTooLarge, text);
        return make(where, ast::FloatLiteral{value->nearest, value->odd});
      }
      return missing(where);
    default: break;
  }
  Integer integer = integer_value(text);
  if (integer.fault == NumberFault::TooLarge) diagnostics_.at(where).error(diag::NumberTooLarge, text);
  // A malformed one has been reported where it was read.
  return integer.fault == NumberFault::None ? make(where, ast::IntLiteral{integer.value}) : missing(where);
}

std::string Builder::string_value(std::span<const antlr4::Token* const> tokens) {
  std::string value;
  for (const antlr4::Token* token : tokens) {
    std::string_view text = input_.spelling(*token);
    Unescaped part = unescape(text);
    if (part.bad_length) {
      size_t begin = token->getStartIndex() + part.bad_at;
      diagnostics_.at(input_.span(begin, begin + part.bad_length))
          .error(diag::BadEscape, text.substr(part.bad_at, part.bad_length));
    }
    value += part.value;
  }
  return value;
}

}  // namespace tilec::syntax
