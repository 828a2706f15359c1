// Scalar operations: the same operations, with uniform and varying told apart, and elements at linear addresses.
#include <bit>

#include "lower/lowering.h"

namespace tilec::lower {

ValueId Lowering::scalar(ValueId source) const {
  auto found = scalars_.find(source.index);
  INVARIANT(found != scalars_.end(), "a scalar is lowered before its use");
  return found->second;
}

std::vector<ValueId> Lowering::scalars(const std::vector<ValueId>& sources) const {
  std::vector<ValueId> out;
  for (ValueId v : sources) out.push_back(scalar(v));
  return out;
}

ValueId Lowering::broadcast(ValueId v) {
  Type type = target_.type(v);
  if (type.varying) return v;
  type.varying = true;
  return builder_.value(ir::op::Convert{v}, type);
}

ValueId Lowering::all(ValueId a, ValueId b) {
  if (!a.valid()) return b;
  return b.valid() ? builder_.logical_and(a, b) : a;
}

void Lowering::lower_scalar(const ir::Op& op) {
  struct Visitor {
    Lowering& l;
    const ir::Op& op;
    Builder& b = l.builder_;

    // True in the lanes whose index lies within the extent of its axis.
    ValueId inside(ValueId buffer, ValueId index, size_t axis) {
      ValueId ok;
      if (!l.is_nonnegative(index)) ok = b.compare(ir::CompareFn::Ge, index, b.index(0));
      return l.all(ok, b.compare(ir::CompareFn::Lt, index, l.extent(buffer, int(axis))));
    }
    // Reports the first axis that was left. Returns the lanes that stay inside along all of them; none when all do.
    ValueId guard(ValueId buffer, const std::vector<ValueId>& indices) {
      if (indices.empty()) return {};
      ValueId ok, left = indices.back();
      for (size_t axis = indices.size(); axis-- > 0;) {
        ValueId here = inside(buffer, indices[axis], axis);
        if (axis + 1 < indices.size()) left = b.select(here, left, indices[axis]);
        ok = l.all(here, ok);
      }
      ValueId extent = indices.size() == 1 ? l.extent(buffer, 0) : ValueId{};
      b.add(ir::op::Fault{l.all(l.mask_, b.logical_not(ok)), left, int64_t(op.span.begin), ir::FaultCause::Outside, extent});
      return ok;
    }
    struct Element {
      ValueId index, mask;
    };
    Element element(ValueId buffer, const std::vector<ValueId>& sources, ir::Bounds bounds) {
      std::vector<ValueId> indices = l.scalars(sources);
      Element e{{}, l.mask_};
      if (bounds != ir::Bounds::Inside) e.mask = l.all(l.mask_, guard(buffer, indices));
      std::vector<Coordinate> coordinates;
      for (ValueId i : indices) coordinates.push_back({i, {}});
      e.index = l.address(buffer, coordinates);
      return e;
    }
    void done(ValueId v) { l.bind(op.result(), v); }

    void operator()(const ir::op::Constant& c) { done(b.constant(l.source_.type(op.result()).element, c.number)); }
    // Lanes that do not run may hold any number, and report nothing.
    void report(ValueId bad, ir::FaultCause cause) {
      b.add(ir::op::Fault{l.all(l.mask_, bad), b.index(0), int64_t(op.span.begin), cause});
    }
    void operator()(const ir::op::Unary& o) {
      ValueId x = l.scalar(o.x);
      if (!o.guarded) return done(b.unary(o.fn, x));
      ValueId is_least = b.compare(ir::CompareFn::Eq, x, b.index(INT64_MIN));
      report(is_least, ir::FaultCause::Overflow);
      done(b.unary(o.fn, b.select(is_least, b.index(0), x)));
    }
    void operator()(const ir::op::Binary& o) {
      bool divides = o.fn == ir::BinaryFn::Div || o.fn == ir::BinaryFn::Rem;
      if (!ir::is_guarded(op)) return done(b.binary(o.fn, l.scalar(o.a), l.scalar(o.b)));
      done(divides ? guarded_division(o) : guarded_sum(o));
    }
    ValueId guarded_division(const ir::op::Binary& o) {
      ValueId a = l.scalar(o.a), divisor = l.scalar(o.b);
      Scalar element = l.source_.type(o.b).element;
      ValueId zero = b.constant(element, ir::Number::integer(0)), one = b.constant(element, ir::Number::integer(1));
      if (o.may_leave) {
        ValueId bad = b.overflows(o.fn, a, divisor);
        report(bad, ir::FaultCause::Overflow);
        divisor = b.select(bad, one, divisor);
      }
      if (!o.guarded) return b.binary(o.fn, a, divisor);
      ValueId is_zero = b.compare(ir::CompareFn::Eq, divisor, zero);
      report(is_zero, ir::FaultCause::Division);
      return b.select(is_zero, zero, b.binary(o.fn, a, b.select(is_zero, one, divisor)));
    }
    // Where it would leave 64 bits, the first operand stands for it.
    ValueId guarded_sum(const ir::op::Binary& o) {
      ValueId first = l.scalar(o.a), second = l.scalar(o.b), bad = b.overflows(o.fn, first, second);
      report(bad, ir::FaultCause::Overflow);
      return b.binary(o.fn, first, b.select(bad, b.index(o.fn == ir::BinaryFn::Mul ? 1 : 0), second));
    }
    void operator()(const ir::op::Overflows& o) { done(b.overflows(o.fn, l.scalar(o.a), l.scalar(o.b))); }
    void operator()(const ir::op::Inside&) { done(b.boolean(true)); }
    void operator()(const ir::op::Fma& o) { done(b.fma(l.scalar(o.a), l.scalar(o.b), l.scalar(o.c))); }
    void operator()(const ir::op::Compare& o) { done(b.compare(o.fn, l.scalar(o.a), l.scalar(o.b))); }
    void operator()(const ir::op::Select& o) { done(b.select(l.scalar(o.condition), l.scalar(o.a), l.scalar(o.b))); }
    void operator()(const ir::op::Convert& o) { done(b.convert(l.scalar(o.x), l.source_.type(op.result()).element, o.mode)); }
    void operator()(const ir::op::Extent& o) { done(l.extent(o.buffer, int(o.axis))); }
    void operator()(const ir::op::Stride& o) { done(l.stride(o.buffer, int(o.axis))); }
    void operator()(const ir::op::Present& o) { done(b.value(ir::op::Present{l.scalar(o.buffer)}, ir::scalar_type(Scalar::Bool))); }
    void operator()(const ir::op::ClusterBlocks& o) { done(b.value(o, ir::scalar_type(Scalar::Index))); }
    void operator()(const ir::op::GridBlocks& o) { done(b.value(o, ir::scalar_type(Scalar::Index))); }
    void operator()(const ir::op::BlockNumber& o) { done(b.value(o, ir::scalar_type(Scalar::Index))); }
    void operator()(const ir::op::BlockIndex& o) { done(b.value(ir::op::BlockIndex{l.scalar(o.number), o.axis}, ir::scalar_type(Scalar::Index))); }
    void operator()(const ir::op::ElementLoad& o) {
      if (l.is_for_block() && l.is_written(o.buffer)) return broadcast_load(o);
      Element e = element(o.buffer, o.indices, o.bounds);
      ValueId buffer = l.scalar_buffer(o.buffer);
      // At one index, lanes with a buffer of their own each read another element.
      bool varies = l.is_varying(buffer) || l.is_varying(e.index) || l.is_varying(e.mask);
      Type type = ir::scalar_type(l.source_.type(op.result()).element, varies);
      done(b.value(ir::op::MemLoad{buffer, e.index, e.mask, l.lane_stride(e.index)}, type));
    }
    // What the launch also writes is read once, so that all warps see the same number.
    void broadcast_load(const ir::op::ElementLoad& o) {
      exchange(l.source_.type(op.result()).element, [&] {
        Element e = element(o.buffer, o.indices, o.bounds);
        return b.value(ir::op::MemLoad{l.scalar_buffer(o.buffer), e.index, e.mask, l.lane_stride(e.index)},
                       ir::scalar_type(l.source_.type(op.result()).element, l.is_varying(e.index)));
      });
    }
    // One warp computes a number that all get.
    void exchange(Scalar type, const std::function<ValueId()>& compute) {
      ValueId memory = l.scratch(type, 1, "exchange");
      l.barrier("one warp computes a number for all");
      l.once([&] { b.add(ir::op::MemStore{memory, b.index(0), compute(), {}, 0}); });
      l.barrier("one warp computes a number for all");
      done(b.value(ir::op::MemLoad{memory, b.index(0), {}, 0}, ir::scalar_type(type)));
    }
    void operator()(const ir::op::ElementStore& o) {
      if (!l.is_for_block()) return store(o);
      l.once([&] { store(o); });
    }
    void store(const ir::op::ElementStore& o) {
      Element e = element(o.buffer, o.indices, o.bounds);
      b.add(ir::op::MemStore{l.scalar_buffer(o.buffer), e.index, l.scalar(o.value), l.all(e.mask, l.owners_), l.lane_stride(e.index)});
    }
    void operator()(const ir::op::Atomic& o) {
      if (!l.is_for_block()) {
        ValueId old = update(o);
        if (old.valid()) done(old);
      } else if (op.results.empty()) {
        l.once([&] { update(o); });
      } else {
        exchange(l.source_.type(op.result()).element, [&] { return update(o); });
      }
    }
    // A thread's own array: nobody comes between reading and writing, and machines have no atomics there.
    ValueId update_own(const ir::op::Atomic& o) {
      Element e = element(o.buffer, o.indices, o.bounds);
      const ValueId buffer = l.scalar_buffer(o.buffer), mask = l.all(e.mask, l.owners_);
      const Type type = ir::scalar_type(l.source_.type(o.buffer).element, l.is_varying(buffer) || l.is_varying(e.index) || l.is_varying(mask));
      const ValueId old = b.value(ir::op::MemLoad{buffer, e.index, mask, l.lane_stride(e.index)}, type);
      b.add(ir::op::MemStore{buffer, e.index, updated(o, old), mask, l.lane_stride(e.index)});
      return old;
    }
    // Floats are the same where their bits are.
    ValueId bits(ValueId x) {
      const Scalar type = l.target_.type(x).element;
      if (!is_float(type)) return x;
      const Scalar words[] = {Scalar::U8, Scalar::U16, Scalar::U32, Scalar::U64};
      return b.convert(x, words[std::countr_zero(unsigned(byte_width(type)))], ir::ConvertMode::Bits);
    }
    ValueId updated(const ir::op::Atomic& o, ValueId old) {
      const ValueId x = l.scalar(o.operands[0]);
      switch (o.fn) {
        case ir::AtomicFn::Add: return b.add(old, x);
        case ir::AtomicFn::Max: return b.binary(ir::BinaryFn::Max, old, x);
        case ir::AtomicFn::Min: return b.binary(ir::BinaryFn::Min, old, x);
        case ir::AtomicFn::And: return b.binary(ir::BinaryFn::And, old, x);
        case ir::AtomicFn::Or: return b.binary(ir::BinaryFn::Or, old, x);
        case ir::AtomicFn::Xor: return b.binary(ir::BinaryFn::Xor, old, x);
        case ir::AtomicFn::Exchange: return x;
        case ir::AtomicFn::CompareExchange: return b.select(b.compare(ir::CompareFn::Eq, bits(old), bits(x)), l.scalar(o.operands[1]), old);
      }
      UNREACHABLE("an atomic function");
    }
    ValueId update(const ir::op::Atomic& o) {
      if (l.source_.type(o.buffer).space == ir::Space::Private) return update_own(o);
      Element e = element(o.buffer, o.indices, o.bounds);
      std::vector<ValueId> operands = l.scalars(o.operands);
      // Every lane does its own update, so operands and index are given to each.
      if (l.in_lanes_) {
        e.index = l.broadcast(e.index);
        for (ValueId& v : operands) v = l.broadcast(v);
      }
      ir::op::MemAtomic atomic{o.fn, o.order, l.scalar_buffer(o.buffer), e.index, operands, l.all(e.mask, l.owners_)};
      if (op.results.empty()) {
        b.add(std::move(atomic));
        return {};
      }
      return b.value(std::move(atomic), ir::scalar_type(l.source_.type(op.result()).element, l.is_varying(e.index)));
    }
    void operator()(const ir::op::ThreadIndex&) {
      done(l.threads_ ? l.scalar(l.threads_->thread) : l.thread_index());
    }
    void operator()(const ir::op::LaneIndex&) { done(b.value(ir::op::LaneIndex{}, ir::scalar_type(Scalar::Index, true))); }
    void operator()(const ir::op::WarpIndex&) {
      done(l.threads_ ? l.threads_->warp : l.warp_index());
    }
    void operator()(const ir::op::BlockBarrier&) { l.barrier("the program says `sync`"); }
    void operator()(const ir::op::Shuffle& o) {
      done(b.value(ir::op::Shuffle{o.how, l.broadcast(l.scalar(o.x)), l.scalar(o.lane)}, ir::scalar_type(l.source_.type(op.result()).element, true)));
    }
    void operator()(const ir::op::Vote& o) {
      ValueId x = l.broadcast(l.scalar(o.x));
      if (l.mask_.valid()) x = o.how == ir::VoteKind::All ? b.logical_or(x, b.logical_not(l.mask_)) : b.logical_and(x, l.mask_);
      done(b.value(ir::op::Vote{o.how, x}, ir::scalar_type(l.source_.type(op.result()).element)));
    }
    void operator()(const ir::op::WarpReduce& o) {
      ValueId x = l.broadcast(l.scalar(o.x));
      // Lanes that do not run take no part.
      if (l.mask_.valid()) x = b.select(l.mask_, x, b.constant(l.target_.type(x).element, ir::identity(o.fn, l.target_.type(x).element)));
      done(b.value(ir::op::WarpReduce{o.fn, x}, ir::scalar_type(l.source_.type(op.result()).element)));
    }
  };
  ir::visit_scalar(op.data, Visitor{*this, op}, [] {});
}

}  // namespace tilec::lower
