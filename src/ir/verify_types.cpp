// V012 to V014: the type of every value that is defined.
#include "ir/verify_parts.h"

namespace tilec::ir::verifier {

namespace {

bool is_static(const Type& type) {
  return std::all_of(type.shape.begin(), type.shape.end(), [](int64_t extent) { return extent > 0; });
}

// What is wrong with a type by itself, or nothing.
std::string_view malformed(const Type& type) {
  bool is_device = type.space == Space::Global || type.space == Space::Workspace;
  switch (type.kind) {
    case TypeKind::Scalar: return type.shape.empty() ? "" : "a scalar has no shape";
    case TypeKind::Vector: return type.rank() == 1 && is_static(type) ? "" : "a vector has a count of at least one";
    case TypeKind::Tile:
    case TypeKind::Flight:
      return type.rank() >= 1 && is_static(type) ? "" : "a tile has at least one axis, and extents of at least one";
    case TypeKind::Buffer:
      for (int64_t extent : type.shape)
        if (extent < (is_device ? kDynamic : 0)) return "only buffers of device memory have unknown extents";
      return "";
    case TypeKind::Token: return type.shape.empty() ? "" : "a token has no shape";
    case TypeKind::Ring: return type.rank() == 1 && is_static(type) ? "" : "a ring has a depth of at least one";
  }
  return "it is of no kind";
}

bool belongs(const Type& type, Form form, Level level) {
  bool is_thread_code = level == Level::Thread || level == Level::Simt;
  bool is_one_each = type.is_scalar() || type.kind == TypeKind::Vector || type.kind == TypeKind::Flight || (type.is_buffer() && type.space == Space::Private);
  if (type.varying && !(is_thread_code && is_one_each)) return false;
  switch (type.kind) {
    case TypeKind::Scalar:
    case TypeKind::Buffer: return true;
    case TypeKind::Vector: return form == Form::Thread;
    case TypeKind::Tile: return form != Form::Thread;
    case TypeKind::Flight: return form == Form::Staged || form == Form::Thread;
    case TypeKind::Token:
    case TypeKind::Ring: return form == Form::Staged;
  }
  return false;
}

bool needs_layout(const Type& type, Form form) {
  if (form != Form::Placed && form != Form::Staged) return false;
  return type.is_tile() || type.kind == TypeKind::Flight || (type.is_buffer() && type.space == Space::Shared);
}

template <class Layout>
std::string layout_flaw(const Layout& layout, const Type& type) {
  bool is_of_shape = layout.shape.rank == type.rank();
  for (int axis = 0; is_of_shape && axis < type.rank(); ++axis) is_of_shape = layout.shape[axis] == type.shape[axis];
  return is_of_shape ? flaw(layout) : "it is the layout of another shape";
}

std::string layout_flaw(const Type& type, const layout::LayoutTable& layouts) {
  if (type.layout.index >= layouts.size()) return "it does not exist";
  if (layouts.is_mem(type.layout) != type.is_buffer()) return "it is of the other kind";
  return type.is_buffer() ? layout_flaw(layouts.mem(type.layout), type) : layout_flaw(layouts.reg(type.layout), type);
}

}  // namespace

void check_type(Check& check, ValueId v, CheckedTypes& checked) {
  const Type& type = check.type(v);
  size_t index = check.kernel.value(v).type.index;
  checked.resize(std::max(checked.size(), check.kernel.types.size()));
  const uint8_t here = uint8_t(1 << int(check.level));
  // Without a layout, all values of a type are alike, but for parts of buffers.
  if ((checked[index] & here) && !type.layout.valid() && !needs_layout(type, check.form)) return;
  std::string_view wrong = malformed(type);
  if (!check.require(wrong.empty(), Code::V014, v, ": ", wrong)) return;
  if (!check.require(belongs(type, check.form, check.level), Code::V014, v, " has the type ", type,
                     ", which does not belong here"))
    return;
  bool has_layout = type.layout.valid();
  // A part of a buffer is addressed through the whole.
  bool is_part = check.kernel.defined_by<op::Subview>(v) != nullptr;
  check.require(has_layout || is_part || !needs_layout(type, check.form), Code::V012, type.is_buffer() ? "buffer " : "tile ", v,
                " has no layout");
  if (has_layout && (checked[index] & kCheckedLayout)) return;
  checked[index] |= uint8_t(here | (has_layout ? kCheckedLayout : 0));
  if (!has_layout) return;
  std::string flaw = layout_flaw(type, check.kernel.layouts);
  check.require(flaw.empty(), Code::V013, "the layout of ", v, ": ", flaw);
}

}  // namespace tilec::ir::verifier
