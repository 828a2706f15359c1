#include "sema/shapeless.h"

namespace tilec::sema {
namespace {

// The number of indices of the first `A.tile(i, j)` within; 0: there is none.
struct FindTile {
  size_t operator()(const ast::Call& call) const {
    auto* member = call.callee->as<ast::Member>();
    bool is_tile = member && member->name.text == "tile";
    size_t rank = member && !is_tile ? in(member->base) : 0;
    for (const ast::Argument& a : call.arguments) {
      if (is_tile) rank += !a.is_named();
      else if (rank == 0) rank = in(a.value);
    }
    return rank;
  }
  size_t operator()(const ast::Binary& n) const { return first(n.lhs, n.rhs); }
  size_t operator()(const ast::Unary& n) const { return in(n.operand); }
  size_t operator()(const ast::Cast& n) const { return in(n.operand); }
  size_t operator()(const ast::IfExpr& n) const { return first(n.then_value, n.else_value); }
  size_t operator()(const ast::Index& n) const { return in(n.base); }
  template <class T> size_t operator()(const T&) const { return 0; }

  size_t in(const ast::Expr* expr) const { return expr ? std::visit(*this, expr->node) : 0; }
  size_t first(const ast::Expr* a, const ast::Expr* b) const {
    size_t rank = in(a);
    return rank ? rank : in(b);
  }
};

}  // namespace

std::string tile_with_shape(size_t rank) {
  if (rank == 1) return ".tile[LENGTH](...)";
  std::string more;
  for (size_t i = 2; i < rank; ++i) more += "EXTENT, ";
  return ".tile[" + more + "ROWS, COLUMNS](...)";
}

void report_shapeless(Instance& in, const Operand& operand) {
  size_t rank = FindTile{}.in(operand.value.as<Shapeless>()->expr);
  in.at(operand.span).error(diag::TileShapeUnknown).help("write it: `" + tile_with_shape(rank) + "`");
}

void give_shape(Instance& in, Operand& operand, const Shape& shape) {
  if (auto* open = operand.value.as<Shapeless>()) operand.value = Value(*open).as<Shapeless>()->resume(in, shape);
}

Value with_shape(Instance& in, const ast::Expr& expr, std::span<const Operand> operands,
                 std::function<Value(Instance&, std::span<const Operand>)> finish) {
  bool is_open = std::ranges::any_of(operands, [](const Operand& x) { return x.value.is<Shapeless>(); });
  if (!is_open) return finish(in, operands);
  std::vector<Operand> waiting(operands.begin(), operands.end());
  auto resume = [waiting, finish = std::move(finish)](Instance& in, const Shape& shape) {
    std::vector<Operand> settled = waiting;
    for (Operand& x : settled) {
      give_shape(in, x, shape);
      if (x.value.is_poison()) return Value(Poison{});
    }
    return finish(in, settled);
  };
  return Shapeless{&expr, std::move(resume)};
}

}  // namespace tilec::sema
