#include "passes/check_padding.h"

#include "passes/padding_flow.h"

namespace tilec::passes {

using namespace ir;

namespace {

// Rounds of a loop in which its numbers may grow one by one: in a visit, and in all of them. From then on a number that still
// grows may be any, and only the axes that are padded are left to grow, which come to an end.
constexpr int kMostRounds = 4, kMostRoundsInAll = 32;
// Edges that move from tile to tile, `b1 = b0`, take longer.
constexpr int kMostRoundsOfEdges = 12;
// Visits of a loop inside of others that begin without what the one before has found.
constexpr int kMostVisits = 3;

// What a loop begins with is there in its first turn alone.
void begin(TileState& first, const std::optional<Counting>& counting) {
  for (AxisPadding& axis : first.axes)
    if (counting && axis.may_be_free) {
      axis.free_when = both(axis.free_when, {is_first(*counting)});
      for (Plain& one : axis.plain) one.when = prove::all_of({one.when, is_first(*counting)});
    }
}

// What a loop begins with, with all that an earlier visit has found.
TileState resumed(const TileState& first, const TileState& settled) {
  TileState all = joined(first, settled);
  for (size_t a = 0; a < std::min(all.axes.size(), settled.axes.size()); ++a) {
    AxisPadding& axis = all.axes[a];
    const AxisPadding& known = settled.axes[a];
    if (!axis.is_padded || !known.is_padded) continue;
    axis.edges = known.edges, axis.at_first = known.at_first, axis.loop = known.loop, axis.is_filled = known.is_filled;
    axis.uniform.when = known.uniform.when, axis.uniform.is_lost = known.uniform.is_lost, axis.free_when = known.free_when;
  }
  return all;
}

TileState worst(TileState state, Scalar type) { return tainted(std::move(state), known_anything(type)); }

}  // namespace

void PaddingFlow::run(RegionId region) {
  RegionId outer = std::exchange(region_, region);
  for (OpId id : kernel_.region(region).ops) {
    OpId around = std::exchange(op_, id);
    // In another round of a loop nothing holds of what was found in the one before.
    masks_.forget_operands(id), told_.erase(id);
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
  if (auto* o = op.get<op::Splat>()) {
    TileState& made = tiles_[op.result()] = plain_state(scalar(o->x), size_t(kernel_.type(op.result()).rank()), true);
    if (const AxisPadding* padding = padded_number(o->x)) made.whole() = *padding;
    return;
  }
  if (auto* o = op.get<op::Map>()) return run_map(*o, op);
  if (auto* o = op.get<op::Gemm>()) return run_gemm(*o, op);
  if (auto* o = op.get<op::Reduce>()) return run_reduce(*o, op);
  if (auto* o = op.get<op::Scan>()) return run_scan(*o, op);
  if (auto* o = op.get<op::Simt>()) return run_simt(o->body);
  run_number(op);
  if (auto* o = op.get<op::ElementStore>()) return write(number(o->value), o->buffer, o->indices, {}, {});
  if (op.is<op::Permute>() || op.is<op::Reshape>() || op.is<op::Insert>() || op.is<op::Extract>()) run_shape(op);
}

void PaddingFlow::join_buffers(const Buffers& other, const prove::Formula& when) {
  for (const auto& [buffer, state] : other) {
    auto [at, is_new] = buffers_.try_emplace(buffer, state);
    if (!is_new) at->second = joined(state, at->second, when);
  }
}

std::vector<TileState> PaddingFlow::states(std::span<const ValueId> values) const {
  std::vector<TileState> all;
  for (ValueId v : values) all.push_back(kernel_.type(v).is_tile() ? state(v) : number(v));
  return all;
}

void PaddingFlow::hold(std::span<const ValueId> names, const std::vector<TileState>& all) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (kernel_.type(names[i]).is_tile()) tiles_[names[i]] = all[i];
    else hold_number(names[i], all[i]);
  }
}

// At the start of the first turn, with all that earlier visits have found.
void PaddingFlow::begin_turns(std::vector<TileState>& carried, const std::optional<Counting>& counting, const Settled& settled) {
  for (TileState& state : carried) begin(state, counting);
  for (auto& [buffer, state] : buffers_) begin(state, counting);
  for (size_t i = 0; i < settled.carried.size(); ++i) carried[i] = resumed(carried[i], settled.carried[i]);
  for (const auto& [buffer, state] : settled.buffers) {
    auto [at, is_new] = buffers_.try_emplace(buffer, state);
    if (!is_new) at->second = resumed(at->second, state);
  }
}

