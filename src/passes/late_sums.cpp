#include "passes/late_sums.h"

#include <algorithm>
#include <optional>

#include "passes/cleanup.h"
#include "passes/rewrite.h"
#include "passes/within_lanes.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kAxis = 1;  // the sums go along rows

// Do warps share a row? Lanes of one take little longer to add up each turn than behind the loop, and loops whose products were
// under way over that are slower without it (attention: 1 to 7 %).
bool is_shared(const layout::RegLayout& tile) {
  if (tile.shape.rank != 2 || !runs_along(tile, kAxis)) return false;
  for (int bit = 0; bit < tile.bits(kAxis); ++bit)
    if (std::ranges::find(tile.warp, layout::coordinate_bit(2, kAxis, bit)) != tile.warp.end()) return true;
  return false;
}

// A sum along rows, and the map that adds it to a loop's total.
struct Addition {
  RegionId region;  // that both stand in
  OpId sum, update;
};

// A loop's total, by what stands in the loop: one addition, or one for each side of a branch that ends the turn with it.
struct Total {
  size_t slot;  // among what the loop carries
  std::vector<Addition> additions;
  std::vector<ValueId> chosen = {};  // results of branches on the way from the additions to the next turn
};

class Lateness {
 public:
  Lateness(Kernel& kernel, RegionId region, OpId loop) : kernel_(kernel), region_(region), loop_(loop), body_(kernel.op(loop).as<op::For>().body) {}

  void run() {
    for (size_t slot = 0; slot < kernel_.op(loop_).results.size(); ++slot)
      if (std::optional<Total> total = total_of(slot)) make_late(*total);
  }

 private:
  std::optional<Total> total_of(size_t slot) const {
    ValueId before = kernel_.region(body_).args[slot + 1], after = kernel_.op(kernel_.region(body_).ops.back()).as<op::Yield>().values[slot];
    Total total{slot, {}};
    bool ok = begins_with_zeros(slot) && !is_pinned(before) && find_additions(body_, before, after, total) && users(before) == int(total.additions.size()) && have_equal_parts(total);
    return ok ? std::optional(total) : std::nullopt;
  }

  // All sums go along rows that are cut and dealt out alike: the total has one type.
  bool have_equal_parts(const Total& total) const {
    auto summed = [&](const Addition& addition) { return kernel_.type(kernel_.op(addition.sum).as<op::Reduce>().x); };
    return std::ranges::all_of(total.additions, [&](const Addition& one) { return summed(one) == summed(total.additions.front()); });
  }

  bool find_additions(RegionId region, ValueId before, ValueId after, Total& total) const {
    const Op* made = kernel_.definition(after);
    if (!made || users(after) != 1) return false;
    if (const op::If* branch = made->get<op::If>()) {
      size_t place = size_t(std::ranges::find(made->results, after) - made->results.begin());
      total.chosen.push_back(after);
      auto side = [&](RegionId body) { return find_additions(body, before, kernel_.terminator(body).as<op::Yield>().values[place], total); };
      return total.chosen.size() == 1 && side(branch->then_body) && side(branch->else_body);
    }
    const op::Map* update = made->get<op::Map>();
    if (!update || made->results.size() != 1 || update->shape.size() != 1) return false;
    for (ValueId input : update->inputs) {
      const op::Reduce* sum = kernel_.defined_by<op::Reduce>(input);
      if (!sum || sum->fn != ReduceFn::Sum || sum->axis != kAxis || !is_shared(kernel_.layouts.reg(kernel_.type(sum->x).layout))) continue;
      Addition addition{region, kernel_.value(input).op, kernel_.value(after).op};
      if (!stands_in(region, addition.update)) addition.region = body_;
      if (!stands_in(addition.region, addition.sum) || !stands_in(addition.region, addition.update) || users(input) != 1 || !adds(*update, before, input)) continue;
      return total.additions.push_back(addition), true;
    }
    return false;
  }

  bool stands_in(RegionId region, OpId id) const { return std::ranges::find(kernel_.region(region).ops, id) != kernel_.region(region).ops.end(); }

  bool begins_with_zeros(size_t slot) const {
    const op::Splat* splat = kernel_.defined_by<op::Splat>(kernel_.op(loop_).as<op::For>().inits[slot]);
    auto number = splat ? kernel_.constant(splat->x) : std::nullopt;
    return number && number->is_float && number->f == 0;
  }

  // To the layout of a whole row.
  bool is_pinned(ValueId v) const {
    return std::ranges::any_of(kernel_.schedule.layouts, [&](const PinnedLayout& pinned) { return pinned.name == kernel_.value(v).hint; });
  }

  int users(ValueId v) const {
    int count = 0;
    each_op(kernel_, body_, [&](OpId id) { each_operand(kernel_.op(id).data, [&](ValueId used) { count += used == v; }); });
    return count;
  }

