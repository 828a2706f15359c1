#include "check/heavy_tiles.h"

#include <unordered_map>

namespace tilec::check {

using namespace ir;

namespace {

struct Scales {
  const Kernel& kernel;
  HeavyTiles found;
  std::unordered_map<uint32_t, ValueId> landed;  // a flight, and the tile that it is once its products have ended

  int64_t registers(ValueId v) const {
    const Type& type = kernel.type(v);
    bool is_spread = (type.kind == TypeKind::Tile || type.kind == TypeKind::Flight) && type.layout.valid();
    if (!is_spread) return 0;
    return (kernel.layouts.reg(type.layout).registers() * byte_width(type.element) + 3) / 4;
  }

  void weigh(ValueId v, ValueId named, Span place, TileWeight& heaviest) const {
    const std::string& name = kernel.value(named).hint;
    int64_t weight = registers(v);
    if (!name.empty() && weight > heaviest.registers) heaviest = {name, place, weight};
  }
  // What a loop carries is made where its first value is.
  Span place_of(ValueId first, Span loop) const { return kernel.value(first).op.valid() ? kernel.op(kernel.value(first).op).span : loop; }

  // The source's name for what a product adds up in: the tile's before, or where it begins from nothing the one behind.
  ValueId name_of(const op::GemmAsync& product, ValueId flight) const {
    auto* begin = kernel.defined_by<op::BeginFlight>(product.acc);
    ValueId before = begin ? begin->tile : product.acc;
    auto behind = landed.find(flight.index);
    bool has_name = !kernel.value(before).hint.empty() || behind == landed.end();
    return has_name ? before : behind->second;
  }

  void note_landings(RegionId region) {
    each_op(kernel, region, [&](OpId id) {
      const Op& op = kernel.op(id);
      if (auto* await = op.get<op::AwaitGemm>()) landed.try_emplace(await->flight.index, op.result());
    });
  }

  void weigh_carried(RegionId launch) {
    each_op(kernel, launch, [&](OpId id) {
      const Op& op = kernel.op(id);
      auto* loop = op.get<op::For>();
      for (size_t i = 0; loop && i < loop->inits.size(); ++i) {
        ValueId carried = kernel.region(loop->body).args[i + 1];  // behind the index
        weigh(carried, carried, place_of(loop->inits[i], op.span), found.any);
      }
    });
  }

  void weigh_made(RegionId launch) {
    each_op(kernel, launch, [&](OpId id) {
      const Op& op = kernel.op(id);
      for (ValueId v : op.results) weigh(v, v, op.span, found.any);
      if (auto* product = op.get<op::GemmAsync>()) weigh(op.result(), name_of(*product, op.result()), op.span, found.accumulator);
    });
  }
};

// Of two accumulators as heavy, the one that is the heaviest tile as well is meant.
HeavyTiles weighed(const Kernel& kernel, RegionId launch) {
  Scales scales{kernel, {}, {}};
  scales.note_landings(launch);
  scales.weigh_carried(launch);
  scales.weigh_made(launch);
  HeavyTiles found = scales.found;
  bool is_same = found.accumulator.registers == found.any.registers;
  if (!is_same || found.accumulator.registers == 0) return found;
  each_op(kernel, launch, [&](OpId id) {
    auto* product = kernel.op(id).get<op::GemmAsync>();
    if (product && kernel.value(scales.name_of(*product, kernel.op(id).result())).hint == found.any.name) found.accumulator = found.any;
  });
  return found;
}

}  // namespace

std::vector<HeavyTiles> heavy_tiles(const Kernel& kernel) {
  std::vector<HeavyTiles> all;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (auto* launch = kernel.op(id).get<op::Launch>()) all.push_back(weighed(kernel, launch->body));
  });
  return all;
}

}  // namespace tilec::check
