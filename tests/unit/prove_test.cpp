// The prover: what it proves without the solver, what it refutes and with which numbers, and what it leaves open.
#include <doctest/doctest.h>

#include "ir/parse.h"
#include "prove/prover.h"

using namespace tilec;
using namespace tilec::prove;

namespace {

// A kernel with values to ask about, found by their hints.
struct Questions {
  explicit Questions(std::string_view text, Memory* memory = nullptr) {
    std::string error;
    auto parsed = ir::parse(text, &error);
    REQUIRE_MESSAGE(parsed, error);
    kernel = std::move(*parsed);
    prover.emplace(kernel, memory);
  }
  ir::ValueId named(std::string_view hint) const {
    for (uint32_t i = 0; i < kernel.values.size(); ++i)
      if (kernel.values[i].hint == hint) return {i};
    FAIL("no value " << hint);
    return {};
  }
  Linear value(std::string_view hint) { return prover->value(named(hint)); }
  // The region where the value is defined.
  ir::RegionId region_of(std::string_view hint) const {
    ir::ValueId v = named(hint);
    if (!kernel.value(v).op.valid()) return kernel.value(v).region;
    for (uint32_t r = 0; r < kernel.regions.size(); ++r)
      for (ir::OpId o : kernel.regions[r].ops)
        if (o == kernel.value(v).op) return {r};
    return {};
  }
  // The bool value, asked where it stands.
  Answer ask(std::string_view hint) { return prover->prove(prover->facts(region_of(hint)), prover->condition(named(hint))); }

  ir::Kernel kernel;
  std::optional<Prover> prover;
};

constexpr std::string_view kBlocks = R"(kernel "k"
  dim "M", %M
{ (%M: int)
  %one = constant 1 : int
  %less = constant 63 : int
  %size = constant 64 : int
  %more = binary.add %M, %less : int
  %blocks = binary.div %more, %size : int
  launch [%blocks] { (%i: int)
    %row = binary.mul %i, %size : int
    %last = binary.sub %M, %one : int
    %begins = compare.le %row, %last : bool
    %end = binary.add %row, %size : int
    %ends = compare.le %end, %M : bool
    %zero = constant 0 : int
    %is_low = compare.ge %row, %zero : bool
    yield
  }
  yield
})";

}  // namespace

TEST_CASE("a block begins inside and may end outside, without the solver") {
  Questions q(kBlocks);
  CHECK(q.ask("begins").is_proved());
  CHECK(q.ask("is_low").is_proved());
  Answer ends = q.ask("ends");
  CHECK(ends.is_refuted());
  CHECK(text_of(q.prover->named(ends.model)) == "M = 1, i = 0");
  CHECK(q.prover->evaluate(q.value("end"), ends.model) == 64);
  CHECK(q.prover->solver_questions() == 0);
}

TEST_CASE("what was found for one kernel is known for another, in its own names") {
  Memory memory;
  Questions first(kBlocks, &memory);
  first.ask("begins"), first.ask("ends");
  size_t known = memory.size();
  CHECK(known == 2);
  // The same questions behind another variable, and then others.
  std::string text(kBlocks);
  for (size_t at = 0; (at = text.find("M", at)) != std::string::npos;) text[at] = 'Q';
  text.replace(text.find("  dim"), 0, "  dim \"P\", %P\n").replace(text.find("{ ("), 3, "{ (%P: int, ");
  Questions second(text, &memory);
  CHECK(second.ask("begins").is_proved());
  Answer ends = second.ask("ends");
  CHECK(ends.is_refuted());
  CHECK(text_of(second.prover->named(ends.model)).starts_with("Q = 1, i = 0"));
  CHECK(memory.size() == known);
  Questions wider(std::string(kBlocks).replace(std::string(kBlocks).find("constant 63"), 11, "constant 64"), &memory);
  CHECK(wider.ask("begins").is_refuted());
  CHECK(memory.size() > known);
}