  // before * anything + sum, or before + sum
  bool adds(const op::Map& update, ValueId before, ValueId sum) const {
    auto argument = [&](ValueId tile) {
      size_t place = size_t(std::ranges::find(update.inputs, tile) - update.inputs.begin());
      return kernel_.region(update.body).args[1 + place];
    };
    const ValueId l = argument(before), r = argument(sum), made = kernel_.terminator(update.body).as<op::Yield>().values.front();
    auto is_free = [&](ValueId v) { return v != l && v != r && !depends(v, l) && !depends(v, r); };
    auto is_scaled = [&](ValueId v) {
      const op::Binary* product = kernel_.defined_by<op::Binary>(v);
      return v == l || (product && product->fn == BinaryFn::Mul && ((product->a == l && is_free(product->b)) || (product->b == l && is_free(product->a))));
    };
    if (const op::Fma* fma = kernel_.defined_by<op::Fma>(made))
      return fma->c == r && ((fma->a == l && is_free(fma->b)) || (fma->b == l && is_free(fma->a)));
    const op::Binary* added = kernel_.defined_by<op::Binary>(made);
    return added && added->fn == BinaryFn::Add && ((is_scaled(added->a) && added->b == r) || (is_scaled(added->b) && added->a == r));
  }

  bool depends(ValueId v, ValueId on) const {
    const Op* op = kernel_.definition(v);
    bool found = false;
    if (op) each_operand(op->data, [&](ValueId used) { found = found || used == on || depends(used, on); });
    return found;
  }

  void make_late(const Total& total) {
    const ValueId before = kernel_.region(body_).args[total.slot + 1], result = kernel_.op(loop_).results[total.slot];
    const Type vector = kernel_.type(result);
    Type parts;
    for (const Addition& addition : total.additions) parts = make_late(addition, before);
    for (ValueId v : {before, result}) retype(kernel_, v, parts);
    for (ValueId v : total.chosen) become_part(v, parts, before);
    ValueId init = kernel_.op(loop_).as<op::For>().inits[total.slot];
    insert_before(kernel_, region_, loop_, [&](Builder& b) { init = b.value(op::Splat{kernel_.defined_by<op::Splat>(init)->x}, parts); });
    kernel_.op(loop_).as<op::For>().inits[total.slot] = init;
    ValueId whole;
    insert_after(kernel_, region_, loop_, [&](Builder& b) { whole = b.value(op::Reduce{ReduceFn::Sum, result, kAxis}, vector); });
    replace_uses(kernel_, kernel_.body, result, whole);
    kernel_.op(kernel_.value(whole).op).as<op::Reduce>().x = result;
  }

  Type make_late(const Addition& addition, ValueId before) {
    const op::Reduce sum = kernel_.op(addition.sum).as<op::Reduce>();
    const op::Map update = kernel_.op(addition.update).as<op::Map>();
    const ValueId summed = kernel_.op(addition.sum).result();
    ValueId part;
    insert_before(kernel_, addition.region, addition.sum, [&](Builder& b) { part = *reduced_within_lanes(b, ReduceFn::Sum, sum.x, kAxis); });
    const Type parts = kernel_.type(part);
    become_part(kernel_.op(addition.update).result(), parts, before);
    widen(addition.update, update, before, summed, part);
    std::erase(kernel_.region(addition.region).ops, addition.sum);
    return parts;
  }

  // No longer what the program calls by that name, which a printed schedule would pin.
  void become_part(ValueId v, const Type& parts, ValueId before) {
    retype(kernel_, v, parts);
    if (kernel_.value(v).hint != kernel_.value(before).hint) kernel_.value(v).hint.clear();
  }

  // The update for each part of a row, with the same factors.
  void widen(OpId id, op::Map update, ValueId before, ValueId summed, ValueId part) {
    for (size_t i = 0; i < update.inputs.size(); ++i) {
      bool is_of_parts = update.inputs[i] == before || update.inputs[i] == summed;
      if (update.inputs[i] == summed) update.inputs[i] = part;
      update.input_axes[i] = is_of_parts ? Axes{0, 1} : Axes{0};
    }
    update.shape = kernel_.type(part).shape;
    ValueId column = kernel_.new_arg(update.body, scalar_type(Scalar::Index));
    std::vector<ValueId>& args = kernel_.region(update.body).args;
    args.pop_back();
    args.insert(args.begin() + 1, column);
    kernel_.op(id).data = update;
  }

  Kernel& kernel_;
  const RegionId region_;
  const OpId loop_;
  const RegionId body_;
};

}  // namespace

void late_sums(Kernel& kernel, const Machine& machine, Diagnostics&) {
  if (!machine.has(Cap::Shuffles)) return;
  each_op_in_region(kernel, kernel.body, [&](RegionId region, OpId id) {
    if (kernel.op(id).is<op::For>()) Lateness(kernel, region, id).run();
  });
  drop_dead_code(kernel);
}

}  // namespace tilec::passes
