#include "prove/solver.h"

#include <z3++.h>

#include "prove/z3/loops.h"

namespace tilec::prove {

namespace {

constexpr unsigned kSteps = 150'000;  // about a tenth of a second

// Problems as expressions of the solver: a quotient by a constant is an integer with its two inequalities (which are among the
// facts already), a product is a product.
struct Encoder {
  const Terms& terms;
  z3::context& context;
  std::unordered_map<AtomId, z3::expr> known = {};

  z3::expr number(int64_t x) { return context.int_val(x); }

  z3::expr atom(AtomId id) {
    if (auto found = known.find(id); found != known.end()) return found->second;
    const Atom& a = terms[id];
    std::string name = "a" + std::to_string(id.index);
    z3::expr result = a.kind == AtomKind::Flag ? context.bool_const(name.c_str()) : context.int_const(name.c_str());
    if (a.kind == AtomKind::Product) {
      result = atom(a.factors[0]);
      for (size_t i = 1; i < a.factors.size(); ++i) result = result * atom(a.factors[i]);
    }
    known.emplace(id, result);
    return result;
  }

  z3::expr sum(const Linear& x) {
    z3::expr total = number(x.constant);
    for (const Linear::Part& part : x.parts) total = total + number(part.factor) * atom(part.atom);
    return total;
  }

  z3::expr formula(const Formula& f) {
    using Kind = Formula::Kind;
    switch (f.kind) {
      case Kind::True: case Kind::False: return context.bool_val(f.is_true());
      case Kind::AtLeastZero: return sum(f.linear) >= 0;
      case Kind::Flag: return f.is_negated ? !atom(f.flag) : atom(f.flag);
      case Kind::All: case Kind::Any: break;
    }
    z3::expr_vector parts(context);
    for (const Formula& part : f.parts) parts.push_back(formula(part));
    return f.kind == Kind::All ? z3::mk_and(parts) : z3::mk_or(parts);
  }

  z3::expr range(AtomId id) {
    z3::expr_vector ends(context);
    Interval r = terms[id].range;
    if (r.low != kMinusInfinity) ends.push_back(atom(id) >= number(r.low));
    if (r.high != kPlusInfinity) ends.push_back(atom(id) <= number(r.high));
    return z3::mk_and(ends);
  }
};

bool is_encodable(const Formula& f) {
  return !f.linear.is_lost && std::all_of(f.parts.begin(), f.parts.end(), is_encodable);
}

Model read_model(Encoder& encoder, const z3::model& found, std::span<const AtomId> atoms) {
  Model model;
  for (AtomId id : atoms) {
    AtomKind kind = encoder.terms[id].kind;
    if (kind != AtomKind::Variable && kind != AtomKind::Flag) continue;
    z3::expr value = found.eval(encoder.atom(id), true);
    int64_t number = 0;
    if (kind == AtomKind::Flag) model.set(id, value.is_true());
    else if (value.is_numeral_i64(number)) model.set(id, number);
  }
  return model;
}

std::shared_ptr<void> begin() { return std::make_shared<z3::context>(); }

Solver::Result ask(void* state, const Terms& terms, const Problem& problem, Model& model) {
  using Result = Solver::Result;
  auto& context = *static_cast<z3::context*>(state);
  try {
    z3::solver solver(context);
    solver.set("rlimit", kSteps);
    solver.set("arith.nl.nra", false);  // its steps are not counted: a question that it does not answer took 2 s
    Encoder encoder{terms, context};
    if (!is_encodable(problem.goal)) return Result::Unknown;
    for (const Formula& fact : problem.facts)
      if (is_encodable(fact)) solver.add(encoder.formula(fact));
    for (AtomId id : problem.atoms)
      if (terms[id].kind != AtomKind::Flag) solver.add(encoder.range(id));
    solver.add(!encoder.formula(problem.goal));
    switch (solver.check()) {
      case z3::unsat: return Result::Follows;
      case z3::unknown: return Result::Unknown;
      case z3::sat: break;
    }
    model = read_model(encoder, solver.get_model(), problem.atoms);
    return Result::Fails;
  } catch (const z3::exception&) {
    return Result::Unknown;
  }
}

}  // namespace

extern "C" const SolverLibrary tilec_solver = {{TILEC_VERSION, kSolverLayout}, begin, ask, schedule_loop};

}  // namespace tilec::prove
