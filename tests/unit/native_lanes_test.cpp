// What crosses lanes, control flow, atomics, faults and requirements, on every engine.
#include "native_kit.h"

#include <doctest/doctest.h>

using namespace tilec;
using namespace tilec::testing;
using target::Export;

namespace {

constexpr int kBounds = 11, kShape = 2;

// Rows of one number a lane: each is written to `out` by row.
struct LaneKernel {
  KernelMaker m{"lanes"};
  int lanes, rows = 0;
  ValueId n, a, out, sums;
  std::vector<ValueId> block;
  std::optional<Builder> k;

  explicit LaneKernel(int count) : lanes(count) {
    n = m.dim("N");
    a = m.tensor("a", Scalar::I32, {n}, Access::In);
    out = m.tensor("out", Scalar::I32, {m.dim("R")}, Access::Out);
    sums = m.tensor("sums", Scalar::I32, {m.dim("S")}, Access::InOut);
    m.kernel.requirements.push_back({m.body.compare(CompareFn::Ge, n, m.body.index(lanes)), "N >= lanes", {}});
    k.emplace(m.launch({m.body.index(1)}, block));
  }
  void row(ValueId value) {
    if (type_of(value).element != Scalar::I32) value = k->convert(value, Scalar::I32);
    store(*k, out, k->add(lane(*k), k->index(int64_t(rows++) * lanes)), value, 1);
  }
  const Type& type_of(ValueId v) { return m.kernel.type(v); }
  ValueId vector(OpData op, Scalar element = Scalar::I32) { return k->value(std::move(op), scalar_type(element, true)); }
  ValueId one(OpData op, Scalar element = Scalar::I32) { return k->value(std::move(op), scalar_type(element)); }
};

using Rows = std::vector<std::vector<int32_t>>;

void add_crossings(LaneKernel& l, Rows& expected, const std::vector<int32_t>& a) {
  Builder& k = *l.k;
  int lanes = l.lanes;
  ValueId x = load(k, l.a, lane(k), 1, true);
  auto expect = [&](auto f) {
    std::vector<int32_t> row;
    for (int i = 0; i < lanes; ++i) row.push_back(int32_t(f(i)));
    expected.push_back(row);
  };
  auto shuffle = [&](ShuffleKind how, ValueId by) { l.row(l.vector(op::Shuffle{how, x, by})); };
  auto inside = [&](int i, int source) { return a[size_t(source >= 0 && source < lanes ? source : i)]; };
  shuffle(ShuffleKind::Xor, k.index(1));
  expect([&](int i) { return a[size_t(i ^ 1)]; });
  shuffle(ShuffleKind::Up, k.index(2));
  expect([&](int i) { return inside(i, i - 2); });
  shuffle(ShuffleKind::Down, k.index(1));
  expect([&](int i) { return inside(i, i + 1); });
  shuffle(ShuffleKind::Index, k.sub(k.index(lanes - 1), lane(k)));
  expect([&](int i) { return a[size_t(lanes - 1 - i)]; });
  ValueId is_odd = k.compare(CompareFn::Ne, k.binary(BinaryFn::Rem, lane(k), k.index(2)), k.index(0));
  l.row(l.one(op::Vote{VoteKind::Ballot, is_odd}, Scalar::U32));
  expect([&](int) { return 0xaaaaaaaau & ((1u << lanes) - 1); });
  l.row(k.select(l.one(op::Vote{VoteKind::All, is_odd}, Scalar::Bool), k.index(7), k.index(8)));
  expect([&](int) { return 8; });
  l.row(l.one(op::WarpReduce{ReduceFn::Sum, x}));
  expect([&](int) { int s = 0; for (int j = 0; j < lanes; ++j) s += a[size_t(j)]; return s; });
  l.row(l.one(op::WarpReduce{ReduceFn::Max, x}));
  expect([&](int) { return *std::max_element(a.begin(), a.begin() + lanes); });
  // Every second number, and by an index of the data's own: a known stride and a gather.
  l.row(load(k, l.a, k.mul(lane(k), k.index(2)), 2, true));
  expect([&](int i) { return a[size_t(2 * i)]; });
  ValueId own = k.convert(k.binary(BinaryFn::And, x, k.constant(Scalar::I32, Number::integer(3))), Scalar::Index);
  l.row(load(k, l.a, own, kUnknownStride, true, is_odd));
  expect([&](int i) { return i % 2 ? a[size_t(a[size_t(i)] & 3)] : 0; });
}

// A loop that swaps two carried values, a search by `while`, a branch.
void add_control(LaneKernel& l, Rows& expected, const std::vector<int32_t>& a) {
  Builder& k = *l.k;
  auto expect = [&](auto f) {
    std::vector<int32_t> row;
    for (int i = 0; i < l.lanes; ++i) row.push_back(int32_t(f(i)));
    expected.push_back(row);
  };
  ValueId x = load(k, l.a, lane(k), 1, true), y = k.convert(lane(k), Scalar::I32);
  Type varying = scalar_type(Scalar::I32, true);
  RegionId body = l.m.kernel.new_region();
  l.m.kernel.new_arg(body, scalar_type(Scalar::Index));
  ValueId p = l.m.kernel.new_arg(body, varying), q = l.m.kernel.new_arg(body, varying);
  Builder(l.m.kernel, body).yield({q, p});
  std::array<Type, 2> two = {varying, varying};
  OpId loop = k.add(op::For{.low = k.index(0), .high = k.index(3), .step = k.index(1), .inits = {x, y}, .body = body}, two);
  ValueId first = l.m.kernel.op(loop).results[0], second = l.m.kernel.op(loop).results[1];
  l.row(first);
  expect([&](int i) { return i; });
  l.row(second);
  expect([&](int i) { return a[size_t(i)]; });
  // The first power of two above 20, and how many lanes' indices carry through: 32.
  RegionId test = l.m.kernel.new_region(), step = l.m.kernel.new_region();
  Type index = scalar_type(Scalar::Index);
  ValueId tested = l.m.kernel.new_arg(test, index), stepped = l.m.kernel.new_arg(step, index);
  Builder t(l.m.kernel, test), s(l.m.kernel, step);
  t.yield({t.compare(CompareFn::Le, tested, t.index(20)), tested});
  s.yield({s.mul(stepped, s.index(2))});
  ValueId power = k.value(op::While{.inits = {k.index(1)}, .condition = test, .body = step}, index);
  l.row(power);
  expect([&](int) { return 32; });
  RegionId yes = l.m.kernel.new_region(), no = l.m.kernel.new_region();
  Builder(l.m.kernel, yes).yield({x});
  Builder(l.m.kernel, no).yield({y});
  l.row(k.value(op::If{k.compare(CompareFn::Gt, power, l.n), yes, no}, varying));
  expect([&](int i) { return 32 > int(a.size()) ? a[size_t(i)] : i; });
}

}  // namespace

