#include "passes/check_padding.h"

#include "passes/padding_flow.h"

namespace tilec::passes {

using namespace ir;

namespace {

// Rounds of a loop in which its numbers may grow one by one: in a visit, and in all of them. From then on a number that still
// grows may be any, and only the axes that are padded are left to grow, which come to an end.
constexpr int kMostRounds = 4, kMostRoundsInAll = 16;

TileState worst(TileState state, Scalar type) { return tainted(std::move(state), known_anything(type)); }

}  // namespace

void PaddingFlow::run(RegionId region) {
  RegionId outer = std::exchange(region_, region);
  for (OpId id : kernel_.region(region).ops) {
    OpId around = std::exchange(op_, id);
    run(kernel_.op(id));
    op_ = around;
  }
  region_ = outer;
}

void PaddingFlow::run(const Op& op) {
  if (auto* o = op.get<op::Launch>()) return run(o->body);
  if (auto* o = op.get<op::For>()) return run_for(*o, op);
  if (auto* o = op.get<op::While>()) return run_while(*o, op);
  if (auto* o = op.get<op::If>()) return run_if(*o, op);
  if (op.is<op::Alloc>()) return void(buffers_.erase(op.result()));
  if (auto* o = op.get<op::Load>())
    return void(tiles_[op.result()] = read(o->buffer, o->offsets, o->axes, o->bounds, o->pad, kernel_.read_note(op.span)));
  if (auto* o = op.get<op::Store>()) return write(state(o->tile), o->buffer, o->offsets, o->axes, kernel_.type(o->tile).shape);
  if (auto* o = op.get<op::Copy>()) return write(copied(*o, op), o->dst, o->dst_offsets, o->dst_axes, o->shape);
  if (auto* o = op.get<op::Splat>()) return void(tiles_[op.result()] = plain_state(scalar(o->x), kernel_.type(op.result()).rank(), true));
  if (auto* o = op.get<op::Map>()) return run_map(*o, op);
  if (auto* o = op.get<op::Gemm>()) return run_gemm(*o, op);
  if (auto* o = op.get<op::Reduce>()) return run_reduce(*o, op);
  if (auto* o = op.get<op::Scan>()) return run_scan(*o, op);
  if (auto* o = op.get<op::Simt>()) return taint_writes(o->body);
  if (auto* o = op.get<op::ElementStore>()) {
    if (auto at = buffers_.find(o->buffer); at != buffers_.end()) at->second = tainted(at->second, scalar(o->value));
    return;
  }
  if (op.is<op::Permute>() || op.is<op::Reshape>() || op.is<op::Insert>() || op.is<op::Extract>()) run_shape(op);
}

void PaddingFlow::join_buffers(const Buffers& other) {
  for (const auto& [buffer, state] : other) {
    auto [at, is_new] = buffers_.try_emplace(buffer, state);
    if (!is_new) at->second = joined(at->second, state);
  }
}

std::vector<TileState> PaddingFlow::states(std::span<const ValueId> values) const {
  std::vector<TileState> all;
  for (ValueId v : values) all.push_back(kernel_.type(v).is_tile() ? state(v) : plain_state(scalar(v), 0));
  return all;
}

// What no loop around carries any more waits for nothing: it is padding.
void PaddingFlow::settle(std::span<const ValueId> results) {
  for (ValueId v : results) {
    auto tile = tiles_.find(v);
    if (tile == tiles_.end() || first_values_.contains(v)) continue;
    for (AxisPadding& axis : tile->second.axes) {
      if (axis.is_first()) axis.kind = PaddingKind::Read;
      axis.reach = Reach::Touched;
    }
  }
}

void PaddingFlow::hold(std::span<const ValueId> names, const std::vector<TileState>& all) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (kernel_.type(names[i]).is_tile()) tiles_[names[i]] = all[i];
    else scalars_[names[i]] = all[i].inside;
  }
}

