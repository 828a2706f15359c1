// Memory: views of it, reading and writing them.
#pragma once
#include "sema/scalar.h"

namespace tilec::sema {

// The whole of a buffer.
View whole(Instance& in, ir::ValueId buffer, MemoryId memory, std::vector<Extent> shape);
// A shared, local or workspace array, made here. None of the extents may depend on the call but those of a workspace.
View allocate(Instance& in, const ast::Name& name, ir::Space space, Scalar element, std::vector<Extent> extents);
ir::ValueId extent_value(Instance& in, const Extent& extent);

// May this be read, or written, here? Reports `out` parameters that are read, `in` parameters that are written,
// nullable
// ones that nobody tested, memory of the device in host arithmetic.
bool is_readable(Instance& in, const View& view, Span span);
bool is_writable(Instance& in, const View& view, Span span, bool is_read = false);

// Are the two seen to share no element? Parts of one memory are where they differ by a known distance along some dimension.
bool lie_apart(Instance& in, const View& a, const View& b);

Value load_element(Instance& in, const View& view, Span span);
ir::ValueId load_tile(Instance& in, const View& view, Span span);  // none after a mistake
// `view = value`: an element, a tile, a number spread over a region, or memory to memory. `span` is that of the target.
// `converts`: the program wrote `as`, so that a copy may change the element.
void store(Instance& in, const View& view, const Operand& value, Span span, bool converts = false);

// One offset a dimension, zeros written out.
std::vector<ir::ValueId> offsets_of(Instance& in, const View& view);
ir::BoundsList unknown_bounds(const View& view);

// What `base[subscripts]` picks of something with these extents.
struct Selection {
  std::vector<ir::ValueId> offsets;  // for each axis of the base; none: 0
  ir::Axes axes;                     // for each axis of the result that of the base; kNewAxis for `_`
  std::vector<Extent> shape;         // of each axis of the result
  std::vector<bool> ends_early;      // for each axis of the base: before that does, as far as is known
  bool is_part = false;              // not all of it
  bool is_region = false;            // written with `:` or `+:`, so a tile and not a name for what is left
  bool is_element() const { return axes.empty(); }
};
std::optional<Selection> select(Instance& in, const ast::Index& index, const std::vector<Extent>& extents, Span span);
// The part of a tile that was selected, its new axes among its axes; Poison after a mistake.
Value extract(Instance& in, const Operand& tile, const Selection& selection, Span span);
// Is the selected part not known to leave a tile of this shape? Reports what is.
bool stays_inside(Instance& in, const std::string& name, std::span<const Extent> shape, const Selection& selection, Span span);
// The same of a view; parts of tensors may hang over.
bool stays_inside(Instance& in, const View& view, const Selection& selection, Span span);
// Does `length` from `offset` on (none: 0) stay within the view along its axis? Nothing cuts off what lies beyond the end of a part, where the
// memory goes on. Reports what is not shown to.
bool stays_in_part(Instance& in, const View& view, size_t axis, ir::ValueId offset, const Extent& length, int64_t step, Span span);
// The part of `view` that was selected, new axes aside; none, and a report, where it is known to leave a tile.
std::optional<View> part(Instance& in, const View& view, const Selection& selection, Span span);

}  // namespace tilec::sema
