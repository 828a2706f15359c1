// Tiles that are computed where they are read. On a CPU a tile rarely fits the registers; a chain of a load, maps and a
// reduction or store then runs as one loop, element by element, instead of through an array after every step.
#include "lower/lowering.h"
#include "lower/map_effects.h"

namespace tilec::lower {

namespace {

// A map as cheap as reading its result from memory may be repeated for each of its readers.
constexpr size_t kCheapOps = 2;
constexpr int kCheapReads = 2;

bool is_as_cheap_as_reading(const ir::Op& op) {
  if (const auto* binary = op.get<ir::op::Binary>())
    return binary->fn != ir::BinaryFn::Div && binary->fn != ir::BinaryFn::Rem && binary->fn != ir::BinaryFn::Pow;
  const auto* unary = op.get<ir::op::Unary>();
  return !unary || unary->fn == ir::UnaryFn::Neg || unary->fn == ir::UnaryFn::Abs || unary->fn == ir::UnaryFn::Not;
}

}  // namespace

bool Lowering::may_defer(const ir::Op& op, int most_reads) const {
  if (machine_.simd_bytes == 0 || op.results.size() != 1 || fits_registers(source_.type(op.result()))) return false;
  const std::vector<OpId>& uses = uses_[op.result().index];
  if (int(uses.size()) > most_reads) return false;
  // Readers in the same region run as often as the definition, and after all that it reads is known.
  return std::all_of(uses.begin(), uses.end(), [&](OpId use) {
    const ir::Op& reader = source_.op(use);
    bool reads_once = reader.is<ir::op::Map>() || reader.is<ir::op::Reduce>() || reader.is<ir::op::Store>();
    return reads_once && region_of_[use.index] == home_region_[op.result().index];
  });
}

bool Lowering::may_defer_map(const ir::Op& op, const ir::op::Map& map) const {
  const std::vector<OpId>& body = source_.region(map.body).ops;
  bool is_cheap = body.size() <= kCheapOps + 1 &&  // and the yield
                  std::ranges::all_of(body, [&](OpId id) { return is_as_cheap_as_reading(source_.op(id)); });
  return !op.results.empty() && !has_effects(source_, map.body) && may_defer(op, is_cheap ? kCheapReads : 1);
}

unsigned Lowering::unrolled_axes(const Home& home) const {
  return home.deferred ? home.deferred->unrolled_axes : home.in_registers() ? ~0u : 0u;
}

unsigned Lowering::unrolled_axes(const ir::op::Map& map, std::span<const Home> inputs) const {
  unsigned axes = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t a = 0; a < map.input_axes[i].size(); ++a)
      if (unrolled_axes(inputs[i]) >> a & 1) axes |= 1u << map.input_axes[i][a];
  return axes;
}

std::vector<Guard> Lowering::guards(const Home& home) const {
  return home.deferred ? home.deferred->guards : std::vector<Guard>{};
}

std::vector<Guard> Lowering::guards(std::span<const Home> homes) const {
  std::vector<Guard> all;
  for (const Home& h : homes)
    for (Guard& guard : guards(h)) all.push_back(std::move(guard));
  return all;
}

void Lowering::defer_map(const ir::Op& op, const ir::op::Map& map, std::vector<Home> inputs) {
  const Type& type = source_.type(op.result());
  Deferred deferred{{}, guards(inputs), unrolled_axes(map, inputs), {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].in_memory()) deferred.arrays.push_back(map.inputs[i]);
    if (inputs[i].deferred) deferred.arrays.insert(deferred.arrays.end(), inputs[i].deferred->arrays.begin(), inputs[i].deferred->arrays.end());
  }
  for (ValueId array : deferred.arrays)
    for (OpId reader : uses_[op.result().index]) uses_[array.index].push_back(reader);
  deferred.element = [this, &map, layout = type.layout, inputs = std::move(inputs)](const Point& point) {
    return map_element(map, reg_layout(layout), inputs, point)[0];
  };
  bind_home(op.result(), {type.layout, {}, {}, std::make_shared<Deferred>(std::move(deferred))});
}

}  // namespace tilec::lower
