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

TypeId TypeTable::intern(Type type) {
  std::string key;
  for (int64_t field : {int64_t(type.kind), int64_t(type.element), int64_t(type.varying), int64_t(type.space), int64_t(type.layout.index)})
    key += std::to_string(field) + ",";
  for (int64_t extent : type.shape) key += std::to_string(extent) + "x";
  auto [it, is_new] = ids_.try_emplace(std::move(key), TypeId{uint32_t(types_.size())});
  if (is_new) types_.push_back(std::move(type));
  return it->second;
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
