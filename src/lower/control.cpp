// The host's part, launches, loops and branches.
#include "lower/lowering.h"

namespace tilec::lower {

void Lowering::lower_host() {
  for (ValueId arg : source_.region(source_.body).args)
    bind(arg, target_.new_arg(target_.body, source_.type(arg), source_.value(arg).hint));
  target_.dims = source_.dims;
  lower_region(source_.body);
  builder_.yield({});
  target_.params = source_.params;
  for (ir::Dim& dim : target_.dims) dim.value = scalar(dim.value);
  for (ir::Param& param : target_.params) {
    param.value = scalar(param.value);
    for (ValueId& v : param.extents) v = scalar(v);
    for (ValueId& v : param.strides) v = scalar(v);
  }
  target_.requirements = source_.requirements;
  for (ir::Requirement& r : target_.requirements) r.condition = scalar(r.condition);
}

void Lowering::lower_launch(const ir::Op& op, const ir::op::Launch& launch) {
  RegionId outer = builder_.region(), body = target_.new_region();
  warps_ = warps_of_block(launch);
  first_warp_ = barrier_id_ = 0;
  prelude_ = target_.new_region(), launch_ = body, source_launch_ = launch.body;
  deal_.reset();
  lane_parts_.clear();
  alignments_.clear();
  free_arrays_.clear();
  for (ValueId arg : source_.region(launch.body).args) bind(arg, target_.new_arg(body, source_.type(arg), source_.value(arg).hint));
  cluster_ = launch.cluster, split_ = std::max<int64_t>(1, launch.split), block_ = target_.region(body).args;
  find_repeated_loads(launch.body);
  builder_.set_region(body);
  begin_sums();
  lower_region(launch.body);
  bool has_roles = std::ranges::any_of(source_.region(launch.body).ops, [&](OpId id) { return source_.op(id).is<ir::op::Roles>(); });
  if (!has_roles) await_all_own_rows(launch.body);
  builder_.yield({});
  std::vector<OpId>& ops = target_.region(body).ops;
  const std::vector<OpId>& prelude = target_.region(prelude_).ops;
  ops.insert(ops.begin(), prelude.begin(), prelude.end());
  builder_.set_region(outer);
  ir::op::Launch lowered = launch;
  lowered.extents = scalars(launch.extents);
  lowered.body = body;
  lowered.warps = warps_;
  builder_.set_span(op.span);
  builder_.add(std::move(lowered));
}

void Lowering::lower_region(RegionId region) {
  const std::vector<OpId>& ops = source_.region(region).ops;
  auto is_ring = [&](OpId id) { return source_.op(id).is<ir::op::RingAlloc>() || source_.op(id).is<ir::op::OrderAlloc>(); };
  for (auto next = ops.begin(); next != ops.end();) {
    auto behind = std::find_if_not(next, ops.end(), is_ring);
    if (behind != next) begin_rings({next, behind});
    else if (OpId id = *behind++; !source_.op(id).is<ir::op::Yield>()) lower_op(id);
    next = behind;
  }
  end_sums(region);
  end_clusters(region);
}

void Lowering::lower_op(OpId id) {
  const ir::Op& op = source_.op(id);
  builder_.set_span(op.span);
  switch (ir::table(op.kind())) {
    case ir::OpTable::Control:
      if (auto* launch = op.get<ir::op::Launch>()) lower_launch(op, *launch);
      if (auto* loop = op.get<ir::op::For>()) lower_for(op, *loop);
      if (auto* loop = op.get<ir::op::While>()) lower_while(op, *loop);
      if (auto* branch = op.get<ir::op::If>()) lower_if(op, *branch);
      break;
    case ir::OpTable::Scalar: lower_scalar(op); break;
    case ir::OpTable::Tile: lower_tile(op); break;
    case ir::OpTable::Thread: {
      const auto* aligned = op.get<ir::op::IsAligned>();
      const auto* boxes = op.get<ir::op::HasBoxes>();
      INVARIANT(aligned || boxes, "lowering starts from tile forms");
      ir::OpData asked = aligned ? ir::OpData(ir::op::IsAligned{scalar_buffer(aligned->buffer), aligned->bytes}) : ir::op::HasBoxes{scalar_buffer(boxes->buffer)};
      bind(op.result(), builder_.value(asked, ir::scalar_type(Scalar::Bool)));
      break;
    }
  }
  release_dead(op);
}

namespace {

struct CarriedTile {
  size_t position;   // among the loop's carried values
  Home home;
  size_t values = 0; // that the loop carries for it
};

}  // namespace

void Lowering::lower_for(const ir::Op& op, const ir::op::For& loop) {
  bool has_varying_bounds = is_varying(scalar(loop.low)) || is_varying(scalar(loop.high)) || is_varying(scalar(loop.step));
  if (has_varying_bounds) return lower_varying_for(op, loop);
  const ir::Region& body = source_.region(loop.body);
  RegionId region = target_.new_region();
  std::vector<ValueId> inits;
  std::vector<CarriedTile> tiles;
  for (size_t i = 0; i < loop.inits.size(); ++i) {
    ValueId init = loop.inits[i];
    if (!has_home(source_.type(init))) {
      inits.push_back(differs(op.results[i]) ? broadcast(scalar(init)) : scalar(init));
      continue;
    }
    Home home = source_.type(init).is_tile() ? result_home(op, op.results[i], std::span(&init, 1)) : this->home(init);
    if (home.in_memory() && home.memory != this->home(init).memory) copy_home(this->home(init), home);
    std::vector<ValueId> values = home.in_memory() ? std::vector<ValueId>{} : carried(source_.type(init), this->home(init));
    inits.insert(inits.end(), values.begin(), values.end());
    tiles.push_back({i, std::move(home), values.size()});
  }
  ValueId low = scalar(loop.low), high = scalar(loop.high), step = scalar(loop.step);
  bind(body.args[0], target_.new_arg(region, source_.type(body.args[0]), source_.value(body.args[0]).hint));
  if (!is_nonnegative(low)) signed_args_.insert(scalar(body.args[0]).index);
  std::vector<Type> types;
  size_t tile = 0;
  auto new_arg = [&](ValueId init) {
    types.push_back(target_.type(init));
    ValueId arg = target_.new_arg(region, types.back());
    signed_args_.insert(arg.index);
    return arg;
  };
  struct Arriving {
    ValueId arg;
    Home home;
    std::vector<ValueId> values;
  };
  std::vector<Arriving> arriving;
  size_t next = 0;
  for (size_t i = 0; i < loop.inits.size(); ++i) {
    ValueId arg = body.args[i + 1];
    if (tile < tiles.size() && tiles[tile].position == i) {
      size_t count = tiles[tile].values;
      Home home = tiles[tile++].home;
      if (!home.in_memory()) {
        std::vector<ValueId> values;
        for (size_t r = 0; r < count; ++r) values.push_back(new_arg(inits[next++]));
        arriving.push_back({arg, std::move(home), std::move(values)});
        continue;
      }
      bind_home(arg, std::move(home));
    } else {
      bind(arg, new_arg(inits[next++]));
    }
  }
  RegionId outer = builder_.region();
  builder_.set_region(region);
  for (Arriving& one : arriving) {
    one.home.registers = arrived(source_.type(one.arg), one.values);
    bind_home(one.arg, std::move(one.home));
  }
  ValueId round = is_dealt(loop) ? target_.new_arg(region, ir::scalar_type(Scalar::Index), "round") : ValueId{};
  const size_t around = carried_arrays_.size();
  for (const CarriedTile& carried : tiles) carried_arrays_.push_back(carried.home.memory);
  lower_region(loop.body);
  carried_arrays_.resize(around);
  // A yielded tile that lives in the home of another carried one must not be overwritten before it is read.
  const auto& yielded = source_.terminator(loop.body).as<ir::op::Yield>().values;
  std::vector<ValueId> values;
  std::vector<std::pair<Home, Home>> copies;
  for (size_t i = 0, t = 0; i < yielded.size(); ++i) {
    if (!has_home(source_.type(yielded[i]))) {
      values.push_back(differs(op.results[i]) ? broadcast(scalar(yielded[i])) : scalar(yielded[i]));
      continue;
    }
    const Home& from = this->home(yielded[i]);
    const Home& to = tiles[t++].home;
    if (!to.in_memory()) {
      std::vector<ValueId> words = carried(source_.type(yielded[i]), from);
      values.insert(values.end(), words.begin(), words.end());
    } else if (from.memory != to.memory) {
      copies.push_back({from, to});
    }
  }
  for (auto& [from, to] : copies) {
    bool is_carried = std::any_of(tiles.begin(), tiles.end(), [&, f = from.memory](const CarriedTile& c) { return c.home.memory == f; });
    if (!is_carried) continue;
    const Type& array = target_.type(from.memory);
    Home safe{from.layout, {}, private_array(array.element, array.shape[0], array.varying)};
    copy_home(from, safe);
    from = safe;
  }
  for (auto& [from, to] : copies) copy_home(from, to);
  if (is_dealt(loop)) values.insert(values.begin(), {next_block(round), builder_.add(round, builder_.index(1))});
  builder_.yield(values);
  builder_.set_region(outer);
  ir::op::For lowered = loop;
  lowered.low = low, lowered.high = high, lowered.step = step;
  lowered.inits = inits;
  lowered.body = region;
  builder_.set_span(op.span);
  std::vector<ValueId> results = is_dealt(loop) ? add_dealt_loop(lowered, types, round) : target_.op(builder_.add(std::move(lowered), types)).results;
  next = tile = 0;
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (tile < tiles.size() && tiles[tile].position == i) {
      size_t count = tiles[tile].values;
      Home home = std::move(tiles[tile++].home);
      if (!home.in_memory()) {
        home.registers = arrived(source_.type(loop.inits[i]), std::span(results).subspan(next, count));
        next += count;
      }
      bind_home(op.results[i], std::move(home));
    } else {
      bind(op.results[i], results[next++]);
    }
  }
}

