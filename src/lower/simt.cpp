// Thread-level regions. A machine whose warps synchronise runs them as they stand. Where a block is one warp (a CPU), the
// threads of the block are iterations of a loop, a warp of them at a time: the region is split at its barriers, each part
// gets a thread loop of its own, and what lives across a barrier is kept in an array with a place for every thread.
#include "lower/simt.h"

#include "lower/lowering.h"

namespace tilec::lower {

namespace {

// An `if` that all threads take alike and that gives something they agree on: it is split, so that the agreed is a scalar.
bool is_common_branch(const Uniformity& uniform, const ir::Op& op) {
  const ir::op::If* branch = op.get<ir::op::If>();
  return branch && !uniform.is_divergent(branch->condition) &&
         std::any_of(op.results.begin(), op.results.end(), [&](ValueId v) { return !uniform.is_divergent(v); });
}

bool is_pure_uniform(const Uniformity& uniform, const ir::Op& op) {
  if (op.results.empty() || op.is<ir::op::Alloc>()) return false;
  bool nested = false;
  ir::each_region(op.data, [&](RegionId) { nested = true; });
  return !nested && std::none_of(op.results.begin(), op.results.end(), [&](ValueId v) { return uniform.is_divergent(v); });
}

}  // namespace

void Lowering::lower_simt(const ir::Op&, const ir::op::Simt& simt) {
  ValueId thread = source_.region(simt.body).args[0];
  if (machine_.has(Cap::DivergentBranches)) {
    bind(thread, thread_index());
    bool were_lanes = std::exchange(in_lanes_, true);
    const Uniformity uniform(source_, simt.body);
    const Uniformity* outer = std::exchange(uniform_, &uniform);
    lower_region(simt.body);
    uniform_ = outer;
    in_lanes_ = were_lanes;
    return;
  }
  int64_t warps = (simt.threads + machine_.lanes - 1) / machine_.lanes;
  Threads threads{simt.threads, warps, thread, Uniformity(source_, simt.body), {}, {}};
  Threads* outer = std::exchange(threads_, &threads);
  split_region(simt.body);
  threads_ = outer;
}

// The operations of a region whose barriers all threads reach, part by part.
void Lowering::split_region(RegionId region) {
  std::vector<OpId> part;
  auto finish = [&] {
    if (!part.empty()) lower_part(part);
    part.clear();
  };
  for (OpId id : source_.region(region).ops) {
    const ir::Op& op = source_.op(id);
    builder_.set_span(op.span);
    if (op.is<ir::op::Yield>()) break;
    if (op.is<ir::op::BlockBarrier>()) finish();
    else if (op.is<ir::op::Alloc>()) lower_local(op);
    else if (is_pure_uniform(threads_->uniform, op)) lower_scalar(op);
    else if (!has_barrier(source_, op) && !is_common_branch(threads_->uniform, op)) part.push_back(id);
    else {
      finish();
      if (auto* loop = op.get<ir::op::For>()) split_for(op, *loop);
      else if (auto* loop = op.get<ir::op::While>()) split_while(op, *loop);
      else if (auto* branch = op.get<ir::op::If>()) split_if(op, *branch);
      else UNREACHABLE("a barrier under a condition that threads may see differently is refused earlier");
    }
  }
  finish();
}

// An array of `warps` registers for a value that outlives its thread loop.
ValueId Lowering::thread_array(ValueId source) {
  auto [found, is_new] = threads_->arrays.try_emplace(source);
  if (is_new) found->second = private_array(source_.type(source).element, threads_->warps, true);
  return found->second;
}

void Lowering::lower_part(const std::vector<OpId>& part) {
  std::set<ValueId> made, read;
  for (OpId id : part) {
    const ir::Op& op = source_.op(id);
    for (ValueId v : op.results) made.insert(v);
    ir::each_operand(op.data, [&](ValueId v) { read.insert(v); });
    ir::each_region(op.data, [&](RegionId r) {
      each_op(source_, r, [&](OpId inner) { ir::each_operand(source_.op(inner).data, [&](ValueId v) { read.insert(v); }); });
    });
  }
  std::set<OpId> inside(part.begin(), part.end());
  for (OpId id : part)
    ir::each_region(source_.op(id).data, [&](RegionId r) { each_op(source_, r, [&](OpId inner) { inside.insert(inner); }); });
  auto escapes = [&](ValueId v) {
    return std::any_of(uses_[v.index].begin(), uses_[v.index].end(), [&](OpId use) { return !inside.contains(use); });
  };
  run_threads([&](ValueId warp) {
    for (ValueId v : read)
      if (threads_->arrays.contains(v) && !made.contains(v)) bind(v, read_thread_array(v, warp));
    for (OpId id : part) lower_op(id);
    for (ValueId v : made)
      if (escapes(v)) write_thread_array(v, warp, scalar(v));
  });
}

// for each warp of the block: body under the mask of the threads that exist.
void Lowering::run_threads(const std::function<void(ValueId warp)>& body) {
  count_loop(builder_, threads_->warps, threads_->warps == 1, {}, [&](ValueId warp, const Carried&) -> Carried {
    ValueId lane = builder_.value(ir::op::LaneIndex{}, ir::scalar_type(Scalar::Index, true));
    ValueId thread = builder_.add(builder_.mul(warp, builder_.index(machine_.lanes)), lane);
    bind(threads_->thread, thread);
    threads_->warp = warp;
    bool were_lanes = std::exchange(in_lanes_, true);
    ValueId outer = mask_;
    if (threads_->count % machine_.lanes != 0)
      mask_ = all(outer, builder_.compare(ir::CompareFn::Lt, thread, builder_.index(threads_->count)));
    body(warp);
    mask_ = outer;
    in_lanes_ = were_lanes;
    return {};
  });
}

ValueId Lowering::read_thread_array(ValueId source, ValueId warp) {
  ValueId array = threads_->arrays.at(source);
  return builder_.value(ir::op::MemLoad{array, warp, {}, 0}, ir::scalar_type(source_.type(source).element, true));
}

void Lowering::write_thread_array(ValueId source, ValueId warp, ValueId value) {
  builder_.add(ir::op::MemStore{thread_array(source), warp, broadcast(value), {}, 0});
}

// Moves values of one part of the program into the arrays that another part reads: a loop's inits into its arguments.
// All are read before any is written, since one may be another's source.
void Lowering::move_thread_values(const std::vector<std::pair<ValueId, ValueId>>& from_to) {
  if (from_to.empty()) return;
  for (auto& [from, to] : from_to) thread_array(to);
  run_threads([&](ValueId warp) {
    std::vector<ValueId> values;
    for (auto& [from, to] : from_to) values.push_back(threads_->arrays.contains(from) ? read_thread_array(from, warp) : scalar(from));
    for (size_t i = 0; i < from_to.size(); ++i) write_thread_array(from_to[i].second, warp, values[i]);
  });
}

void Lowering::split_for(const ir::Op& op, const ir::op::For& loop) {
  const std::vector<ValueId>& args = source_.region(loop.body).args;
  const auto& yields = source_.terminator(loop.body).as<ir::op::Yield>().values;
  std::vector<std::pair<ValueId, ValueId>> enter, again, leave;
  std::vector<size_t> uniform;
  for (size_t i = 0; i < loop.inits.size(); ++i) {
    if (!threads_->uniform.is_divergent(op.results[i])) {
      uniform.push_back(i);
      continue;
    }
    enter.push_back({loop.inits[i], args[i + 1]});
    again.push_back({yields[i], args[i + 1]});
    leave.push_back({args[i + 1], op.results[i]});
  }
  move_thread_values(enter);
  RegionId region = target_.new_region(), outer = builder_.region();
  std::vector<ValueId> inits;
  std::vector<Type> types;
  bind(args[0], target_.new_arg(region, ir::scalar_type(Scalar::Index)));
  for (size_t i : uniform) {
    inits.push_back(scalar(loop.inits[i]));
    types.push_back(target_.type(inits.back()));
    bind(args[i + 1], target_.new_arg(region, types.back()));
    signed_args_.insert(scalar(args[i + 1]).index);
  }
  if (!is_nonnegative(scalar(loop.low))) signed_args_.insert(scalar(args[0]).index);
  builder_.set_region(region);
  split_region(loop.body);
  move_thread_values(again);
  std::vector<ValueId> next;
  for (size_t i : uniform) next.push_back(scalar(yields[i]));
  builder_.yield(next);
  builder_.set_region(outer);
  ir::op::For lowered{scalar(loop.low), scalar(loop.high), scalar(loop.step), inits, ir::LoopKind::Sequential, 0, loop.label, region, loop.guarded};
  std::vector<ValueId> results = target_.op(builder_.add(std::move(lowered), types)).results;
  for (size_t k = 0; k < uniform.size(); ++k) bind(op.results[uniform[k]], results[k]);
  move_thread_values(leave);
}

// The loop is one for all threads; what differs between them goes from the test to the body and back through arrays.
void Lowering::split_while(const ir::Op& op, const ir::op::While& loop) {
  const std::vector<ValueId> &tested = source_.region(loop.condition).args, &repeated = source_.region(loop.body).args;
  const auto& test = source_.terminator(loop.condition).as<ir::op::Yield>().values;
  const auto& yields = source_.terminator(loop.body).as<ir::op::Yield>().values;
  std::vector<std::pair<ValueId, ValueId>> enter, pass, again, leave;
  std::vector<size_t> uniform;
  std::vector<ValueId> inits, to_body{ValueId{}}, to_test;
  std::vector<Type> types;
  for (size_t i = 0; i < loop.inits.size(); ++i) {
    if (!threads_->uniform.is_divergent(op.results[i])) {
      uniform.push_back(i);
      inits.push_back(scalar(loop.inits[i]));
      types.push_back(target_.type(inits.back()));
      continue;
    }
    enter.push_back({loop.inits[i], tested[i]});
    pass.push_back({test[i + 1], repeated[i]});
    again.push_back({yields[i], tested[i]});
    leave.push_back({repeated[i], op.results[i]});
  }
  move_thread_values(enter);
  RegionId outer = builder_.region();
  auto split = [&](RegionId source, const std::vector<ValueId>& args, const std::vector<std::pair<ValueId, ValueId>>& moves) {
    RegionId region = target_.new_region();
    builder_.set_region(region);
    for (size_t k = 0; k < uniform.size(); ++k) {
      bind(args[uniform[k]], target_.new_arg(region, types[k]));
      if (uniform[k] > 0 || !counts_from_above(loop)) signed_args_.insert(scalar(args[uniform[k]]).index);
    }
    split_region(source);
    move_thread_values(moves);
    return region;
  };
  RegionId condition = split(loop.condition, tested, pass);
  to_body[0] = scalar(test[0]);
  for (size_t i : uniform) to_body.push_back(scalar(test[i + 1]));
  builder_.yield(to_body);
  RegionId body = split(loop.body, repeated, again);
  for (size_t i : uniform) to_test.push_back(scalar(yields[i]));
  builder_.yield(to_test);
  builder_.set_region(outer);
  std::vector<ValueId> results = target_.op(builder_.add(ir::op::While{inits, condition, body}, types)).results;
  for (size_t k = 0; k < uniform.size(); ++k) bind(op.results[uniform[k]], results[k]);
  move_thread_values(leave);
}

void Lowering::split_if(const ir::Op& op, const ir::op::If& branch) {
  std::vector<size_t> uniform;
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (threads_->uniform.is_divergent(op.results[i])) thread_array(op.results[i]);
    else uniform.push_back(i);
  }
  std::vector<Type> types;
  auto side = [&](RegionId source) {
    RegionId region = target_.new_region();
    builder_.set_region(region);
    split_region(source);
    const auto& yields = source_.terminator(source).as<ir::op::Yield>().values;
    std::vector<std::pair<ValueId, ValueId>> moves;
    for (size_t i = 0; i < op.results.size(); ++i)
      if (threads_->uniform.is_divergent(op.results[i])) moves.push_back({yields[i], op.results[i]});
    move_thread_values(moves);
    std::vector<ValueId> values;
    types.clear();
    for (size_t i : uniform) {
      values.push_back(scalar(yields[i]));
      types.push_back(target_.type(values.back()));
    }
    builder_.yield(values);
    return region;
  };
  ValueId condition = scalar(branch.condition);
  RegionId outer = builder_.region();
  RegionId then_region = side(branch.then_body), else_region = side(branch.else_body);
  builder_.set_region(outer);
  std::vector<ValueId> results = target_.op(builder_.add(ir::op::If{condition, then_region, else_region}, types)).results;
  for (size_t k = 0; k < uniform.size(); ++k) bind(op.results[uniform[k]], results[k]);
}

