#include "layout/intern.h"

#include "base/check.h"

namespace tilec::layout {
namespace {

struct Hash {
  size_t value = 0xcbf29ce484222325u;
  void add(uint64_t word) { value = (value ^ word ^ word >> 29) * 0x9e3779b97f4a7c15u; }
  void add(const Shape& shape) {
    add(static_cast<uint64_t>(shape.rank));
    for (int extent : shape.extents) add(static_cast<uint64_t>(extent));
  }
  void add(const Basis& basis) {
    add(static_cast<uint64_t>(basis.size()));
    for (Vec v : basis) add(v);
  }
};

}  // namespace

size_t hash_of(const RegLayout& layout) {
  Hash hash;
  hash.add(layout.shape);
  for (const Basis* bits : {&layout.reg, &layout.lane, &layout.warp, &layout.cta}) hash.add(*bits);
  for (const Grid& grid : layout.grids) {
    hash.add(static_cast<uint64_t>(grid.axis) << 40 ^ static_cast<uint64_t>(grid.place) << 36 ^
             static_cast<uint64_t>(grid.count));
  }
  return hash.value;
}

size_t hash_of(const MemLayout& layout) {
  Hash hash;
  hash.add(layout.shape);
  hash.add(layout.addr);
  hash.add(layout.copies);
  for (const MemGrid& grid : layout.grids) {
    hash.add(static_cast<uint64_t>(grid.axis) << 32 ^ static_cast<uint64_t>(grid.count));
    hash.add(static_cast<uint64_t>(grid.stride));
  }
  hash.add(static_cast<uint64_t>(layout.pad.every));
  hash.add(static_cast<uint64_t>(layout.pad.add));
  return hash.value;
}

template <class Layout>
LayoutId LayoutTable::add(Layout layout) {
  layout = normalized(std::move(layout));
  size_t hash = hash_of(layout);
  auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Layout* known = std::get_if<Layout>(&layouts_[it->second]);
    if (known != nullptr && *known == layout) return {it->second};
  }
  auto index = static_cast<uint32_t>(layouts_.size());
  layouts_.push_back(std::move(layout));
  by_hash_.emplace(hash, index);
  return {index};
}

LayoutId LayoutTable::intern(const RegLayout& layout) { return add(layout); }
LayoutId LayoutTable::intern(const MemLayout& layout) { return add(layout); }

bool LayoutTable::is_reg(LayoutId id) const { return std::holds_alternative<RegLayout>(layouts_[id.index]); }
bool LayoutTable::is_mem(LayoutId id) const { return std::holds_alternative<MemLayout>(layouts_[id.index]); }

const RegLayout& LayoutTable::reg(LayoutId id) const {
  INVARIANT(id.valid() && is_reg(id), "the id names a register layout");
  return *std::get_if<RegLayout>(&layouts_[id.index]);
}

const MemLayout& LayoutTable::mem(LayoutId id) const {
  INVARIANT(id.valid() && is_mem(id), "the id names a memory layout");
  return *std::get_if<MemLayout>(&layouts_[id.index]);
}

}  // namespace tilec::layout
