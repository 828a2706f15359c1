// The rest of a block's program behind sums of which it has some rows: for these rows alone.
#pragma once
#include <map>
#include <string>

#include "ir/builder.h"

namespace tilec::passes {

class RowSlicer {
 public:
  // `part` of `parts`: which rows of a tile are this block's.
  RowSlicer(ir::Kernel& kernel, ir::Builder& builder, ir::ValueId part, int64_t parts) : kernel_(kernel), builder_(builder), part_(part), parts_(parts) {}

  // The rows of `whole`, along its first axis, are `rows` from here on.
  void bind(ir::ValueId whole, ir::ValueId rows) { sliced_[whole.index] = rows, axes_[whole.index] = 0; }
  // The first of this block's rows, of so many of one.
  ir::ValueId first(int64_t rows);
  // The rows of any tile along one of its axes.
  ir::ValueId rows_of(ir::ValueId whole, int64_t axis);
  // Emits the operation, for rows where it depends on what is bound. Why it cannot; empty: it did.
  std::string emit(ir::OpId id);

 private:
  bool is_sliced(ir::ValueId v) const { return sliced_.contains(v.index); }
  bool depends(ir::OpId id) const;
  ir::Type fewer(ir::Type type, int64_t axis) const;
  std::string keep(ir::OpId id);
  std::string store(ir::OpId id);
  std::string map(ir::OpId id);
  std::string shift_indices(const ir::op::Map& map, int64_t axis);
  std::string along(ir::OpId id);
  void bind(ir::ValueId whole, ir::ValueId rows, int64_t axis) { sliced_[whole.index] = rows, axes_[whole.index] = axis; }

  ir::Kernel& kernel_;
  ir::Builder& builder_;
  ir::ValueId part_;
  int64_t parts_;
  std::map<uint32_t, ir::ValueId> sliced_;  // by the index of the whole tile
  std::map<uint32_t, int64_t> axes_;        // along which its rows lie
  std::map<int64_t, ir::ValueId> firsts_;   // by how many rows a block has
};

}  // namespace tilec::passes
