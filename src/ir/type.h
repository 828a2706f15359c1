// Types of IR values, interned in the kernel that they belong to, so that equality is an integer compare.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "base/scalar.h"
#include "layout/intern.h"

namespace tilec::ir {

using TypeId = Id<struct TypeTag>;
using layout::LayoutId;

enum class Space : uint8_t { Global, Workspace, Shared, Private, TensorMemory };
std::string_view name(Space space);

enum class TypeKind : uint8_t {
  Scalar,  // one number; in Thread IR uniform (one a warp's lanes agree on) or varying (one a lane)
  Vector,  // Thread IR: `shape[0]` numbers a lane, loaded, stored or given to an atom together
  Tile,    // a fragment: a value spread over the registers of a block (Typed: no layout yet; Placed: a RegLayout)
  Buffer,  // memory with extents; a shared one has a MemLayout from Placed on
  Token,   // an asynchronous copy that may not have completed
  Flight,  // a tile (in Thread IR a vector) that an asynchronous matrix product is still writing; used exactly once
  Ring,    // `shape[0]` slots handed from a producing role to consuming roles
};

constexpr int64_t kDynamic = -1;  // an extent known only at run time (buffers of device memory)

struct Type {
  TypeKind kind = TypeKind::Scalar;
  Scalar element = Scalar::F32;
  bool varying = false;
  Space space = Space::Global;
  std::vector<int64_t> shape;
  LayoutId layout;
  friend bool operator==(const Type&, const Type&) = default;

  bool is_scalar() const { return kind == TypeKind::Scalar; }
  bool is_tile() const { return kind == TypeKind::Tile; }
  bool is_buffer() const { return kind == TypeKind::Buffer; }
  int rank() const { return int(shape.size()); }
  int64_t element_count() const;  // of a static shape
};

class TypeTable {
 public:
  TypeId intern(Type type);
  const Type& operator[](TypeId id) const { return types_[id.index]; }
  size_t size() const { return types_.size(); }

 private:
  std::deque<Type> types_;
  std::unordered_multimap<size_t, TypeId> ids_;  // by hash
};

Type scalar_type(Scalar element, bool varying = false);
Type vector_type(Scalar element, int64_t count, bool varying = true);
Type tile_type(Scalar element, std::vector<int64_t> shape, LayoutId layout = {});
Type buffer_type(Space space, Scalar element, std::vector<int64_t> shape, LayoutId layout = {});
Type plain_type(TypeKind kind);

}  // namespace tilec::ir
