// Every scalar operation of every engine against ir/scalar_eval, on numbers at the edges.
#include "ir/scalar_eval.h"
#include "native_kit.h"

#include <doctest/doctest.h>

using namespace tilec;
using namespace tilec::testing;

namespace {

constexpr Scalar kTypes[] = {Scalar::Bool, Scalar::Index, Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::U8,
                             Scalar::U16, Scalar::U32, Scalar::U64, Scalar::F32, Scalar::F64};

std::vector<Number> edges(Scalar type) {
  std::vector<Number> numbers;
  if (is_float(type)) {
    for (double x : {0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 1e-40, 127.5, -129.0, 255.7, 65536.0, 2147483648.0,
                     -2147483904.0, 4294967296.0, 9.3e18, -9.4e18, 1.9e19, 1e30, -1e30, double(INFINITY), -double(INFINITY), double(NAN)})
      numbers.push_back(Number::real(round_to(type, x)));
    return numbers;
  }
  if (type == Scalar::Bool) return {Number::integer(0), Number::integer(1)};
  for (int64_t x : {0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100}) numbers.push_back(Number::integer(wrap(type, x)));
  for (int64_t x : {integer_min(type), integer_min(type) + 1, int64_t(integer_max(type)), int64_t(integer_max(type) - 1)})
    numbers.push_back(Number::integer(x));
  if (is_signed(type))
    for (int64_t x : {-1, -2, -3, -7, -8, -64, -100}) numbers.push_back(Number::integer(x));
  return numbers;
}

bool is_binary(BinaryFn fn, Scalar type) {
  if (fn == BinaryFn::Pow) return false;
  if (!is_float(type)) return true;
  return fn != BinaryFn::And && fn != BinaryFn::Or && fn != BinaryFn::Xor && fn != BinaryFn::Shl && fn != BinaryFn::Shr;
}

bool is_unary(UnaryFn fn, Scalar type) {
  switch (fn) {
    case UnaryFn::Neg: case UnaryFn::Abs: case UnaryFn::IsNan: return true;
    case UnaryFn::Not: case UnaryFn::PopCount: case UnaryFn::LeadingZeros: return !is_float(type);
    case UnaryFn::Sqrt: case UnaryFn::Floor: case UnaryFn::Ceil: case UnaryFn::Round: case UnaryFn::Trunc: return is_float(type);
    default: return false;
  }
}

// One result of one pair: what is written where, and what the evaluator says.
struct Case {
  std::string what;
  Scalar type;
  std::function<ValueId(Builder&, ValueId, ValueId)> build;
  std::function<std::optional<Number>(Number, Number)> meaning;  // nothing: any value
};

std::vector<Case> cases_of(Scalar t) {
  std::vector<Case> cases;
  for (int i = 0; i <= int(BinaryFn::Shr); ++i) {
    BinaryFn fn = BinaryFn(i);
    if (!is_binary(fn, t)) continue;
    cases.push_back({std::string(name(fn)), t, [fn](Builder& b, ValueId x, ValueId y) { return b.binary(fn, x, y); },
                     [fn, t](Number x, Number y) -> std::optional<Number> {
                       auto value = evaluate(fn, t, x, y);
                       bool by_zero = !is_float(t) && y.i == 0 && (fn == BinaryFn::Div || fn == BinaryFn::Rem);
                       return by_zero ? Number::integer(0) : value;
                     }});
  }
  for (int i = 0; i <= int(UnaryFn::LeadingZeros); ++i) {
    UnaryFn fn = UnaryFn(i);
    if (!is_unary(fn, t)) continue;
    cases.push_back({std::string(name(fn)), fn == UnaryFn::IsNan ? Scalar::Bool : t,
                     [fn](Builder& b, ValueId x, ValueId) { return b.unary(fn, x); },
                     [fn, t](Number x, Number) { return evaluate(fn, t, x); }});
  }
  for (int i = 0; i <= int(CompareFn::Ge); ++i) {
    CompareFn fn = CompareFn(i);
    cases.push_back({std::string(name(fn)), Scalar::Bool, [fn](Builder& b, ValueId x, ValueId y) { return b.compare(fn, x, y); },
                     [fn, t](Number x, Number y) { return std::optional(Number::integer(evaluate(fn, t, x, y))); }});
  }
  for (Scalar to : kTypes)
    for (ConvertMode mode : {ConvertMode::Nearest, ConvertMode::Wrap, ConvertMode::Bits}) {
      if (to == t || (mode == ConvertMode::Bits && bit_width(to) != bit_width(t))) continue;
      cases.push_back({"to " + std::string(name(to)) + " mode " + std::to_string(int(mode)), to,
                       [to, mode](Builder& b, ValueId x, ValueId) { return b.convert(x, to, mode); },
                       [t, to, mode](Number x, Number) { return std::optional(evaluate_convert(t, to, mode, x)); }});
    }
  return cases;
}

// out_k[i] = case k of (a[i], b[i]): by lanes, or one number a block.
Kernel meaning_kernel(const std::string& name, Scalar t, int lanes, bool by_lanes) {
  KernelMaker m(name);
  ValueId n = m.dim("N");
  ValueId a = m.tensor("a", t, {n}, Access::In), b = m.tensor("b", t, {n}, Access::In);
  std::vector<Case> cases = cases_of(t);
  std::vector<ValueId> outs;
  for (size_t k = 0; k < cases.size(); ++k) outs.push_back(m.tensor("out" + std::to_string(k), cases[k].type, {n}, Access::Out));
  std::vector<ValueId> block;
  ValueId blocks = by_lanes ? m.body.binary(BinaryFn::Div, n, m.body.index(lanes)) : n;
  Builder k = m.launch({blocks}, block);
  ValueId i = by_lanes ? k.add(k.mul(block[0], k.index(lanes)), lane(k)) : block[0];
  int64_t stride = by_lanes ? 1 : 0;
  ValueId x = load(k, a, i, stride, by_lanes), y = load(k, b, i, stride, by_lanes);
  for (size_t c = 0; c < cases.size(); ++c) {
    ValueId value = cases[c].build(k, x, y);
    bool splats = by_lanes && !m.kernel.type(value).varying;
    store(k, outs[c], i, value, splats ? 1 : stride);
  }
  m.close(k);
  return std::move(m.kernel);
}

bool same(Scalar type, uint64_t bits, Number expected) {
  if (!is_float(type)) return bits == to_bits(type, expected);
  Number got = from_bits(type, bits);
  if (std::isnan(expected.f)) return std::isnan(got.f);
  return got.f == expected.f;  // zeros of either sign are one
}

void check_type(const Linked& linked, const target::Export& exported, Scalar t) {
  std::vector<Number> numbers = edges(t), left, right;
  for (Number x : numbers)
    for (Number y : numbers) left.push_back(x), right.push_back(y);
  while (left.size() % 16) left.push_back(numbers[1]), right.push_back(numbers[1]);
  int64_t n = int64_t(left.size());
  auto packed = [&](const std::vector<Number>& values) {
    std::vector<char> bytes(values.size() * size_t(byte_width(t)));
    for (size_t i = 0; i < values.size(); ++i) {
      uint64_t bits = to_bits(t, values[i]);
      std::memcpy(bytes.data() + i * size_t(byte_width(t)), &bits, size_t(byte_width(t)));
    }
    return bytes;
  };
  std::vector<char> a = packed(left), b = packed(right);
  std::vector<Case> cases = cases_of(t);
  std::vector<std::vector<char>> outs;
  std::vector<Given> given = {{int64_t(a.data()), {n}}, {int64_t(b.data()), {n}}};
  for (const Case& c : cases) outs.emplace_back(size_t(n * byte_width(c.type)));
  for (auto& out : outs) given.push_back({int64_t(out.data()), {n}});
  REQUIRE(call(linked, exported, given) == 0);
  for (size_t c = 0; c < cases.size(); ++c)
    for (size_t i = 0; i < left.size(); ++i) {
      auto expected = cases[c].meaning(left[i], right[i]);
      uint64_t bits = 0;
      std::memcpy(&bits, outs[c].data() + i * size_t(byte_width(cases[c].type)), size_t(byte_width(cases[c].type)));
      if (!expected || same(cases[c].type, bits, *expected)) continue;
      FAIL_CHECK(exported.name << ": " << cases[c].what << " of " << name(t) << " (" << left[i].i << ", " << left[i].f << "), ("
                               << right[i].i << ", " << right[i].f << ") gives bits " << bits << ", not "
                               << to_bits(cases[c].type, *expected));
      break;
    }
}

}  // namespace

TEST_SUITE("native code") {
  TEST_CASE("scalar operations mean what the evaluator says, by lanes and alone") {
    for (const Engine& engine : engines()) {
      CAPTURE(engine.name);
      std::deque<Kernel> kernels;
      target::Program program;
      for (Scalar t : kTypes)
        for (bool by_lanes : {true, false}) {
          std::string export_name = "k_" + std::string(name(t)) + (by_lanes ? "_lanes" : "_alone");
          kernels.push_back(meaning_kernel(export_name, t, engine.machine->lanes, by_lanes));
          program.exports.push_back({.name = export_name, .instances = {{.kernel = &kernels.back(), .machine = engine.machine}}});
        }
      Linked linked(engine, program);
      REQUIRE(bool(linked));
      for (size_t i = 0; i < program.exports.size(); ++i) check_type(linked, program.exports[i], kTypes[i / 2]);
    }
  }
}