TEST_CASE("a contract of divisibility brings every block inside") {
  std::string text(kBlocks);
  text.replace(text.find("{ (%M"), 1, "  requires %is_whole, \"M % 64 == 0\"\n{");
  text.replace(text.find("  launch"), 1, "%rest = binary.rem %M, %size : int\n%nought = constant 0 : int\n"
                                         "%is_whole = compare.eq %rest, %nought : bool\n ");
  Questions q(text);
  CHECK(q.ask("ends").is_proved());
  CHECK(q.prover->solver_questions() == 0);
}

TEST_CASE("equal integers have one form") {
  Questions q(kBlocks);
  Terms& t = q.prover->terms();
  Linear m = q.value("M"), i = q.value("i");
  CHECK(t.quotient(m * 4 + 6, 2) == m * 2 + 3);
  CHECK(t.remainder(i * 64 + 3, 64) == Linear(3));
  CHECK(t.product(i + 1, i - 1) == t.product(i, i) - 1);
  CHECK(t.least(i, i + 1) == i);
  CHECK(t.quotient(t.quotient(m, 2) * 2 + m, 2) == t.quotient(m, 2) + t.quotient(m, 2));
  CHECK(t.range(t.remainder(m, 8)) == t.range(t.remainder(m, 8)));
  CHECK((m * INT64_MAX * 2).is_lost);
}

TEST_CASE("steps of loops, conditions, choices and conversions are known") {
  Questions q(R"(kernel "k"
  dim "N", %N
  requires %n_ok, "N >= 10"
{ (%N: int, %causal: bool, %bytes: buffer<global ? u8>)
  %zero = constant 0 : int
  %one = constant 1 : int
  %four = constant 4 : int
  %ten = constant 10 : int
  %n_ok = compare.ge %N, %ten : bool
  launch [%N] { (%i: int)
    for %zero, %N, %four { (%j: int)
      %rest = binary.rem %j, %four : int
      %on_step = compare.eq %rest, %zero : bool
      %j_in = compare.lt %j, %N : bool
      yield
    }
    %least = binary.min %N, %four : int
    %seen = if %causal : int { yield [%least] } else_body { yield [%N] }
    %seen_ok = compare.le %seen, %N : bool
    %four_ok = compare.ge %seen, %four : bool
    %is_small = compare.lt %i, %four : bool
    if %is_small {
      %i_ok = compare.lt %i, %ten : bool
      %i_more = compare.lt %i, %one : bool
      yield
    } else_body {
      %i_large = compare.ge %i, %four : bool
      yield
    }
    %byte = element_load %bytes, [%i] : u8
    %wide = convert %byte : int
    %limit = constant 255 : int
    %byte_ok = compare.le %wide, %limit : bool
    %byte_more = compare.lt %wide, %limit : bool
    yield
  }
  yield
})");
  for (auto hint : {"on_step", "j_in", "seen_ok", "four_ok", "i_ok", "i_large", "byte_ok"})
    CHECK_MESSAGE(q.ask(hint).is_proved(), hint);
  CHECK(q.ask("i_more").is_refuted());
  CHECK(q.ask("byte_more").verdict == Verdict::Unknown);  // what memory holds is no counterexample
  CHECK(q.prover->solver_questions() == 0);
}

TEST_CASE("grouped heads stay inside by the contract that divides them") {
  Questions q(R"(kernel "k"
  dim "H", %H
  dim "G", %G
  requires %whole, "H % G == 0"
{ (%H: int, %G: int)
  %zero = constant 0 : int
  %rest = binary.rem %H, %G : int
  %whole = compare.eq %rest, %zero : bool
  launch [%H] { (%h: int)
    %ratio = binary.div %H, %G : int
    %positive = compare.gt %ratio, %zero : bool
    %g = binary.div %h, %ratio : int
    %inside = compare.lt %g, %G : bool
    %low = compare.ge %g, %zero : bool
    yield
  }
  yield
})");
  CHECK(q.ask("positive").is_proved());
  CHECK(q.ask("inside").is_proved());
  CHECK(q.ask("low").is_proved());
  CHECK(q.prover->solver_questions() == 0);
}

