// Merging, hoisting and dead code; simplify; fusion of maps.
#include <doctest/doctest.h>

#include "passes/passes.h"
#include "thread_eval.h"

using namespace tilec;
using namespace tilec::ir;

namespace {

template <class T>
int count(const Kernel& kernel) {
  int n = 0;
  each_op(kernel, kernel.body, [&](OpId id) { n += kernel.op(id).is<T>(); });
  return n;
}
int count(const Kernel& kernel, BinaryFn fn) {
  int n = 0;
  each_op(kernel, kernel.body, [&](OpId id) {
    const auto* b = kernel.op(id).get<op::Binary>();
    n += b && b->fn == fn;
  });
  return n;
}
template <class T>
OpId first(const Kernel& kernel) {
  OpId found;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (!found.valid() && kernel.op(id).is<T>()) found = id;
  });
  return found;
}

// A kernel of one buffer and one scalar, with a body under construction.
struct Fixture {
  Kernel kernel;
  ValueId buffer, scalar;
  Builder b{kernel, {}};
  Diagnostics diags;
  Machine machine{};
  explicit Fixture(Form form = Form::Thread) {
    kernel.form = form;
    kernel.body = kernel.new_region();
    buffer = kernel.new_arg(kernel.body, buffer_type(Space::Global, Scalar::F32, {kDynamic}));
    scalar = kernel.new_arg(kernel.body, scalar_type(Scalar::Index));
    b.set_region(kernel.body);
  }
  ValueId load(ValueId index) { return b.value(op::MemLoad{buffer, index}, scalar_type(Scalar::F32)); }
  void store(ValueId index, ValueId v) { b.add(op::MemStore{buffer, index, v}); }
  // for (i = 0; i < high; ++i) body(i, carried...); `body` yields the next ones.
  std::vector<ValueId> loop(ValueId high, std::vector<ValueId> inits,
                            const std::function<std::vector<ValueId>(ValueId, std::vector<ValueId>)>& body) {
    op::For f{b.index(0), high, b.index(1), inits};
    f.body = kernel.new_region();
    ValueId i = kernel.new_arg(f.body, scalar_type(Scalar::Index));
    std::vector<ValueId> carried;
    std::vector<Type> types;
    for (ValueId v : inits) types.push_back(kernel.type(v));
    for (const Type& t : types) carried.push_back(kernel.new_arg(f.body, t));
    RegionId outer = b.region();
    b.set_region(f.body);
    b.yield(body(i, carried));
    b.set_region(outer);
    return kernel.op(b.add(std::move(f), types)).results;
  }
  void finish() { b.yield({}); }
};

ValueId map_of(Fixture& f, std::vector<ValueId> inputs, AxesList axes,
               const std::function<ValueId(std::vector<ValueId>, std::vector<ValueId>)>& body, Ints shape = {4, 8}) {
  op::Map m{inputs, axes, shape};
  m.body = f.kernel.new_region();
  std::vector<ValueId> indices, elements;
  for (size_t k = 0; k < shape.size(); ++k) indices.push_back(f.kernel.new_arg(m.body, scalar_type(Scalar::Index)));
  for (size_t k = 0; k < inputs.size(); ++k) elements.push_back(f.kernel.new_arg(m.body, scalar_type(Scalar::F32)));
  RegionId outer = f.b.region();
  f.b.set_region(m.body);
  f.b.yield({body(indices, elements)});
  f.b.set_region(outer);
  return f.b.value(std::move(m), tile_type(Scalar::F32, shape));
}
ValueId load_tile(Fixture& f, Ints shape = {4, 8}) {
  return f.b.value(op::Load{f.buffer, {f.scalar}, {0}}, tile_type(Scalar::F32, shape));
}
void store_tile(Fixture& f, ValueId tile) { f.b.add(op::Store{tile, f.buffer, {f.scalar}, {0}}); }

const AxesList kIdentity = {{0, 1}};

}  // namespace

