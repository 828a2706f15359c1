#include "passes/padding_edges.h"

namespace tilec::passes {

using namespace ir;
using prove::AtomKind;
using prove::Formula;
using prove::Linear;

namespace {

constexpr int64_t kFar = int64_t(1) << 61;

// Sums and conditions as operations.
struct Written {
  prove::Prover& prover;
  Builder& b;

  ValueId atom(prove::AtomId id) {
    const prove::Atom atom = prover.terms()[id];
    switch (atom.kind) {
      case AtomKind::Variable: return b.convert(*prover.source(id), Scalar::Index);
      case AtomKind::Product: {
        ValueId all = b.index(1);
        for (prove::AtomId factor : atom.factors) all = b.mul(all, this->atom(factor));
        return all;
      }
      case AtomKind::Quotient: return b.binary(BinaryFn::Div, sum(atom.a), sum(atom.b));
      case AtomKind::Least: return b.binary(BinaryFn::Min, sum(atom.a), sum(atom.b));
      case AtomKind::Choice: return b.select(condition(atom.condition), sum(atom.a), sum(atom.b));
      case AtomKind::Flag: break;
    }
    UNREACHABLE("a mask stands where its numbers can be computed");
  }
  ValueId sum(const Linear& x) {
    ValueId all = b.index(0);
    for (const Linear::Part& part : x.parts)
      if (part.factor > 0) all = b.add(all, b.mul(held(part), b.index(part.factor)));
    all = b.add(all, b.index(x.constant));
    for (const Linear::Part& part : x.parts)
      if (part.factor < 0) all = b.sub(all, b.mul(held(part), b.index(-part.factor)));
    return all;
  }
  // An offset near the end of 64 bits is as far outside as one that no sum leaves them with.
  ValueId held(const Linear::Part& part) {
    const int64_t most = kFar / std::abs(part.factor);
    const prove::Interval range = prover.terms().range(Linear(part.atom));
    ValueId value = atom(part.atom);
    if (range.low < -most) value = b.binary(BinaryFn::Max, value, b.index(-most));
    if (range.high > most) value = b.binary(BinaryFn::Min, value, b.index(most));
    return value;
  }
  ValueId condition(const Formula& f) {
    if (f.kind == Formula::Kind::AtLeastZero) return b.compare(CompareFn::Ge, sum(f.linear), b.index(0));
    if (f.kind == Formula::Kind::Flag) {
      const ValueId told = *prover.source(f.flag);
      const ValueId holds = b.kernel().type(told).is_buffer() ? b.value(op::Present{told}, scalar_type(Scalar::Bool)) : told;
      return f.is_negated ? b.logical_not(holds) : holds;
    }
    bool is_all = f.kind == Formula::Kind::All || f.kind == Formula::Kind::True;
    ValueId result = b.boolean(is_all);
    for (const Formula& part : f.parts) result = b.binary(is_all ? BinaryFn::And : BinaryFn::Or, result, condition(part));
    return result;
  }
};

}  // namespace

Outside written(prove::Prover& prover, Builder& b, const Edges& edges) {
  Outside any;
  for (const Beyond& beyond : edges) {
    std::vector<Ends> all;
    Written written{prover, b};
    for (const Edge& edge : beyond.edges) all.push_back({edge.has_low ? written.sum(edge.first) : ValueId{}, written.sum(edge.limit)});
    any.push_back({std::move(all), beyond.when.is_true() ? ValueId{} : written.condition(beyond.when)});
  }
  return any;
}
ValueId is_outside(Builder& b, const Outside& outside, ValueId coordinate) {
  ValueId any = b.boolean(false);
  for (const OutsideOf& beyond : outside) {
    ValueId all = beyond.when.valid() ? beyond.when : b.boolean(true);
    for (const Ends& end : beyond.ends) {
      ValueId is = b.compare(CompareFn::Ge, coordinate, end.limit);
      if (end.first.valid()) is = b.logical_or(is, b.compare(CompareFn::Lt, coordinate, end.first));
      all = b.binary(BinaryFn::And, all, is);
    }
    any = b.logical_or(any, all);
  }
  return any;
}

}  // namespace tilec::passes
