// What the iterations of a map do to memory, and report. One that lies beyond an edge does nothing: an atomic, or an element store, of whose place or
// condition padding has told is not made there, a read at such a place reports nothing, and a loop whose condition it tells makes no turn. A store of
// padding to a place like others is made.
#include <bit>

#include "passes/padding_flow.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

// The runs in which variables of the set hold numbers that count, and are no padding, so that what was `left_out` is not. None: that is not known,
// as where it is left out in some turns of a loop alone.
std::optional<prove::Formula> PaddingFlow::counts_when(const op::Map& map, const MapAxis& axis, unsigned set, const LeftOut& left_out) {
  constexpr size_t kMost = 3;
  struct Numbers {
    prove::Formula when;
    bool is_lost;
    unsigned inputs;
  };
  std::vector<Numbers> all;
  for (size_t i = 0; i < std::min(inputs_.size(), kMostInputs); ++i) {
    const AxisPadding* along = is_in(axis.inputs(set), i) ? padding_along(i, axis.axis) : nullptr;
    if (!along || !along->has_free() || along->uniform.is_never()) continue;
    const bool is_lost = along->uniform.is_lost || along->kind != PaddingKind::Free;
    auto known = std::ranges::find_if(all, [&](const Numbers& n) { return n.when == along->uniform.when && n.is_lost == is_lost; });
    if (known == all.end()) known = all.insert(all.end(), {along->uniform.when, is_lost, 0});
    known->inputs |= 1u << i;
  }
  if (all.size() > kMost) return std::nullopt;
  std::vector<prove::Formula> runs;
  std::vector<unsigned> least;
  for (unsigned some = 1; some < 1u << all.size(); ++some) {
    if (std::ranges::any_of(least, [&](unsigned s) { return (some & s) == s; })) continue;
    unsigned inputs = 0;
    bool is_lost = false;
    std::vector<prove::Formula> when;
    for (size_t n = 0; n < all.size(); ++n)
      if (some >> n & 1) inputs |= all[n].inputs, is_lost |= all[n].is_lost, when.push_back(all[n].when);
    const std::optional<bool> is_left_out = left_out(map_results(map, axis, set, false, nullptr, inputs));
    if (is_left_out.value_or(false)) continue;
    if (!is_left_out || is_lost) return std::nullopt;
    least.push_back(some), runs.push_back(prove::all_of(std::move(when)));
  }
  return prove::any_of(std::move(runs));
}

// It is known where a group lies, and the same in all turns.
bool PaddingFlow::has_one_place(const Group& group, int64_t axis) const {
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (const AxisPadding* along = is_in(group.inputs, i) ? padding_along(i, axis) : nullptr; along && !along->at_first.empty()) return false;
  return group.is_filled && !group.edges.empty() && masks_.can_stand(region_, group.edges);
}

// What is done where inputs hold what their variables have kept sees which numbers these are.
void PaddingFlow::see_effects(const op::Map& map, const MapAxis& axis, unsigned set, const MapResults& results) {
  bool acts = false;
  each_op(kernel_, map.body, [&](OpId id) {
    const Op& op = kernel_.op(id);
    acts |= (op.is<op::Atomic>() || op.is<op::ElementStore>()) && !results.effects.contains(id);
  });
  const unsigned padded = axis.inputs(set);
  for (size_t i = 0; acts && i < inputs_.size(); ++i)
    if (const AxisPadding* along = is_in(padded, i) ? padding_along(i, axis.axis) : nullptr) see(*along);
}

// What an iteration that lies beyond an edge would do to memory.
void PaddingFlow::mask_effects(const op::Map& map, MapAxis& axis, unsigned set, const MapResults& results) {
  for (OpId id : results.unsure) {
    const Group& group = axis.groups[size_t(std::countr_zero(set))];
    report(*group.sample, inputs_[size_t(std::countr_zero(group.inputs))].tile, kEffect, "", kernel_.op(id));
  }
  see_effects(map, axis, set, results);
  for (const auto& [id, is_tested] : results.effects) {
    std::vector<unsigned>& masked = axis.masked[id];
    if (!is_tested) axis.met[id].push_back(set);
    if (std::ranges::any_of(masked, [&](unsigned s) { return (set & s) == s; })) continue;
    std::optional<Edges> edges;
    const Group* unknown = nullptr;
    for (size_t g = 0; g < axis.groups.size(); ++g) {
      const Group& group = axis.groups[g];
      if (!(set >> g & 1)) continue;
      if (!has_one_place(group, axis.axis)) unknown = &group;
      edges = edges ? beyond_both(*edges, group.edges) : group.edges;
    }
    const bool is_silent = kernel_.op(id).is<op::ElementLoad>() || kernel_.op(id).is<op::While>();
    const Group* first = &axis.groups[size_t(std::countr_zero(set))];
    const auto counting = counts_when(map, axis, set, [id = id](const MapResults& there) {
      return there.unsure.contains(id) ? std::nullopt : std::optional(there.effects.contains(id));
    });
    if (!counting) unknown = first;
    else if (counting->is_false()) masked.push_back(set);
    else edges = guarded(*edges, negation(*counting));
    if (!unknown && (edges->empty() || !masks_.can_stand(region_, *edges))) unknown = first;
    if (!unknown) masks_.add(EffectMask{region_, op_, id, axis.axis, *edges});
    else if (!is_tested && !is_silent) report(*unknown->sample, inputs_[size_t(std::countr_zero(unknown->inputs))].tile, kEffect, "", kernel_.op(id));
  }
}