TEST_SUITE("passes_cleanup") {
  TEST_CASE("equal scalars are one, whichever way their operands stand") {
    Fixture f;
    ValueId x = f.load(f.scalar);
    ValueId a = f.b.mul(x, f.b.real(Scalar::F32, 3)), b = f.b.mul(f.b.real(Scalar::F32, 3), x);
    f.store(f.scalar, f.b.add(a, b));
    f.finish();
    passes::cleanup(f.kernel, f.machine, f.diags);
    CHECK(count(f.kernel, BinaryFn::Mul) == 1);
    Fixture g;
    ValueId u = g.load(g.scalar), v = g.load(g.b.add(g.scalar, g.b.index(1)));
    g.store(g.scalar, g.b.sub(g.b.mul(u, v), g.b.mul(v, u)));
    g.finish();
    passes::cleanup(g.kernel, g.machine, g.diags);
    CHECK(count(g.kernel, BinaryFn::Mul) == 1);
  }

  TEST_CASE("what a loop does not change stands in front of it") {
    Fixture f;
    f.loop(f.scalar, {}, [&](ValueId i, auto) -> std::vector<ValueId> {
      ValueId base = f.b.mul(f.scalar, f.b.index(7));
      f.store(f.b.add(base, i), f.b.real(Scalar::F32, 1));
      return {};
    });
    f.finish();
    passes::cleanup(f.kernel, f.machine, f.diags);
    const auto& loop = f.kernel.op(first<op::For>(f.kernel)).as<op::For>();
    int inside = 0;
    for (OpId id : f.kernel.region(loop.body).ops) inside += f.kernel.op(id).is<op::Binary>();
    CHECK(inside == 1);
  }

  TEST_CASE("a division that might meet a zero stays behind its test") {
    Fixture f;
    f.loop(f.scalar, {}, [&](ValueId, auto) -> std::vector<ValueId> {
      f.store(f.b.binary(BinaryFn::Div, f.b.index(7), f.scalar), f.b.real(Scalar::F32, 1));
      return {};
    });
    f.finish();
    passes::cleanup(f.kernel, f.machine, f.diags);
    const auto& loop = f.kernel.op(first<op::For>(f.kernel)).as<op::For>();
    bool is_inside = false;
    for (OpId id : f.kernel.region(loop.body).ops) is_inside |= f.kernel.op(id).is<op::Binary>();
    CHECK(is_inside);
  }

  TEST_CASE("nothing leaves a launch") {
    Fixture f;
    op::Launch launch{{f.scalar}};
    launch.body = f.kernel.new_region();
    ValueId block = f.kernel.new_arg(launch.body, scalar_type(Scalar::Index));
    f.b.set_region(launch.body);
    f.store(block, f.b.convert(f.b.mul(f.scalar, f.scalar), Scalar::F32));
    f.b.yield({});
    f.b.set_region(f.kernel.body);
    RegionId body = launch.body;
    f.b.add(std::move(launch));
    f.finish();
    passes::cleanup(f.kernel, f.machine, f.diags);
    int inside = 0;
    for (OpId id : f.kernel.region(body).ops) inside += f.kernel.op(id).is<op::Binary>();
    CHECK(inside == 1);
  }

  TEST_CASE("a carried value that only feeds itself is dropped, one that is stored stays") {
    Fixture f;
    ValueId zero = f.b.real(Scalar::F32, 0);
    auto results = f.loop(f.scalar, {zero, zero}, [&](ValueId i, std::vector<ValueId> c) -> std::vector<ValueId> {
      return {f.b.add(c[0], f.load(i)), f.b.mul(c[1], c[1])};
    });
    f.store(f.scalar, results[0]);
    f.finish();
    passes::cleanup(f.kernel, f.machine, f.diags);
    const Op& loop = f.kernel.op(first<op::For>(f.kernel));
    CHECK(loop.results.size() == 1);
    CHECK(loop.as<op::For>().inits.size() == 1);
    CHECK(f.kernel.region(loop.as<op::For>().body).args.size() == 2);
    CHECK(count(f.kernel, BinaryFn::Mul) == 0);
    CHECK(count(f.kernel, BinaryFn::Add) == 1);
  }

  TEST_CASE("a loop without effect vanishes, one that stores does not") {
    Fixture f;
    f.loop(f.scalar, {f.b.real(Scalar::F32, 0)},
           [&](ValueId i, std::vector<ValueId> c) -> std::vector<ValueId> { return {f.b.add(c[0], f.load(i))}; });
    f.loop(f.scalar, {}, [&](ValueId i, auto) -> std::vector<ValueId> {
      f.store(i, f.b.real(Scalar::F32, 0));
      return {};
    });
    f.finish();
    passes::cleanup(f.kernel, f.machine, f.diags);
    CHECK(count<op::For>(f.kernel) == 1);
    CHECK(count<op::MemLoad>(f.kernel) == 0);
    CHECK(count<op::MemStore>(f.kernel) == 1);
  }

  TEST_CASE("ten thousand operations take no time to speak of") {
    Fixture f;
    for (int i = 0; i < 5000; ++i) f.store(f.b.add(f.scalar, f.b.index(i % 50)), f.b.real(Scalar::F32, i % 7));
    f.finish();
    passes::cleanup(f.kernel, f.machine, f.diags);
    CHECK(count(f.kernel, BinaryFn::Add) == 49);
    CHECK(count<op::Constant>(f.kernel) == 49 + 7);
  }
}

