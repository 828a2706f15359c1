// Several versions of a shared tile, listed along a leading axis, and the ring that hands them over.
#pragma once
#include "ir/builder.h"

namespace tilec::passes {

// An array of `depth` tiles like `buffer`.
ir::ValueId add_versions(ir::Builder& builder, ir::ValueId buffer, int64_t depth);
ir::ValueId add_ring(ir::Builder& builder, const std::string& name, int64_t depth);
// One of them as a tile like `buffer`.
ir::ValueId view_version(ir::Builder& builder, ir::ValueId buffer, ir::ValueId versions, ir::ValueId version);

// `copy`, of a whole tile, in flight into one of them; gives its token.
ir::ValueId copy_ahead(ir::Builder& builder, ir::op::Copy copy, ir::ValueId versions, ir::ValueId version, ir::CopyClass copy_class);
// Takes the allocation away, wherever it stands under `region`.
void drop_alloc(ir::Kernel& kernel, ir::RegionId region, ir::ValueId buffer);

}  // namespace tilec::passes