ValueId PaddingFlow::root_of(ValueId buffer) const {
  while (auto* view = kernel_.defined_by<op::Subview>(buffer)) buffer = view->buffer;
  return buffer;
}

// Padding that the body stores into shared tiles, element by element: where it lies is not known.
void PaddingFlow::note_stores(const op::Map& map, const MapAxis& axis, const MapResults& results, std::map<ValueId, AxisPadding>& stored) const {
  each_op(kernel_, map.body, [&](OpId id) {
    auto* store = kernel_.op(id).get<op::ElementStore>();
    if (!store || results.effects.contains(id)) return;
    auto marks = results.marks_of.find(store->value);
    auto numbers = results.known.find(store->value);
    if (marks == results.marks_of.end() || marks->second.taint == Taint::Clean || numbers == results.known.end()) return;
    const ValueId buffer = root_of(store->buffer);
    if (kernel_.type(buffer).space != Space::Shared) return;
    auto [at, is_new] = stored.try_emplace(buffer);
    AxisPadding& padding = at->second;
    const PaddingKind kind = marks->second.taint == Taint::Set ? PaddingKind::Set : PaddingKind::Read;
    if (!is_new && padding.kind != kind) padding.kind = PaddingKind::Mixed;
    else padding.kind = kind;
    if (kind == PaddingKind::Set) padding.told = joined(padding.told, numbers->second);
    padding.numbers = joined(padding.numbers, numbers->second);
    padding.origin = axis.groups.front().sample->origin;
  });
}

// Along each axis, what nothing is written to beyond an edge, and holds numbers alone there: shared tiles that are written in place.
std::map<ValueId, std::vector<AxisPadding>> PaddingFlow::left_free(const op::Map& map) {
  std::map<ValueId, std::vector<AxisPadding>> left;
  std::set<ValueId> lost;
  const std::vector<ValueId> indices(kernel_.region(map.body).args.begin(), kernel_.region(map.body).args.begin() + ptrdiff_t(map.shape.size()));
  each_op(kernel_, map.body, [&](OpId id) {
    const Op& op = kernel_.op(id);
    auto* store = op.get<op::ElementStore>();
    auto* atomic = op.get<op::Atomic>();
    if (!store && !atomic) return;
    const ValueId buffer = store ? store->buffer : atomic->buffer;
    if (kernel_.type(buffer).space != Space::Shared) return;
    if ((store ? store->indices : atomic->indices) != indices || kernel_.type(buffer).shape != map.shape) return void(lost.insert(buffer));
    const TileState held = state(buffer);
    auto [at, is_new] = left.try_emplace(buffer, std::vector<AxisPadding>(map.shape.size()));
    for (size_t a = 0; a < map.shape.size(); ++a) {
      const AxisPadding& old = held.axes[a];
      const bool is_free = old.is_free || (old.is_padded && old.kind == PaddingKind::Free && old.can_be_masked());
      const EffectMask* mask = masks_.effect(id, int64_t(a));
      AxisPadding& axis = at->second[a];
      if (!is_free || !mask || (!is_new && !axis.is_padded)) axis = {};
      else axis = {.is_padded = true, .kind = PaddingKind::Free, .edges = is_new ? mask->edges : beyond_both(axis.edges, mask->edges), .is_filled = true,
                   .numbers = old.is_free ? held.inside : old.numbers, .origin = padded_.empty() ? PadOrigin{} : padded_.begin()->second->origin};
      if (axis.is_padded && old.is_padded) axis.edges = beyond_both(axis.edges, old.edges);
      if (axis.edges.empty()) axis = {};
    }
  });
  std::erase_if(left, [&](const auto& entry) { return lost.contains(entry.first); });
  return left;
}

void PaddingFlow::store_elements(const op::Map& map, const std::map<ValueId, AxisPadding>& stored) {
  const std::map<ValueId, std::vector<AxisPadding>> left = left_free(map);
  taint_writes(map.body);
  for (const auto& [buffer, axes] : left) {
    auto at = buffers_.find(buffer);
    for (size_t a = 0; at != buffers_.end() && a < axes.size(); ++a)
      if (axes[a].is_padded) at->second.axes[a] = axes[a];
  }
  for (const auto& [buffer, padding] : stored) pad_somewhere(buffer, padding);
}