TEST_SUITE("passes_simplify") {
  TEST_CASE("a decided branch is spliced in and what it computes folds") {
    Fixture f(Form::Typed);
    auto make = [&](double value) {
      RegionId r = f.kernel.new_region(), outer = f.b.region();
      f.b.set_region(r);
      f.b.yield({f.b.real(Scalar::F32, value)});
      f.b.set_region(outer);
      return r;
    };
    // Made without folding, as they stand after a name has become a number.
    ValueId four = f.b.value(op::Binary{BinaryFn::Mul, f.b.index(2), f.b.index(2)}, scalar_type(Scalar::Index));
    ValueId is_large = f.b.value(op::Compare{CompareFn::Gt, four, f.b.index(3)}, scalar_type(Scalar::Bool));
    Type type = scalar_type(Scalar::F32);
    op::If branch{is_large, make(1), make(2)};
    ValueId result = f.kernel.op(f.b.add(std::move(branch), std::span(&type, 1))).result();
    f.b.add(op::ElementStore{f.buffer, {four}, result});
    f.finish();
    passes::simplify(f.kernel, f.machine, f.diags);
    CHECK(count<op::If>(f.kernel) == 0);
    const auto& store = f.kernel.op(first<op::ElementStore>(f.kernel)).as<op::ElementStore>();
    CHECK(f.kernel.constant(store.value)->f == 1);
    CHECK(f.kernel.constant(store.indices[0])->i == 4);
  }

  TEST_CASE("a loop without a trip gives what it was given") {
    Fixture f(Form::Typed);
    auto results =
        f.loop(f.b.index(0), {f.b.real(Scalar::F32, 5)},
               [&](ValueId, std::vector<ValueId> c) -> std::vector<ValueId> { return {f.b.add(c[0], c[0])}; });
    f.b.add(op::ElementStore{f.buffer, {f.scalar}, results[0]});
    f.finish();
    passes::simplify(f.kernel, f.machine, f.diags);
    CHECK(count<op::For>(f.kernel) == 0);
    CHECK(f.kernel.constant(f.kernel.op(first<op::ElementStore>(f.kernel)).as<op::ElementStore>().value)->f == 5);
  }
}

TEST_SUITE("passes_fuse") {
  TEST_CASE("a chain of maps collapses into one, splats become scalars") {
    Fixture f(Form::Typed);
    ValueId x = load_tile(f);
    ValueId two = f.b.value(op::Splat{f.b.real(Scalar::F32, 2)}, tile_type(Scalar::F32, {4, 8}));
    ValueId a = map_of(f, {x, two}, {{0, 1}, {0, 1}}, [&](auto, auto e) { return f.b.mul(e[0], e[1]); });
    ValueId b =
        map_of(f, {a}, kIdentity, [&](auto i, auto e) { return f.b.add(e[0], f.b.convert(i[0], Scalar::F32)); });
    ValueId c = map_of(f, {b, b}, {{0, 1}, {0, 1}}, [&](auto, auto e) { return f.b.mul(e[0], e[1]); });
    store_tile(f, c);
    f.finish();
    passes::fuse_elementwise(f.kernel, f.machine, f.diags);
    REQUIRE(count<op::Map>(f.kernel) == 1);
    CHECK(count<op::Splat>(f.kernel) == 0);
    const auto& map = f.kernel.op(first<op::Map>(f.kernel)).as<op::Map>();
    CHECK(map.inputs == std::vector<ValueId>{x});
    CHECK(count(f.kernel, BinaryFn::Add) == 1);
    CHECK(count(f.kernel, BinaryFn::Mul) == 2);
    // The yielded product is of the sum with itself, the sum of the index and the doubled element.
    const auto& product = *f.kernel.defined_by<op::Binary>(f.kernel.terminator(map.body).as<op::Yield>().values[0]);
    CHECK(product.a == product.b);
  }

  TEST_CASE("a result that is read twice, transposed or broadcast stays a tile") {
    Fixture f(Form::Typed);
    ValueId x = load_tile(f);
    auto negated = [&](ValueId v) {
      return map_of(f, {v}, kIdentity, [&](auto, auto e) { return f.b.unary(UnaryFn::Neg, e[0]); });
    };
    ValueId shared = negated(x);
    store_tile(f, shared);
    store_tile(f, negated(shared));
    ValueId row = f.b.value(op::Load{f.buffer, {f.scalar}, {0}}, tile_type(Scalar::F32, {4}));
    ValueId small = map_of(f, {row}, {{0}}, [&](auto, auto e) { return f.b.unary(UnaryFn::Exp, e[0]); }, {4});
    store_tile(f, map_of(f, {small}, {{0}}, [&](auto, auto e) { return f.b.unary(UnaryFn::Neg, e[0]); }));
    f.finish();
    passes::fuse_elementwise(f.kernel, f.machine, f.diags);
    CHECK(count<op::Map>(f.kernel) == 4);
  }

  TEST_CASE("a map that reads memory does not move past a write") {
    for (bool writes : {false, true}) {
      Fixture f(Form::Typed);
      ValueId a = map_of(f, {}, {}, [&](auto i, auto) {
        return f.b.value(op::ElementLoad{f.buffer, {i[0]}, Bounds::Inside}, scalar_type(Scalar::F32));
      });
      if (writes) f.b.add(op::ElementStore{f.buffer, {f.scalar}, f.b.real(Scalar::F32, 1), Bounds::Inside});
      store_tile(f, map_of(f, {a}, kIdentity, [&](auto, auto e) { return f.b.unary(UnaryFn::Neg, e[0]); }));
      f.finish();
      passes::fuse_elementwise(f.kernel, f.machine, f.diags);
      CHECK(count<op::Map>(f.kernel) == (writes ? 2 : 1));
    }
  }
}