TEST_CASE("blocks of a flattened grid are apart") {
  Questions q(R"(kernel "k"
  dim "X", %X
  dim "Y", %Y
{ (%X: int, %Y: int)
  launch [%X, %Y] { (%x: int, %y: int)
    %rows = binary.mul %y, %X : int
    %at = binary.add %rows, %x : int
    %total = binary.mul %X, %Y : int
    %inside = compare.lt %at, %total : bool
    yield
  }
  yield
})");
  CHECK(q.ask("inside").is_proved());
  ir::RegionId body = q.region_of("x");
  Twin twin = q.prover->new_twin(body);
  Facts facts = q.prover->facts(body).with(q.prover->facts(body, twin));
  Linear x = q.value("x"), y = q.value("y"), at = q.value("at");
  Linear x2 = q.prover->value(q.named("x"), twin), y2 = q.prover->value(q.named("y"), twin);
  Linear at2 = q.prover->value(q.named("at"), twin);
  CHECK(q.prover->prove(facts.with(less(y, y2)), less(at, at2)).is_proved());
  CHECK(q.prover->prove(facts.with(all_of({equal(y, y2), less(x, x2)})), less(at, at2)).is_proved());
  CHECK(q.prover->solver_questions() == 0);
  CHECK(q.prover->prove(facts.with(less(x, x2)), less(at, at2)).is_refuted());
}

TEST_CASE("of many ways to be apart the one that holds is found, without the solver") {
  Questions q(R"(kernel "k"
  dim "M", %M
  dim "N", %N
{ (%M: int, %N: int)
  %less = constant 127 : int
  %size = constant 128 : int
  %m = binary.add %M, %less : int
  %rows = binary.div %m, %size : int
  %n = binary.add %N, %less : int
  %columns = binary.div %n, %size : int
  launch [%columns, %rows] { (%x: int, %y: int)
    %row = binary.mul %y, %size : int
    %column = binary.mul %x, %size : int
    yield
  }
  yield
})");
  ir::RegionId body = q.region_of("x");
  Twin twin = q.prover->new_twin(body);
  Facts facts = q.prover->facts(body).with(q.prover->facts(body, twin));
  std::vector<Formula> ways;
  for (const char* name : {"row", "column"}) {
    Linear a = q.value(name), b = q.prover->value(q.named(name), twin), extent = q.value(name == std::string_view("row") ? "M" : "N");
    for (Formula way : {at_least(b, a + 128), at_least(a, b + 128), at_least(a, extent), at_least(b, extent), at_least(Linear(0), a + 128)})
      ways.push_back(way);
  }
  Linear x = q.value("x"), x2 = q.prover->value(q.named("x"), twin);
  CHECK(q.prover->prove(facts.with(less(x, x2)), any_of(ways)).is_proved());
  CHECK(q.prover->solver_questions() == 0);
}

TEST_CASE("the solver answers what sums and trials leave open, and refutes with numbers that evaluate") {
  Questions q(R"(kernel "k"
{ (%a: int, %b: int)
  %zero = constant 0 : int
  %three = constant 3 : int
  %six = constant 6 : int
  %seven = constant 7 : int
  launch [%seven] { (%i: int)
    %a3 = binary.mul %a, %three : int
    %b7 = binary.mul %b, %seven : int
    %sum = binary.add %a3, %b7 : int
    %square = binary.mul %i, %i : int
    %times6 = binary.mul %i, %six : int
    %square_ok = compare.le %square, %times6 : bool
    %target = constant 1000003 : int
    %misses = compare.ne %sum, %target : bool
    yield
  }
  yield
})");
  CHECK(q.ask("square_ok").is_proved());
  Answer hit = q.ask("misses");
  REQUIRE(hit.is_refuted());
  CHECK(q.prover->evaluate(q.value("sum"), hit.model) == 1000003);
  CHECK(q.prover->solver_questions() >= 1);
  int before = q.prover->solver_questions();
  q.ask("misses");
  CHECK(q.prover->solver_questions() == before);  // remembered
}