// A thread's own array: one for each warp of threads, one after the other.
void Lowering::lower_local(const ir::Op& op) {
  const Type& type = source_.type(op.result());
  if (type.space != Space::Private) return lower_alloc(op, op.as<ir::op::Alloc>());
  int64_t count = type.element_count();
  RegionId here = builder_.region();
  builder_.set_region(prelude_);
  Type flat = ir::buffer_type(Space::Private, type.element, {count * threads_->warps});
  flat.varying = true;
  bind(op.result(), builder_.value(ir::op::Alloc{{}, op.as<ir::op::Alloc>().name}, flat));
  builder_.set_region(here);
  threads_->locals[op.result()] = count;
}

// Lanes leave a loop one by one; it ends when none is left. Those that are left have one index where the loop counts.
void Lowering::lower_varying_while(const ir::Op& op, const ir::op::While& loop) {
  std::vector<ValueId> inits = scalars(loop.inits);
  std::vector<Type> types;
  size_t common = loop.step.valid() && uses_[op.results[0].index].empty() && !is_varying(inits[0]) && !is_varying(scalar(loop.step)) ? 1 : 0;
  for (size_t i = common; i < inits.size(); ++i) inits[i] = broadcast(inits[i]);
  for (ValueId v : inits) types.push_back(target_.type(v));
  ValueId outside = mask_;
  inits.push_back(broadcast(outside.valid() ? outside : builder_.boolean(true)));
  types.push_back(target_.type(inits.back()));
  RegionId outer = builder_.region();
  auto open = [&](RegionId source, RegionId region) {
    std::vector<ValueId> args;
    for (const Type& type : types) args.push_back(target_.new_arg(region, type));
    for (size_t i = counts_from_above(loop) ? 1 : 0; i < args.size(); ++i) signed_args_.insert(args[i].index);
    for (size_t i = 0; i < loop.inits.size(); ++i) bind(source_.region(source).args[i], args[i]);
    builder_.set_region(region);
    mask_ = args.back();
    lower_region(source);
    return args;
  };
  RegionId condition = target_.new_region(), body = target_.new_region();
  std::vector<ValueId> args = open(loop.condition, condition);
  std::vector<ValueId> yields = scalars(source_.terminator(loop.condition).as<ir::op::Yield>().values);
  ValueId active = builder_.logical_and(args.back(), broadcast(yields[0]));
  std::vector<ValueId> next{builder_.value(ir::op::Vote{ir::VoteKind::Any, active}, ir::scalar_type(Scalar::Bool))};
  auto keep = [&](size_t i, ValueId value) { return i < common ? value : builder_.select(args.back(), broadcast(value), args[i]); };
  for (size_t i = 1; i < yields.size(); ++i) next.push_back(keep(i - 1, yields[i]));
  next.push_back(active);
  builder_.yield(next);
  args = open(loop.body, body);
  yields = scalars(source_.terminator(loop.body).as<ir::op::Yield>().values);
  next.clear();
  for (size_t i = 0; i < yields.size(); ++i) next.push_back(keep(i, yields[i]));
  next.push_back(args.back());
  builder_.yield(next);
  mask_ = outside;
  builder_.set_region(outer);
  std::vector<ValueId> results = target_.op(builder_.add(ir::op::While{inits, condition, body}, types)).results;
  for (size_t i = 0; i < op.results.size(); ++i) bind(op.results[i], results[i]);
}

}  // namespace tilec::lower