// How many turns each lane has; none those that do not run. The distance of two `int`s may leave 64 bits, so it is counted
// without a sign, but from 0 or above none does.
ValueId Lowering::turns(const ir::op::For& loop) {
  ValueId low = broadcast(scalar(loop.low)), high = scalar(loop.high), one = builder_.index(1);
  bool is_near = is_nonnegative(low);
  auto whole = [&](ValueId v) { return builder_.convert(v, Scalar::U64, ir::ConvertMode::Wrap); };
  ValueId distance = builder_.sub(builder_.sub(high, low), one);
  ValueId last = builder_.convert(builder_.binary(ir::BinaryFn::Div, whole(distance), whole(scalar(loop.step))), Scalar::Index,
                                  is_near ? ir::ConvertMode::Wrap : ir::ConvertMode::Nearest);
  if (!is_near) last = builder_.binary(ir::BinaryFn::Min, last, builder_.index(INT64_MAX - 1));
  ValueId runs = all(mask_, builder_.compare(ir::CompareFn::Lt, low, high));
  return broadcast(builder_.select(runs, builder_.add(last, one), builder_.index(0)));
}

// Lanes with different bounds: as many iterations as the longest lane has, each under the mask of the lanes still running.
// Those are told by their turns: a lane that is done would step on, beyond 64 bits and to positions below its end.
void Lowering::lower_varying_for(const ir::Op& op, const ir::op::For& loop) {
  ValueId low = broadcast(scalar(loop.low)), step = broadcast(scalar(loop.step)), trips = turns(loop);
  ValueId longest = builder_.value(ir::op::WarpReduce{ir::ReduceFn::Max, trips}, ir::scalar_type(Scalar::Index));
  RegionId region = target_.new_region(), outer = builder_.region();
  const std::vector<ValueId>& args = source_.region(loop.body).args;
  ValueId i = target_.new_arg(region, ir::scalar_type(Scalar::Index));
  std::vector<ValueId> inits, carried;
  std::vector<Type> types;
  for (size_t k = 0; k < loop.inits.size(); ++k) {
    inits.push_back(broadcast(scalar(loop.inits[k])));
    types.push_back(target_.type(inits.back()));
    carried.push_back(target_.new_arg(region, types.back()));
    signed_args_.insert(carried.back().index);
    bind(args[k + 1], carried.back());
  }
  builder_.set_region(region);
  bind(args[0], builder_.add(low, builder_.mul(step, i)));
  ValueId runs = builder_.compare(ir::CompareFn::Lt, i, trips), outside = std::exchange(mask_, runs);
  lower_region(loop.body);
  std::vector<ValueId> next = scalars(source_.terminator(loop.body).as<ir::op::Yield>().values);
  for (size_t k = 0; k < next.size(); ++k) next[k] = builder_.select(runs, broadcast(next[k]), carried[k]);
  mask_ = outside;
  builder_.yield(next);
  builder_.set_region(outer);
  ir::op::For lowered{builder_.index(0), longest, builder_.index(1), inits, ir::LoopKind::Sequential, 0, {}, region};
  std::vector<ValueId> results = target_.op(builder_.add(std::move(lowered), types)).results;
  for (size_t k = 0; k < results.size(); ++k) bind(op.results[k], results[k]);
}

