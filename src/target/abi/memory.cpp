#include "target/abi/memory.h"

#include "base/check.h"
#include "ir/packed.h"

namespace tilec::target {

const BufferHome& LaunchMemory::home(ir::OpId alloc) const {
  for (const BufferHome& home : homes)
    if (home.alloc == alloc) return home;
  UNREACHABLE("every buffer of a launch has a home");
}

namespace {

int64_t whole_lines(int64_t bytes) { return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment; }

}  // namespace

LaunchMemory plan_memory(const ir::Kernel& kernel, ir::RegionId launch_body, int lanes) {
  LaunchMemory memory;
  int64_t stack_bytes = 0;
  memory.scratch_bytes = whole_lines(ir::packed_bytes(kernel, launch_body));
  ir::each_op(kernel, launch_body, [&](ir::OpId id) {
    if (!kernel.op(id).is<ir::op::Alloc>()) return;
    const ir::Type& type = kernel.type(kernel.op(id).result());
    INVARIANT(type.space == ir::Space::Shared || type.space == ir::Space::Private, "a block has shared and private buffers");
    BufferHome home{.alloc = id, .elements = type.element_count() * (type.varying ? lanes : 1)};
    int64_t bytes = home.elements * byte_width(type.element);
    if (int64_t place = kernel.op(id).as<ir::op::Alloc>().offset; place != ir::kUnplaced) {
      home.offset = place;
    } else if (type.space == ir::Space::Private && stack_bytes + bytes <= kStackBytes) {
      home.on_stack = true;
      stack_bytes += bytes;
    } else {
      home.offset = memory.scratch_bytes;
      memory.scratch_bytes += whole_lines(bytes);
    }
    memory.homes.push_back(home);
  });
  return memory;
}

}  // namespace tilec::target
