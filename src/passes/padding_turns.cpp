// What a loop carries from turn to turn, until nothing new comes.
#include "passes/padding_turns.h"

namespace tilec::passes {

using prove::Formula;
using prove::Linear;

Formula is_first(const Counting& counting) { return at_least(counting.low, Linear(counting.index)); }

bool hangs_on(const Edges& edges, const Turns& turns) {
  return !all_edges(edges, [&](const Edge& edge) {
    return !turns.prover.depends_on(edge.limit, turns.loop) && !(edge.has_low && turns.prover.depends_on(edge.first, turns.loop));
  });
}

void put(Edges& edges, prove::AtomId index, const Linear& by) {
  for (Beyond& beyond : edges) beyond.when = prove::substitute(beyond.when, index, by);
  std::erase_if(edges, [](const Beyond& beyond) { return beyond.when.is_false(); });
  each_edge(edges, [&](Edge& edge) {
    edge.limit = prove::substitute(edge.limit, index, by);
    if (edge.has_low) edge.first = prove::substitute(edge.first, index, by);
  });
}

namespace {

// Conditions of so many leaves are followed from turn to turn.
constexpr int kMostLeaves = 5;

// What it says of all turns alike: more than it says itself.
Formula of_all_turns(const Formula& f, const Turns& turns) {
  if (!turns.prover.depends_on(f, turns.loop)) return f;
  if (f.kind != Formula::Kind::All && f.kind != Formula::Kind::Any) return prove::truth(true);
  std::vector<Formula> parts;
  for (const Formula& part : f.parts) parts.push_back(of_all_turns(part, turns));
  return f.kind == Formula::Kind::All ? prove::all_of(std::move(parts)) : prove::any_of(std::move(parts));
}

// Which way the edges of what is free go as the index grows: beyond those of all turns lies what is beyond the furthest.
enum class Going : uint8_t { Inward, Outward, Lost };
Going going(const Edges& edges, prove::AtomId index) {
  bool shrinks = false, grows = false;
  const bool is_simple = all_edges(edges, [&](const Edge& edge) {
    const int64_t factor = edge.limit.factor_of(index);
    shrinks |= factor < 0, grows |= factor > 0;
    return !edge.has_low || edge.first.factor_of(index) == 0;
  });
  return !is_simple || (shrinks && grows) ? Going::Lost : grows ? Going::Outward : Going::Inward;
}

// Does it hold where the other does, by what both say word for word?
bool is_said(const Formula& f, const Formula& by) {
  if (f == by || f.is_true()) return true;
  if (by.kind == Formula::Kind::All && std::ranges::find(by.parts, f) != by.parts.end()) return true;
  auto is_part_said = [&](const Formula& part) { return is_said(part, by); };
  return f.kind == Formula::Kind::All ? std::ranges::all_of(f.parts, is_part_said) : f.kind == Formula::Kind::Any && std::ranges::any_of(f.parts, is_part_said);
}

// Of bounds of one sum, the one that says it all.
Formula tidied(Formula f) {
  if (f.kind != Formula::Kind::All && f.kind != Formula::Kind::Any) return f;
  std::vector<Formula> parts;
  for (Formula& part : f.parts) {
    Formula next = tidied(std::move(part));
    auto is_alike = [&](const Formula& other) { return next.kind == Formula::Kind::AtLeastZero && other.kind == next.kind && (next.linear - other.linear).is_constant(); };
    auto same = std::ranges::find_if(parts, is_alike);
    if (same == parts.end()) parts.push_back(std::move(next));
    else if ((next.linear.constant < same->linear.constant) == (f.kind == Formula::Kind::All)) *same = std::move(next);
  }
  return f.kind == Formula::Kind::All ? prove::all_of(std::move(parts)) : prove::any_of(std::move(parts));
}

// What a condition says of the turn before, or of the last one. Not exact: at most that.
bool tell(Formula& when, Turns& turns, const std::optional<Linear>& latest) {
  prove::Prover& prover = turns.prover;
  if (!prover.depends_on(when, turns.loop)) return true;
  const Formula general = of_all_turns(when, turns);
  if (turns.may_guess) return turns.has_guessed = true, when = general, true;
  // One that is told of a single turn says nothing of all.
  const bool is_of_one = when.kind == Formula::Kind::All && std::ranges::any_of(when.parts, [&](const Formula& part) {
    return part.kind == Formula::Kind::AtLeastZero && prover.depends_on(part, turns.loop);
  });
  const bool may_be_same = !is_of_one && (!general.is_true() || when.kind == Formula::Kind::Any);
  const bool is_same = is_said(when, general) || (may_be_same && prover.proves(prover.facts(turns.loop), implication(general, when), prove::Effort::Glance));
  if (!is_same && turns.counting && latest) {
    const Formula there = tidied(prove::substitute(when, turns.counting->index, *latest)), fixed = prove::substitute(when, turns.counting->index, turns.counting->low);
    if (prove::leaves(there) <= kMostLeaves && !prover.depends_on(fixed, turns.loop)) return when = there, true;
  }
  when = general;
  return is_same;
}

// Where edges that move lie then. `latest`: what the index was in the turn that was the last so far.
void move_edges(AxisPadding& axis, const Turns& turns, const std::optional<Linear>& latest) {
  if (!hangs_on(axis.edges, turns)) return;
  if (!turns.counting) return axis.lose_edges();
  Going way = axis.kind == PaddingKind::Free ? going(axis.edges, turns.counting->index) : Going::Outward;
  // Where that was tried, and they still hang on the turn, each turn sets them anew.
  if (way == Going::Inward && axis.was_fixed) way = Going::Outward;
  Edges fixed = axis.edges;
  put(fixed, turns.counting->index, turns.counting->low);
  if (way == Going::Lost || hangs_on(fixed, turns) || (way == Going::Outward && !latest)) axis.lose_edges();
  else if (way == Going::Inward) axis.edges = std::move(fixed), axis.was_fixed = true;
  else put(axis.edges, turns.counting->index, *latest);
}

void tell_edges(AxisPadding& axis, Turns& turns, const std::optional<Linear>& latest) {
  bool is_exact = true;
  std::vector<Formula> when;
  for (Beyond& beyond : axis.edges) is_exact &= tell(when.emplace_back(std::exchange(beyond.when, prove::truth(true))), turns, latest);
  move_edges(axis, turns, latest);
  for (size_t i = 0; i < axis.edges.size(); ++i) axis.edges[i].when = when[i];
  std::erase_if(axis.edges, [](const Beyond& beyond) { return beyond.when.is_false(); });
  if (axis.edges.empty()) axis.lose_edges();
  // What is free lies beyond the edges of all turns.
  if (axis.kind == PaddingKind::Free && !is_exact) axis.lose_edges();
  if (!is_exact) axis.lose_guards();
}

TileState told(TileState state, Turns& turns, const std::optional<Linear>& latest) {
  for (AxisPadding& axis : state.axes) {
    axis.asides.clear();
    if (!axis.is_padded && !axis.may_be_free) continue;
    const Formula free = of_all_turns(axis.free_when.when, turns);
    if (free != axis.free_when.when) axis.free_when = {free, false};
    for (Plain& one : axis.plain) one.when = of_all_turns(one.when, turns);
    axis.uniform.is_lost |= !tell(axis.uniform.when, turns, latest);
    if (hangs_on(axis.at_first, turns)) axis.lose_edges();
    tell_edges(axis, turns, latest);
    if (!axis.can_be_masked()) axis = standing_anywhere(std::move(axis));
  }
  return state;
}

}  // namespace

TileState with_tries(TileState state, const TileState& head) {
  for (size_t a = 0; a < std::min(state.axes.size(), head.axes.size()); ++a) state.axes[a].was_fixed = head.axes[a].was_fixed;
  return state;
}

TileState at_next_turn(TileState state, Turns& turns) {
  const bool has_step = turns.counting && turns.counting->last;
  return told(std::move(state), turns, has_step ? std::optional(Linear(turns.counting->index) - 1) : std::nullopt);
}

TileState behind_loop(TileState state, Turns& turns) {
  return told(std::move(state), turns, turns.counting ? turns.counting->last : std::nullopt);
}

TileState joined_turns(const TileState& first, const TileState& before, const TileState& turned, const std::optional<Counting>& counting) {
  TileState result = joined(before, turned);
  // What a loop adds up it has taken up in each turn.
  if (turned.taken_up == TakenUp::Yes) result.taken_up = TakenUp::Yes;
  if (!counting || first.axes.size() != turned.axes.size()) return result;
  // What grows from turn to turn is joined with what was found before; edges are those of the first turn and of the others.
  const std::optional<Formula> when = is_first(*counting);
  for (size_t i = 0; i < result.axes.size(); ++i) {
    AxisPadding& axis = result.axes[i];
    const AxisPadding &x = first.axes[i], &y = turned.axes[i];
    axis.was_fixed = y.was_fixed;
    if (!axis.is_padded && !axis.may_be_free) continue;
    const AxisPadding exact = joined_axis(x, first.inside, y, turned.inside, when);
    axis.uniform.when = exact.uniform.when, axis.uniform.is_lost = exact.uniform.is_lost, axis.free_when = exact.free_when, axis.plain = exact.plain;
    if (!axis.may_be_free) axis.free_when = {};
    if (axis.is_padded && !exact.is_padded) axis.lose_edges();
    if (!axis.is_padded || !exact.is_padded) continue;
    axis.edges = exact.edges, axis.is_filled = exact.is_filled, axis.at_first = exact.at_first, axis.loop = exact.loop;
    if (!x.is_padded || !y.is_padded || x.edges == y.edges) continue;
    Edges at_first = y.edges;
    put(at_first, counting->index, counting->low);
    const bool is_one = !x.edges.empty() && at_first == x.edges, is_free = x.kind == PaddingKind::Free && y.kind == PaddingKind::Free;
    if (is_one) axis.edges = y.edges, axis.is_filled = x.is_filled && y.is_filled;
    else if (is_free) axis.lose_edges();
  }
  return result;
}

TileState widened(const TileState& before, TileState now, const Known& anything, bool with_edges) {
  if (now.inside != before.inside) now.inside = joined(now.inside, anything);
  if (now.corner != before.corner) now.corner = joined(now.corner, anything);
  for (size_t i = 0; i < std::min(now.axes.size(), before.axes.size()); ++i) {
    AxisPadding& axis = now.axes[i];
    const AxisPadding& old = before.axes[i];
    if (axis.may_be_free && old.may_be_free && any_of(axis.plain) != any_of(old.plain)) axis.plain = {{joined(any_of(axis.plain), anything)}};
    if (with_edges && axis.plain != old.plain) axis.plain = {{any_of(axis.plain)}};
    if (old.is_padded && axis.uniform.number != old.uniform.number) axis.uniform.number = joined(axis.uniform.number, anything);
    if (old.is_padded && axis.numbers != old.numbers) axis.numbers = joined(axis.numbers, anything);
    if (axis.told != old.told && old.told.is_some()) axis.told = joined(axis.told, anything);
    if (old.is_padded && old.edges.empty()) axis.lose_edges();
    if (!with_edges) continue;
    if (axis.unwritten != old.unwritten) axis.unwritten.reset(), axis.is_filled = false;
    if (old.is_padded) axis.is_filled &= old.is_filled, axis.uniform.is_lost |= old.uniform.is_lost;
    if (axis.may_be_free && axis.free_when != old.free_when) axis.free_when = some_runs();
    if (axis.uniform.when != old.uniform.when && old.is_padded) axis.uniform.when = prove::truth(false), axis.uniform.is_lost = true;
    const bool is_guard_alone = axis.at_first == old.at_first && unguarded(axis.edges) == unguarded(old.edges);
    if (old.is_padded && is_guard_alone && axis.edges != old.edges) axis.lose_guards();
    if (old.is_padded && !is_guard_alone) axis.lose_edges();
  }
  return now;
}

}  // namespace tilec::passes