void Lowering::lower_while(const ir::Op& op, const ir::op::While& loop) {
  ValueId goes_on = source_.terminator(loop.condition).as<ir::op::Yield>().values[0];
  if (in_lanes_ && (!machine_.has(Cap::DivergentBranches) || differs(goes_on))) return lower_varying_while(op, loop);
  // Tiles carried by a `while` live in memory or registers like those of a `for`; the condition sees the same homes.
  std::vector<ValueId> inits;
  std::vector<Type> types;
  std::vector<Home> homes;
  const std::vector<ValueId>& args = source_.region(loop.condition).args;
  for (size_t i = 0; i < loop.inits.size(); ++i) {
    ValueId init = loop.inits[i];
    if (!has_home(source_.type(init))) {
      // In the loop, that is: behind it threads that left it in other turns may differ.
      inits.push_back(differs(args[i]) ? broadcast(scalar(init)) : scalar(init));
      continue;
    }
    const Home& from = this->home(init);
    Home home = source_.type(init).is_tile() ? result_home(op, op.results[i], std::span(&init, 1)) : from;
    if (!home.in_memory()) inits.insert(inits.end(), from.registers.begin(), from.registers.end());
    else if (home.memory != from.memory) copy_home(from, home);
    homes.push_back(std::move(home));
  }
  for (ValueId init : inits) types.push_back(target_.type(init));
  RegionId outer = builder_.region();
  RegionId condition = lower_while_region(op, loop, loop.condition, homes, types);
  RegionId body = lower_while_region(op, loop, loop.body, homes, types);
  builder_.set_region(outer);
  bind_carried(op.results, homes, target_.op(builder_.add(ir::op::While{inits, condition, body}, types)).results);
}

