#include "sema/int_sums.h"

#include <bit>

#include "sema/scalar.h"

namespace tilec::sema {

namespace {

constexpr int kHalf = 32, kAll = 64, kIndexBits = 31, kDeepest = 16;

// Numbers lie between -2^bits and 2^bits. Of what is not looked at nothing is known.
struct Bits {
  const ir::Kernel& kernel;
  int depth = 0;

  int of_tile(ir::ValueId tile) {
    const ir::Op* made = depth < kDeepest ? kernel.definition(tile) : nullptr;
    if (!made) return kAll;
    if (auto* splat = made->get<op::Splat>()) return of(splat->x, nullptr);
    auto* map = made->get<op::Map>();
    if (!map) return kAll;
    const size_t place = size_t(std::ranges::find(made->results, tile) - made->results.begin());
    return of(kernel.terminator(map->body).as<op::Yield>().values[place], map);
  }

  int of(ir::ValueId v, const op::Map* map) {
    if (auto c = kernel.constant(v)) return c->is_float ? kAll : std::bit_width(uint64_t(c->i < 0 ? ~c->i : c->i));
    const ir::Op* made = kernel.definition(v);
    if (!made) return of_argument(v, map);
    if (depth >= kDeepest) return kAll;
    ++depth;
    int bits = kAll;
    if (auto* o = made->get<op::Convert>()) {
      const Scalar from = kernel.type(o->x).element;
      bits = is_integer(from) && from != Scalar::Index ? std::max(1, 8 * byte_width(from)) : of(o->x, map);
      if (is_float(from)) bits = kAll;
    }
    if (auto* o = made->get<op::Select>()) bits = std::max(of(o->a, map), of(o->b, map));
    if (auto* o = made->get<op::Binary>()) {
      const int a = of(o->a, map), b = of(o->b, map);
      if (o->fn == ir::BinaryFn::Add || o->fn == ir::BinaryFn::Sub) bits = std::max(a, b) + 1;
      if (o->fn == ir::BinaryFn::Mul) bits = a + b;
      if (o->fn == ir::BinaryFn::Min || o->fn == ir::BinaryFn::Max) bits = std::max(a, b);
    }
    --depth;
    return std::min(bits, kAll);
  }

  // A coordinate, or an element of an input.
  int of_argument(ir::ValueId v, const op::Map* map) {
    if (!map || kernel.value(v).region != map->body) return kAll;
    const auto& args = kernel.region(map->body).args;
    const size_t at = size_t(std::ranges::find(args, v) - args.begin());
    if (at < map->shape.size()) return kIndexBits;
    ++depth;
    const int bits = of_tile(map->inputs[at - map->shape.size()]);
    --depth;
    return bits;
  }
};

ir::ValueId half(Instance& in) { return in.builder.index(int64_t(1) << kHalf); }

// With what the sum of the lower halves carries over, no step leaves 64 bits unless the whole does.
ir::ValueId put_together(Instance& in, ir::ValueId upper, ir::ValueId lower) {
  const ir::ValueId carried = in.builder.add(upper, in.builder.binary(ir::BinaryFn::Div, lower, half(in)));
  return in.builder.add(in.builder.mul(carried, half(in)), in.builder.binary(ir::BinaryFn::Rem, lower, half(in)));
}

}  // namespace

ir::ValueId warp_sum_of_ints(Instance& in, ir::ValueId x, const std::function<ir::ValueId(ir::ValueId)>& total) {
  constexpr int kLaneBits = 7;
  if (Bits{in.kernel}.of(x, nullptr) + kLaneBits < kAll) return total(x);
  const ir::ValueId upper = total(in.builder.binary(ir::BinaryFn::Div, x, half(in))), lower = total(in.builder.binary(ir::BinaryFn::Rem, x, half(in)));
  return put_together(in, upper, lower);
}

Value sum_of_ints(Instance& in, ir::ValueId tile, int64_t count, Span span, const std::function<Value(ir::ValueId)>& total) {
  if (Bits{in.kernel}.of_tile(tile) + std::bit_width(uint64_t(count)) < kAll) return total(tile);
  auto part = [&](ir::BinaryFn fn) {
    Value made = map_elements(in, std::array{Operand{Tile{tile}, span}}, span, [&](std::span<const Operand> x) -> Value {
      return Dynamic{in.builder.binary(fn, emit(in, number(in, x[0])), half(in))};
    });
    return total(materialise(in, {made, span}));
  };
  const Value upper = part(ir::BinaryFn::Div), lower = part(ir::BinaryFn::Rem);
  Value whole = map_elements(in, std::array{Operand{upper, span}, Operand{lower, span}}, span, [&](std::span<const Operand> x) -> Value {
    return Dynamic{put_together(in, emit(in, number(in, x[0])), emit(in, number(in, x[1])))};
  });
  if (!upper.is<Tile>()) return whole;
  return Tile{materialise(in, {whole, span})};
}

}  // namespace tilec::sema