// The turns of a loop, until they bring nothing new. A turn is given what the loop carries, and gives what the next one gets.
// Gives what it carries behind a turn, for those that have one.
// A loop inside of others is come to once in each of their rounds: after some it begins with all that it has found before, so that the
// rounds of its first visits are not run again. What nested loops cost is a sum this way, not a product.
std::vector<TileState> PaddingFlow::repeat(std::span<const ValueId> inits, std::span<const RegionId> parts, const std::optional<Counting>& counting, const Turn& turn) {
  Settled& settled = settled_[parts.front()];
  const bool is_early = ++settled.visits <= kMostVisits;
  std::vector<TileState> first = states(inits), carried = first;
  const Buffers entered = buffers_;
  begin_turns(carried, counting, is_early ? Settled() : settled);
  around_.insert(around_.end(), parts.begin(), parts.end());
  std::vector<TileState> turned;
  std::vector<Turns> all;
  for (RegionId part : parts) all.push_back({prover_, part, counting, true});
  for (int round = 0;; ++round, ++settled.rounds) {
    for (Turns& part : all) part.may_guess &= !part.has_guessed, part.has_guessed = false;
    const bool loses_edges = round >= kMostRoundsOfEdges || settled.rounds >= kMostRoundsInAll;
    bool must_widen = loses_edges || round >= kMostRounds || settled.rounds >= kMostRoundsInAll / 2;
    auto next_turn = [&](TileState now) {
      for (Turns& part : all) now = at_next_turn(std::move(now), part);
      return now;
    };
    auto after = [&](const TileState& first, const TileState& before, const TileState& left, ValueId of) {
      TileState next = joined_turns(first, before, left, counting);
      note_first_turn(first, left, parts.back(), next);
      return must_widen ? widened(before, std::move(next), known_anything(element(of)), loses_edges) : next;
    };
    Buffers before = buffers_;
    turned = turn(carried);
    std::vector<TileState> next;
    for (size_t i = 0; i < carried.size(); ++i) next.push_back(after(first[i], carried[i], next_turn(with_tries(turned[i], carried[i])), inits[i]));
    for (auto& [buffer, state] : buffers_) {
      auto known = before.find(buffer);
      auto first = entered.find(buffer);
      state = known == before.end() ? next_turn(state) : after(first != entered.end() ? first->second : known->second, known->second, next_turn(with_tries(state, known->second)), buffer);
    }
    for (const auto& [buffer, state] : before) buffers_.try_emplace(buffer, state);
    const bool has_guessed = std::ranges::any_of(all, &Turns::has_guessed);
    if (next == carried && buffers_ == before && !has_guessed) break;
    carried = std::move(next);
  }
  around_.resize(around_.size() - parts.size());
  settled.carried = std::move(carried);
  settled.buffers = buffers_;
  for (size_t i = 0; i < turned.size(); ++i)
    for (Turns& part : all) part.may_guess = false, turned[i] = behind_loop(with_tries(std::move(turned[i]), settled.carried[i]), part);
  return turned;
}

// What is free before the first turn, further inside than what a turn leaves free.
void PaddingFlow::note_first_turn(const TileState& first, const TileState& left, RegionId loop, TileState& next) {
  const RegionId outer = std::exchange(region_, loop);
  for (size_t a = 0; a < next.axes.size(); ++a) {
    const AxisPadding &x = first.axes[a], &y = left.axes[a];
    AxisPadding& axis = next.axes[a];
    const bool is_free = x.is_padded && y.is_padded && x.kind == PaddingKind::Free && y.kind == PaddingKind::Free;
    if (!is_free || x.edges == y.edges || y.edges.empty() || !x.at_first.empty() || !is_beyond(y.edges, x.edges)) continue;
    axis.edges = y.edges, axis.is_filled = x.is_filled && y.is_filled, axis.at_first = x.edges, axis.loop = loop;
  }
  region_ = outer;
}

// A loop that need not turn leaves what it began with. Where it has no turn, the tiles of its turns may have no elements: what is free then is
// what is free beyond the edges of all turns.
TileState PaddingFlow::behind(const TileState& first, const TileState& turned, const prove::Formula& has_none) {
  TileState result = joined(first, turned, has_none);
  const prove::Facts without = prover_.facts(region_).with(has_none);
  for (size_t a = 0; a < result.axes.size(); ++a) {
    const AxisPadding &x = first.axes[a], &y = turned.axes[a];
    const bool is_free = x.is_padded && y.is_padded && x.kind == PaddingKind::Free && y.kind == PaddingKind::Free;
    if (!is_free || x.edges == y.edges || !x.at_first.empty() || !y.at_first.empty()) continue;
    Edges left = y.edges;
    for (Beyond& beyond : left)
      std::erase_if(beyond.edges, [&](const Edge& edge) { return !edge.has_low && prover_.proves(without, prove::at_least(prove::Linear(0), edge.limit), prove::Effort::Quick); });
    if (left == x.edges) result.axes[a].edges = y.edges, result.axes[a].is_filled = x.is_filled && y.is_filled;
  }
  return result;
}