// Gives each of `to` its value, or its home, whose registers are the next values.
void Lowering::bind_carried(std::span<const ValueId> to, std::span<const Home> homes, std::span<const ValueId> values) {
  size_t next = 0, t = 0;
  for (ValueId v : to) {
    if (!has_home(source_.type(v))) {
      bind(v, values[next++]);
      continue;
    }
    Home home = homes[t++];
    for (ValueId& r : home.registers) r = values[next++];
    bind_home(v, std::move(home));
  }
}

// Is the first carried value an index that is never below 0?
bool Lowering::counts_from_above(const ir::op::While& loop) const { return loop.step.valid() && is_nonnegative(scalar(loop.inits[0])); }

// The condition or the body, with the carried tiles in `homes` before and after.
RegionId Lowering::lower_while_region(const ir::Op& op, const ir::op::While& loop, RegionId source, std::span<const Home> homes,
                                      std::span<const Type> types) {
  RegionId region = target_.new_region();
  std::vector<ValueId> args;
  for (const Type& type : types) args.push_back(target_.new_arg(region, type));
  for (size_t i = counts_from_above(loop) ? 1 : 0; i < args.size(); ++i) signed_args_.insert(args[i].index);
  bind_carried(source_.region(source).args, homes, args);
  builder_.set_region(region);
  const size_t around = carried_arrays_.size();
  for (const Home& home : homes) carried_arrays_.push_back(home.memory);
  lower_region(source);
  carried_arrays_.resize(around);
  // Beside what is carried, the condition yields whether to go on.
  const std::vector<ValueId>& yielded = source_.terminator(source).as<ir::op::Yield>().values;
  size_t tests = source == loop.condition ? 1 : 0, t = 0;
  std::vector<ValueId> values;
  std::vector<std::pair<Home, Home>> copies;
  for (size_t i = 0; i < yielded.size(); ++i) {
    ValueId v = yielded[i];
    if (!has_home(source_.type(v))) {
      bool spreads = i >= tests && differs(source_.region(loop.condition).args[i - tests]);
      values.push_back(spreads ? broadcast(scalar(v)) : scalar(v));
      continue;
    }
    const Home &from = this->home(v), &to = homes[t++];
    if (!to.in_memory()) values.insert(values.end(), from.registers.begin(), from.registers.end());
    if (!to.in_memory() || from.memory == to.memory) continue;
    Home safe{from.layout, {}, private_array(source_.type(v).element, reg_layout(from.layout).registers(), !is_uniform(reg_layout(from.layout)))};
    copy_home(from, safe);
    copies.push_back({safe, to});
  }
  for (auto& [from, to] : copies) copy_home(from, to);
  builder_.yield(values);
  return region;
}

}  // namespace tilec::lower
