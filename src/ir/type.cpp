#include "ir/type.h"

#include "base/check.h"

namespace tilec::ir {

std::string_view name(Space space) {
  constexpr std::string_view kNames[] = {"global", "workspace", "shared", "private", "tensor_memory"};
  return kNames[int(space)];
}

int64_t Type::element_count() const {
  int64_t count = 1;
  for (int64_t extent : shape) {
    INVARIANT(extent >= 0, "only a static shape has a number of elements");
    count *= extent;
  }
  return count;
}

namespace {

size_t hash_of(const Type& type) {
  size_t hash = 0;
  auto mix = [&](uint64_t field) { hash = (hash ^ field) * 0x9E3779B97F4A7C15u ^ hash >> 29; };
  mix(uint64_t(type.kind) | uint64_t(type.element) << 8 | uint64_t(type.varying) << 16 | uint64_t(type.space) << 24 | uint64_t(type.layout.index) << 32);
  for (int64_t extent : type.shape) mix(uint64_t(extent));
  return hash;
}

}  // namespace

TypeId TypeTable::intern(Type type) {
  size_t hash = hash_of(type);
  auto [first, last] = ids_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (types_[it->second.index] == type) return it->second;
  TypeId id{uint32_t(types_.size())};
  ids_.emplace(hash, id);
  types_.push_back(std::move(type));
  return id;
}

Type scalar_type(Scalar element, bool varying) { return {.kind = TypeKind::Scalar, .element = element, .varying = varying}; }
Type vector_type(Scalar element, int64_t count, bool varying) {
  return {.kind = TypeKind::Vector, .element = element, .varying = varying, .shape = {count}};
}
Type tile_type(Scalar element, std::vector<int64_t> shape, LayoutId layout) {
  return {.kind = TypeKind::Tile, .element = element, .shape = std::move(shape), .layout = layout};
}
Type buffer_type(Space space, Scalar element, std::vector<int64_t> shape, LayoutId layout) {
  return {.kind = TypeKind::Buffer, .element = element, .space = space, .shape = std::move(shape), .layout = layout};
}
Type plain_type(TypeKind kind) { return {.kind = kind}; }

}  // namespace tilec::ir
