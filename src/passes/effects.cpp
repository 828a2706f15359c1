#include "passes/effects.h"

namespace tilec::passes {

using namespace ir;

bool is_pure(const Op& op) {
  switch (op.kind()) {
    case OpKind::Constant:
    case OpKind::Unary:
    case OpKind::Binary:
    case OpKind::Fma:
    case OpKind::Overflows:
    case OpKind::Inside:
    case OpKind::Compare:
    case OpKind::Select:
    case OpKind::Convert:
    case OpKind::Extent:
    case OpKind::Stride:
    case OpKind::Present:
    case OpKind::IsAligned:
    case OpKind::HasBoxes:
    case OpKind::ClusterBlocks:
    case OpKind::GridBlocks:
    case OpKind::BlockNumber:
    case OpKind::BlockIndex:
    case OpKind::ThreadIndex:
    case OpKind::LaneIndex:
    case OpKind::WarpIndex:
    case OpKind::VectorMake:
    case OpKind::VectorElement:
      return true;
    default:
      return false;
  }
}

bool may_be_hoisted(const Kernel& kernel, const Op& op) {
  if (!is_pure(op)) return false;
  const auto* binary = op.get<op::Binary>();
  if (!binary || (binary->fn != BinaryFn::Div && binary->fn != BinaryFn::Rem)) return true;
  if (is_float(kernel.type(binary->a).element)) return true;
  auto divisor = kernel.constant(binary->b);
  return divisor && divisor->i != 0 && divisor->i != -1;
}

bool reads_memory(const Op& op) {
  switch (op.kind()) {
    case OpKind::ElementLoad:
    case OpKind::MemLoad:
    case OpKind::ReadBlock:
    case OpKind::LoadMatrices:
    case OpKind::Load:
    case OpKind::Copy:
    case OpKind::CopyAsync:
    case OpKind::CopyBox:
    case OpKind::StoreBox:
    case OpKind::CopyLanes:
    case OpKind::ClusterSum:
    case OpKind::Gemm:
    case OpKind::GemmAsync:
    case OpKind::GroupProduct:
    case OpKind::Atomic:
    case OpKind::MemAtomic:
      return true;
    default:
      return false;
  }
}

bool has_effect(const Kernel& kernel, const Op& op) {
  if (is_pure(op)) return is_guarded(op);
  switch (op.kind()) {
    // A read that may miss its buffer reports that.
    case OpKind::ElementLoad:
      return op.as<op::ElementLoad>().bounds != Bounds::Inside;
    case OpKind::Fault: {
      auto condition = kernel.constant(op.as<op::Fault>().condition);
      return !condition || condition->i != 0;
    }
    case OpKind::MemLoad:
    case OpKind::LoadMatrices:
    case OpKind::Shuffle:
    case OpKind::TurnMatrix:
    case OpKind::Vote:
    case OpKind::WarpReduce:
    case OpKind::Alloc:
    case OpKind::Subview:
    case OpKind::Load:
    case OpKind::Splat:
    case OpKind::Gemm:
    case OpKind::Reduce:
    case OpKind::VoteTile:  // that warps meet there nobody relies on but `insert-barriers`, behind which nothing drops it
    case OpKind::Scan:
    case OpKind::Permute:
    case OpKind::Reshape:
    case OpKind::Insert:
    case OpKind::Extract:
    case OpKind::ConvertLayout:
    case OpKind::RingAlloc:
    case OpKind::OrderAlloc:
      return false;
    case OpKind::If:
    case OpKind::For:
    case OpKind::Map: {
      bool found = false;
      each_region(op.data, [&](RegionId r) {
        for (OpId inner : kernel.region(r).ops) found = found || has_effect(kernel, kernel.op(inner));
      });
      return found;
    }
    case OpKind::Yield:
      return false;  // it stands and falls with its region
    default:
      return true;  // launches, loops that may not end, stores, atomics, barriers, rings, roles, atoms
  }
}

}  // namespace tilec::passes