// The turns of a loop, until they bring nothing new. A turn is given what the loop carries, and gives what the next one gets.
// Gives what it carries behind a turn, for those that have one.
// A loop inside of others is come to once in each of their rounds: it begins with all that it has found before, so that the
// rounds of its first visit are not run again. What nested loops cost is a sum this way, not a product.
std::vector<TileState> PaddingFlow::repeat(std::span<const ValueId> inits, std::span<const RegionId> parts, const std::optional<Counting>& counting, const Turn& turn) {
  Settled& settled = settled_[parts.front()];
  std::vector<TileState> carried = states(inits);
  for (size_t i = 0; i < inits.size(); ++i)
    if (!first_values_.contains(inits[i])) begin(carried[i]);
  for (size_t i = 0; i < settled.carried.size(); ++i) carried[i] = joined(carried[i], settled.carried[i]);
  join_buffers(settled.buffers);
  std::vector<TileState> turned;
  for (int round = 0;; ++round, ++settled.rounds) {
    bool must_widen = round >= kMostRounds || settled.rounds >= kMostRoundsInAll;
    auto outlast = [&](TileState now) {
      for (RegionId part : parts) now = outlasting(std::move(now), prover_, part, counting);
      return now;
    };
    auto after = [&](const TileState& before, TileState now, ValueId of) {
      now = joined(before, now);
      return must_widen ? widened(before, std::move(now), known_anything(element(of))) : now;
    };
    Buffers before = buffers_;
    turned = turn(carried);
    for (TileState& now : turned) now = outlast(std::move(now));
    std::vector<TileState> next;
    for (size_t i = 0; i < carried.size(); ++i) next.push_back(after(carried[i], turned[i], inits[i]));
    join_buffers(before);
    for (auto& [buffer, state] : buffers_) {
      auto known = before.find(buffer);
      state = after(known == before.end() ? state : known->second, outlast(state), buffer);
    }
    if (next == carried && buffers_ == before) break;
    carried = std::move(next);
  }
  settled.carried = std::move(carried);
  settled.buffers = buffers_;
  return turned;
}

// One number everywhere says nothing of any element; other numbers are there.
void PaddingFlow::begin(TileState& first) {
  if (!first.is_uniform || first.is_padded()) return;
  for (AxisPadding& axis : first.axes) axis.reach = Reach::Untouched;
}

// What an inner loop begins with, outer ones may carry.
void PaddingFlow::note_first(ValueId carried, ValueId init, const TileState& first, RegionId loop) {
  FirstValue value{first.inside, {}};
  if (auto outer = first_values_.find(init); outer != first_values_.end()) value.loops = outer->second.loops;
  value.loops.push_back(loop);
  first_values_[carried] = std::move(value);
}

// Behind an inner loop it is what the outer ones carry still.
void PaddingFlow::pass_first(ValueId init, ValueId result) {
  if (auto outer = first_values_.find(init); outer != first_values_.end()) first_values_[result] = FirstValue(outer->second);
}

// Behind a branch it is carried still, whatever a side has made of it.
void PaddingFlow::join_first(ValueId a, ValueId b, ValueId result) {
  auto first = first_values_.find(a), second = first_values_.find(b);
  if (first == first_values_.end() && second == first_values_.end()) return;
  auto begins = [&](auto found, ValueId v) { return found != first_values_.end() ? found->second.numbers : state(v).inside; };
  FirstValue value{joined(begins(first, a), begins(second, b)), (first != first_values_.end() ? first : second)->second.loops};
  first_values_[result] = std::move(value);
}