TEST_SUITE("native code") {
  TEST_CASE("lanes exchange, control flow carries, atomics add up and faults are reported") {
    for (const Engine& engine : engines()) {
      CAPTURE(engine.name);
      int lanes = engine.machine->lanes;
      std::vector<int32_t> a;
      for (int i = 0; i < 2 * lanes + 3; ++i) a.push_back(i * 37 % 23 - 9);
      LaneKernel l(lanes);
      Rows expected;
      add_crossings(l, expected, a);
      add_control(l, expected, a);
      Builder& k = *l.k;
      // Lanes add 1 to one of two sums, those of odd lanes alone are reported where a number is negative.
      ValueId parity = k.binary(BinaryFn::And, lane(k), k.index(1)), x = load(k, l.a, lane(k), 1, true);
      k.add(op::MemAtomic{AtomicFn::Add, MemoryOrder::Relaxed, l.sums, parity, {x}, {}});
      k.add(op::MemAtomic{AtomicFn::Max, MemoryOrder::Relaxed, l.sums, k.index(2), {x}, {}});
      ValueId is_last = k.compare(CompareFn::Eq, k.add(lane(k), l.n), k.index(3 * lanes + 2));
      k.add(op::Fault{is_last, lane(k), 12});
      l.m.close(k);
      Export exported{.name = "lanes", .instances = {{.kernel = &l.m.kernel, .machine = engine.machine}}};
      Linked linked(engine, {.exports = {exported}});
      REQUIRE(bool(linked));
      std::vector<int32_t> out(size_t(l.rows * lanes)), sums = {0, 0, -1000};
      int status = call(linked, exported, {tensor(a), tensor(out), tensor(sums)});
      CHECK(status == kBounds);
      for (size_t r = 0; r < expected.size(); ++r) {
        CAPTURE(r);
        CHECK(std::equal(expected[r].begin(), expected[r].end(), out.begin() + int64_t(r) * lanes));
      }
      std::vector<int32_t> wanted = {0, 0, -1000};
      for (int i = 0; i < lanes; ++i) {
        wanted[size_t(i & 1)] += a[size_t(i)];
        wanted[2] = std::max(wanted[2], a[size_t(i)]);
      }
      CHECK(sums == wanted);
      std::vector<int32_t> few(size_t(lanes - 1));
      CHECK(call(linked, exported, {tensor(few), tensor(out), tensor(sums)}) == kShape);
    }
  }
}