// Some elements of a buffer are padding, and it is not known which.
void PaddingFlow::pad_somewhere(ValueId buffer, const AxisPadding& padding) {
  TileState now = state(buffer);
  for (AxisPadding& axis : std::span(now.axes).first(now.rank())) {
    axis.numbers = axis.is_padded ? joined(axis.numbers, padding.numbers) : padding.numbers;
    if (padding.kind != PaddingKind::Read) axis.told = joined(axis.is_padded ? axis.set_by_program() : Known(), padding.told);
    axis.kind = axis.is_padded && axis.kind != padding.kind ? PaddingKind::Mixed : padding.kind;
    axis.is_padded = true, axis.is_as_read = false, axis.origin = padding.origin;
    axis.count(), axis.lose_edges();
  }
  buffers_[buffer] = std::move(now);
}

// What threads write of padding that they read is padding, and it is not known where; where the place has been tested, what is read is none. What
// padding decides in `simt` is done like everything else.
void PaddingFlow::run_simt(RegionId body) {
  taint_writes(body);
  for (std::set<ValueId> known;;) {
    std::map<ValueId, AxisPadding> reads;
    NumbersOf numbers = scalars_;
    each_op_in_region(kernel_, body, [&](RegionId region, OpId id) {
      const Op& op = kernel_.op(id);
      if (op.is<op::For>() || op.is<op::While>()) each_region(op.data, [&](RegionId part) { loops_[part] = id; });
      auto* load = op.get<op::ElementLoad>();
      if (!load || kernel_.type(load->buffer).space != Space::Shared) return;
      const AxisPadding padding = whole_at(*load, region).whole();
      if (padding.is_padded) reads.emplace(op.result(), padding), numbers[op.result()] = padding.numbers;
    });
    std::map<ValueId, AxisPadding> stored;
    each_op(kernel_, body, [&](OpId id) {
      auto* store = kernel_.op(id).get<op::ElementStore>();
      auto* atomic = kernel_.op(id).get<op::Atomic>();
      const ValueId to = store ? store->buffer : atomic ? atomic->buffer : ValueId();
      if (!to.valid() || kernel_.type(to).space != Space::Shared) return;
      const std::set<ValueId> sources = sources_of(store ? store->value : atomic->operands.back());
      for (const auto& [read, padding] : reads) {
        if (!sources.contains(read)) continue;
        AxisPadding& all = stored.try_emplace(root_of(to), padding).first->second;
        all.numbers = joined(all.numbers, store ? scalar_numbers(kernel_, store->value, numbers) : known_anything(element(to)));
      }
    });
    bool grows = false;
    for (auto& [buffer, padding] : stored) {
      padding.kind = PaddingKind::Read, padding.is_as_read = false;
      grows |= known.insert(buffer).second;
      pad_somewhere(buffer, padding);
    }
    if (!grows) return;
  }
}

// Padding that a guard would report, as in a division by zeros of it.
void PaddingFlow::mask_guards(const op::Map& map, const MapAxis& axis, unsigned set, const MapResults& results) {
  each_op(kernel_, map.body, [&](OpId id) {
    const Op& op = kernel_.op(id);
    if (!is_guarded(op)) return;
    auto* binary = op.get<op::Binary>();
    ValueId operand = binary ? binary->b : op.as<op::Unary>().x;
    auto numbers = results.known.find(operand);
    auto marks = results.marks_of.find(op.result());
    if (numbers == results.known.end() || marks == results.marks_of.end() || (!marks->second.is_left_out() && marks->second.taint == Taint::Clean && counts(marks->second.made))) return;
    bool divides = binary && (binary->fn == BinaryFn::Div || binary->fn == BinaryFn::Rem);
    if (divides && !(numbers->second.sure.kinds & kZero) && !binary->may_leave) return;
    const bool is_free = marks->second.taint == Taint::Clean;
    Edges edges;
    const Group* unknown = nullptr;
    for (size_t g = 0; g < axis.groups.size(); ++g) {
      const Group& group = axis.groups[g];
      bool is_read = false;
      for (size_t i = 0; i < inputs_.size(); ++i)
        is_read |= is_in(group.inputs, i) && is_made_of(op.result(), inputs_[i].element);
      if (!is_read || !(set >> g & 1)) continue;
      if (!has_one_place(group, axis.axis)) unknown = &group;
      if (is_free && !edges.empty()) edges = beyond_both(edges, group.edges);
      else unite(edges, group.edges);
    }
    if (edges.empty() && !unknown) return;
    const auto counting = counts_when(map, axis, set, [&](const MapResults& there) -> std::optional<bool> {
      auto at = there.marks_of.find(op.result());
      return at != there.marks_of.end() && (at->second.is_left_out() || at->second.taint != Taint::Clean);
    });
    if (!counting) unknown = &axis.groups[size_t(std::countr_zero(set))];
    else if (!counting->is_false()) edges = guarded(edges, negation(*counting));
    if (!unknown && !masks_.can_stand(region_, edges)) unknown = &axis.groups[size_t(std::countr_zero(set))];
    if (!unknown) return masks_.add(GuardMask{region_, op_, id, axis.axis, edges});
    if (divides && numbers->second.sure.is_within(kZero)) report(*unknown->sample, inputs_[size_t(std::countr_zero(unknown->inputs))].tile, "division", "1", op);
  });
}

}  // namespace tilec::passes