void PaddingFlow::run_for(const op::For& loop, const Op& at) {
  std::span<const ValueId> args = std::span(kernel_.region(loop.body).args).subspan(1);
  std::vector<TileState> first = states(loop.inits);
  for (size_t i = 0; i < args.size(); ++i) note_first(args[i], loop.inits[i], first[i], loop.body), pass_first(loop.inits[i], at.results[i]);
  std::optional<Counting> counting;
  prove::Linear index = prover_.value(kernel_.region(loop.body).args[0]);
  if (index.parts.size() == 1 && index.constant == 0) counting = {index.parts[0].atom, prover_.value(loop.low)};
  countings_[loop.body] = counting;
  std::vector<TileState> turned = repeat(loop.inits, std::array{loop.body}, counting, [&](const std::vector<TileState>& carried) {
    hold(args, carried);
    hold(at.results, carried);
    run(loop.body);
    return states(kernel_.terminator(loop.body).as<op::Yield>().values);
  });
  sweep(loop, turned);
  sweep_buffers(loop);
  const prove::Linear turns = prover_.value(loop.high) - prover_.value(loop.low);
  if (prover_.proves(prover_.facts(region_), prove::at_least(turns, prove::Linear(1)), prove::Effort::Quick)) hold(at.results, turned);
  settle(at.results);
}

// It ends behind its condition.
void PaddingFlow::run_while(const op::While& loop, const Op& at) {
  const auto &tested = kernel_.region(loop.condition).args, &args = kernel_.region(loop.body).args;
  auto passed = std::span(kernel_.terminator(loop.condition).as<op::Yield>().values).subspan(1);
  std::vector<TileState> first = states(loop.inits);
  for (size_t i = 0; i < tested.size(); ++i)
    for (ValueId v : {tested[i], args[i]}) note_first(v, loop.inits[i], first[i], loop.body);
  for (size_t i = 0; i < at.results.size(); ++i) pass_first(loop.inits[i], at.results[i]);
  repeat(loop.inits, std::array{loop.condition, loop.body}, std::nullopt, [&](const std::vector<TileState>& carried) {
    hold(tested, carried);
    run(loop.condition);
    hold(args, states(passed));
    hold(at.results, states(passed));
    run(loop.body);
    return states(kernel_.terminator(loop.body).as<op::Yield>().values);
  });
  settle(at.results);
}

void PaddingFlow::run_if(const op::If& branch, const Op& at) {
  Buffers before = buffers_;
  run(branch.then_body);
  Buffers after_then = std::exchange(buffers_, before);
  run(branch.else_body);
  join_buffers(after_then);
  const auto& a = kernel_.terminator(branch.then_body).as<op::Yield>().values;
  const auto& b = kernel_.terminator(branch.else_body).as<op::Yield>().values;
  for (size_t i = 0; i < at.results.size(); ++i) {
    if (kernel_.type(at.results[i]).is_tile()) {
      join_first(a[i], b[i], at.results[i]);
      tiles_[at.results[i]] = joined(state(a[i]), state(b[i]));
    } else if (kernel_.type(at.results[i]).is_scalar()) {
      scalars_[at.results[i]] = joined(scalar(a[i]), scalar(b[i]));
    }
  }
}

// Every shared buffer that the region writes may hold anything in any of its elements.
void PaddingFlow::taint_writes(RegionId region) {
  each_op(kernel_, region, [&](OpId id) {
    const Op& op = kernel_.op(id);
    ValueId buffer;
    if (auto* o = op.get<op::ElementStore>()) buffer = o->buffer;
    if (auto* o = op.get<op::Atomic>()) buffer = o->buffer;
    if (auto* o = op.get<op::Store>()) buffer = o->buffer;
    if (auto* o = op.get<op::Copy>()) buffer = o->dst;
    if (!buffer.valid()) return;
    while (auto* view = kernel_.defined_by<op::Subview>(buffer)) buffer = view->buffer;
    if (auto at = buffers_.find(buffer); at != buffers_.end()) at->second = worst(at->second, element(buffer));
  });
}

void check_padding(Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics) {
  PaddingFlow flow(kernel, prover, diagnostics);
  flow.run(kernel.body);
  if (!diagnostics.has_errors()) flow.masks().insert(kernel);
}

}  // namespace tilec::passes