void PaddingFlow::run_for(const op::For& loop, const Op& at) {
  std::span<const ValueId> args = std::span(kernel_.region(loop.body).args).subspan(1);
  std::optional<Counting> counting;
  prove::Linear index = prover_.value(kernel_.region(loop.body).args[0]);
  if (index.parts.size() == 1 && index.constant == 0) {
    counting = {index.parts[0].atom, prover_.value(loop.low), {}};
    if (const prove::Linear step = prover_.value(loop.step); step.is_constant() && step.constant == 1) counting->last = prover_.value(loop.high) - 1;
  }
  countings_[loop.body] = counting;
  const prove::Linear turns = prover_.value(loop.high) - prover_.value(loop.low);
  if (prover_.proves(prover_.facts(region_), prove::at_least(turns, prove::Linear(1)), prove::Effort::Quick)) turning_.insert(loop.body);
  loops_[loop.body] = op_;
  const std::vector<TileState> first = states(loop.inits);
  std::vector<TileState> turned = repeat(loop.inits, std::array{loop.body}, counting, [&](const std::vector<TileState>& carried) {
    hold(args, carried);
    run(loop.body);
    return states(kernel_.terminator(loop.body).as<op::Yield>().values);
  });
  sweep(loop, turned);
  sweep_buffers(loop);
  if (!turning_.contains(loop.body))
    for (size_t i = 0; i < turned.size(); ++i) turned[i] = behind(first[i], turned[i], prove::at_least(prove::Linear(0), turns));
  hold(at.results, turned);
}

// It ends behind its condition.
void PaddingFlow::run_while(const op::While& loop, const Op& at) {
  const auto &tested = kernel_.region(loop.condition).args, &args = kernel_.region(loop.body).args;
  auto passed = std::span(kernel_.terminator(loop.condition).as<op::Yield>().values).subspan(1);
  repeat(loop.inits, std::array{loop.condition, loop.body}, std::nullopt, [&](const std::vector<TileState>& carried) {
    hold(tested, carried);
    run(loop.condition);
    hold(args, states(passed));
    hold(at.results, states(passed));
    run(loop.body);
    return states(kernel_.terminator(loop.body).as<op::Yield>().values);
  });
}

void PaddingFlow::run_if(const op::If& branch, const Op& at) {
  Buffers before = buffers_;
  conditions_.push_back(branch.condition);
  run(branch.then_body);
  Buffers after_then = std::exchange(buffers_, before);
  run(branch.else_body);
  conditions_.pop_back();
  const prove::Formula is_taken = prover_.condition(branch.condition);
  join_buffers(after_then, is_taken);
  const auto& a = kernel_.terminator(branch.then_body).as<op::Yield>().values;
  const auto& b = kernel_.terminator(branch.else_body).as<op::Yield>().values;
  for (size_t i = 0; i < at.results.size(); ++i) {
    if (kernel_.type(at.results[i]).is_tile()) {
      tiles_[at.results[i]] = joined(state(a[i]), state(b[i]), is_taken);
    } else if (kernel_.type(at.results[i]).is_scalar()) {
      TileState either = joined(number(a[i]), number(b[i]), is_taken);
      if (const AxisPadding* told = padded_number(branch.condition)) {
        meet(either.whole(), *told);
        either.whole().numbers = joined(either.whole().numbers, either.inside), either.whole().is_as_read = false;
      }
      hold_number(at.results[i], std::move(either));
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

// What somebody turns out to look at is masked in another run.
void check_padding(Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics) {
  for (std::set<OpId> seen;;) {
    Diagnostics told(diagnostics.policy());
    PaddingFlow flow(kernel, prover, told, seen);
    flow.run(kernel.body);
    if (flow.seen() != seen) {
      seen = flow.seen();
      continue;
    }
    flow.tell();
    diagnostics.append(told);
    if (!diagnostics.has_errors()) flow.masks().insert(kernel);
    return;
  }
}

}  // namespace tilec::passes
