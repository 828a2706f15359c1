#include "passes/overlap_turn.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "passes/effects.h"
#include "passes/late_release.h"
#include "passes/rewrite.h"
#include "passes/touches.h"
#include "passes/turn_order.h"

namespace tilec::passes {

using namespace ir;

namespace {

struct Started {
  OpId id;                     // of the product; becomes the one that awaits it
  ValueId result, flight;
  std::vector<ValueId> reads;  // shared memory, behind views
  bool is_awaited = false;     // or gone on from: its result is no flight any more
};

class Turn {
 public:
  Turn(Kernel& kernel, const Launched& launched, const TurnAt& at, Reach reach)
      : kernel_(kernel), launched_(launched), at_(at), reach_(reach), given_(kernel.region(at.region).ops), builder_(kernel, kernel.new_region()),
        uses_(use_counts(kernel)) {}

  void run() {
    for (OpId id : given_)
      if (!done_.contains(id)) visit(id);
    std::vector<OpId> made = std::move(out());
    kernel_.region(at_.region).ops = std::move(made);
    if (!carried_.empty()) carry();
  }

 private:
  std::vector<OpId>& out() { return kernel_.region(builder_.region()).ops; }
  size_t place(OpId id) const { return size_t(std::ranges::find(given_, id) - given_.begin()); }
  bool is_open(size_t product) const { return product >= ended_; }

  void visit(OpId id) {
    if (launched_.group_atom(id)) return meet(id);
    if (const op::Release* release = kernel_.op(id).get<op::Release>()) return give_back(id, release->ring);
    if (id == given_.back()) {
      start_postponed();
      return finish(id);
    }
    start_needed_by(id);
    await_for(id);
    emit(id);
  }

  // Registers that a product reads are not written while another one is in flight: the assembler would let none overlap. So of products
  // that read registers none starts before the last one's are there.
  void meet(OpId id) {
    if (!waits_for_registers(id)) start_needed_by(id);
    if (!reach_.to_others) {
      start(id);
      return await({products_.size() - 1});
    }
    if (!reads_registers(id)) return start(id);
    if (waits_for_registers(id)) {
      postponed_.push_back(id);
      done_.insert(id);
      return;
    }
    start_postponed();
    start(id);
  }

  bool is_new(OpId id) const { return launched_.group_atom(id) && std::ranges::find(postponed_, id) == postponed_.end(); }
  bool reads_registers(OpId id) const {
    if (!launched_.group_atom(id)) return false;
    const op::Gemm& gemm = kernel_.op(id).as<op::Gemm>();
    return kernel_.type(gemm.a).is_tile() || kernel_.type(gemm.b).is_tile();
  }

  // Would registers that another one reads be written under it?
  bool waits_for_registers(OpId id) const {
    if (!reads_registers(id)) return false;
    return std::ranges::any_of(given_, [&](OpId other) { return other != id && !done_.contains(other) && is_new(other) && lacks_registers(other); });
  }

  // Is what it reads of them yet to be written in this turn?
  bool lacks_registers(OpId id) const {
    if (!reads_registers(id)) return false;
    const op::Gemm& gemm = kernel_.op(id).as<op::Gemm>();
    return std::ranges::any_of(std::array{gemm.a, gemm.b}, [&](ValueId v) {
      OpId made = kernel_.value(v).op;
      return kernel_.type(v).is_tile() && made.valid() && place(made) < given_.size() && !done_.contains(made);
    });
  }

  void start_needed_by(OpId id) {
    if (std::ranges::any_of(postponed_, [&](OpId product) { return depends(kernel_, launched_, id, product); })) start_postponed();
  }

  void start_postponed() {
    for (OpId product : std::exchange(postponed_, {})) start(product);
  }

  void give_back(OpId id, ValueId ring) {
    if (!reads_open(ring)) return emit(id);
    held_.push_back(id);
    done_.insert(id);
  }

  void emit(OpId id) {
    out().push_back(id);
    done_.insert(id);
  }

  void await_for(OpId id) {
    std::set<size_t> needed = needed_by(id);
    if (needed.empty()) return;
    start_more();
    if (is_first_group_ && reach_.of_reads) read_ahead();
    // What was started took some of what was to follow.
    await(needed_by(id));
  }

  // The products that must have ended before the operation.
  std::set<size_t> needed_by(OpId id) const {
    std::set<size_t> needed;
    bool takes_all = false;
    auto note = [&](size_t product, bool is_result) {
      if (is_result ? !products_[product].is_awaited : is_open(product)) needed.insert(product);
    };
    each_inside(kernel_, id, [&](OpId inner) {
      takes_all |= ends_flights(kernel_, launched_, inner) && !(inner == id && launched_.group_atom(id));
      each_operand(kernel_.op(inner).data, [&](ValueId v) {
        if (auto found = by_result_.find(v); found != by_result_.end()) note(found->second, true);
      });
      for (const MemoryTouch& touch : touches_of(kernel_, inner))
        for (size_t p = ended_; touch.writes && p < products_.size(); ++p)
          if (reads(products_[p], touch.buffer) && !launched_.ring_of(touch.buffer).valid()) note(p, false);
    });
    for (size_t p = ended_; takes_all && p < products_.size(); ++p) needed.insert(p);
    return needed;
  }

  bool reads(const Started& product, ValueId buffer) const {
    return std::ranges::any_of(product.reads, [&](ValueId read) { return may_overlap(kernel_, read, buffer); });
  }

  // Or will be read by a product that is yet to start?
  bool reads_open(ValueId ring) const {
    for (OpId product : postponed_)
      for (const MemoryTouch& touch : touches_of(kernel_, product))
        if (launched_.ring_of(touch.buffer) == ring) return true;
    for (size_t p = ended_; p < products_.size(); ++p)
      for (ValueId read : products_[p].reads)
        if (launched_.ring_of(read) == ring) return true;
    return false;
  }

  // ---- starts

  void start(OpId id) {
    op::Gemm gemm = kernel_.op(id).as<op::Gemm>();
    Started product{.id = id, .result = kernel_.op(id).result(), .flight = {}, .reads = {}};
    bool goes_on = goes_on_from(gemm);
    if (!goes_on) await_for(id);
    for (ValueId operand : {gemm.a, gemm.b})
      if (kernel_.type(operand).is_buffer()) product.reads.push_back(root_buffer(kernel_, operand));
    if (goes_on) {
      Started& before = products_[by_result_.at(gemm.acc)];
      before.is_awaited = true;
      gemm.acc = before.flight;
    }
    builder_.set_span(kernel_.op(id).span);
    product.flight = builder_.value(started(gemm), in_flight(kernel_.type(product.result)));
    done_.insert(id);
    by_result_[product.result] = products_.size();
    products_.push_back(std::move(product));
  }

  // It adds to what an open product gives to nobody else.
  bool goes_on_from(const op::Gemm& gemm) const {
    auto before = by_result_.find(gemm.acc);
    if (before == by_result_.end() || products_[before->second].is_awaited || uses_[gemm.acc.index] != 1) return false;
    return std::ranges::none_of(std::array{gemm.a, gemm.b}, [&](ValueId v) { return by_result_.contains(v); });
  }

  void start_more() {
    for (OpId id : given_) {
      if (done_.contains(id) || !launched_.group_atom(id) || waits_for_registers(id)) continue;
      std::set<OpId> needs;
      if (!gather(id, needs)) continue;
      needs.erase(id);
      for (OpId need : given_)
        if (needs.contains(need)) emit(need);
      start(id);
    }
  }

  // Vectors from device memory are on their way while the turn waits for the first time.
  void read_ahead() {
    for (OpId id : given_) {
      if (done_.contains(id) || !is_vector_of_device(id)) continue;
      std::set<OpId> needs;
      if (!gather(id, needs)) continue;
      for (OpId need : given_)
        if (needs.contains(need)) emit(need);
    }
  }

  bool is_vector_of_device(OpId id) const {
    const op::Load* load = kernel_.op(id).get<op::Load>();
    if (!load || kernel_.type(kernel_.op(id).result()).shape.size() != 1) return false;
    Space space = kernel_.type(load->buffer).space;
    return space == Space::Global || space == Space::Workspace;
  }

  // Adds what stands further down and must stand in front of the operation, and the operation. False: not all of it can.
  bool gather(OpId id, std::set<OpId>& needs) const {
    if (std::ranges::find(postponed_, id) != postponed_.end()) return false;
    if (done_.contains(id)) return true;
    if (place(id) == given_.size() || !needs.insert(id).second) return place(id) < given_.size();
    bool is_product = launched_.group_atom(id);
    if (is_product && needs.size() > 1) return false;
    std::vector<OpId> behind;
    bool ok = true;
    each_inside(kernel_, id, [&](OpId inner) {
      each_operand(kernel_.op(inner).data, [&](ValueId v) {
        auto awaited = by_result_.find(v);
        ok &= awaited == by_result_.end() || products_[awaited->second].is_awaited;
        if (OpId made = kernel_.value(v).op; made.valid() && place(made) < given_.size()) behind.push_back(made);
      });
      for (const MemoryTouch& touch : touches_of(kernel_, inner))
        if (OpId wait = wait_for(kernel_, launched_, given_, touch.buffer, id); wait.valid()) behind.push_back(wait);
    });
    for (OpId one : behind) ok = ok && gather(one, needs);
    return ok && may_stand_earlier(id, needs);
  }

  // In front of all that is not done and is not needed by it.
  bool may_stand_earlier(OpId id, const std::set<OpId>& needs) const {
    const Op& op = kernel_.op(id);
    if (is_pure(op)) return !is_guarded(op);
    bool is_wait = op.is<op::Wait>(), is_product = launched_.group_atom(id);
    if (!is_wait && !is_product && has_effect(kernel_, op)) return false;
    std::vector<MemoryTouch> touches = touches_of(kernel_, id);
    if (!is_wait && touches.empty()) return true;
    for (OpId skipped : given_) {
      if (skipped == id) break;
      if (done_.contains(skipped) || needs.contains(skipped)) continue;
      if (is_wait && has_effect(kernel_, kernel_.op(skipped))) return false;
      if (!is_wait && writes_one_of(kernel_, launched_, skipped, touches)) return false;
    }
    return true;
  }

  // ---- ends

  void await(const std::set<size_t>& needed) {
    if (needed.empty()) return;
    const size_t ended = ended_;
    for (size_t p : needed) {
      Started& product = products_[p];
      ended_ = std::max(ended_, p + 1);
      if (product.is_awaited) continue;
      const std::string atom = kernel_.op(product.id).as<op::Gemm>().atom;
      // Products end in the order of their starts. Of one that has ended the assembler learns that by no more open than there are.
      kernel_.op(product.id).data = op::AwaitGemm{product.flight, int64_t(products_.size() - std::max(p + 1, ended)), atom};
      product.is_awaited = true;
      out().push_back(product.id);
      if (!first_awaited_.valid() || is_first_group_) first_awaited_ = product.id;
      release_read();
    }
    is_first_group_ = false;
    release_read();
  }

  // Slots that no open product reads any more go back.
  void release_read() {
    std::vector<OpId> still_held;
    for (OpId id : held_) {
      if (reads_open(kernel_.op(id).as<op::Release>().ring)) still_held.push_back(id);
      else out().push_back(id);
    }
    held_ = std::move(still_held);
  }

  // The end of the region. What may go on into the next turn does.
  void finish(OpId yield) {
    find_carried(yield);
    std::set<size_t> rest;
    for (size_t p = 0; p < products_.size(); ++p)
      if (!products_[p].is_awaited && !carried_.contains(p)) rest.insert(p);
    for (OpId id : held_)
      if (!late_ || std::ranges::find(late_->rings(), kernel_.op(id).as<op::Release>().ring, &Handed::ring) == late_->rings().end())
        add_readers(kernel_.op(id).as<op::Release>().ring, rest);
    await(rest);
    for (OpId id : held_) out().push_back(id);
    emit(yield);
  }

  void add_readers(ValueId ring, std::set<size_t>& readers) const {
    for (size_t p = ended_; p < products_.size(); ++p)
      for (ValueId read : products_[p].reads)
        if (launched_.ring_of(read) == ring) readers.insert(p);
  }

  // ---- from turn to turn

  // By the number of a product: the place of what it adds to among what the loop carries. All that are still open, or none.
  void find_carried(OpId yield) {
    if (!reach_.to_next_turn || !at_.loop.valid() || !first_awaited_.valid() || ended_ == products_.size()) return;
    const std::vector<ValueId>&values = kernel_.op(yield).as<op::Yield>().values, &args = kernel_.region(at_.region).args;
    LateRelease late(kernel_, at_.outer, at_.loop);
    std::map<size_t, size_t> carried;
    for (size_t p = ended_; p < products_.size(); ++p) {
      const op::Gemm& gemm = kernel_.op(products_[p].id).as<op::Gemm>();
      size_t slot = size_t(std::ranges::find(values, products_[p].result) - values.begin());
      bool is_sum = slot < values.size() && uses_[products_[p].result.index] == 1 && gemm.acc == args[slot + 1] && uses_[gemm.acc.index] == 1;
      if (!is_sum || products_[p].is_awaited || !may_stay(products_[p], late)) return;
      carried[p] = slot;
    }
    if (!late.find_fills()) return;
    for (const Handed& handed : late.rings())
      if (Pipeline* pipeline = pipeline_of(kernel_, handed.ring)) pipeline->carry(1);
    carried_ = std::move(carried);
    late_.emplace(late);
  }

  // What it reads stays until the next turn has begun.
  bool may_stay(const Started& product, LateRelease& late) const {
    return std::ranges::all_of(product.reads, [&](ValueId read) {
      ValueId ring = launched_.ring_of(read);
      bool is_turned = ring.valid() && std::ranges::any_of(given_, [&](OpId id) {
        const op::Wait* wait = kernel_.op(id).get<op::Wait>();
        return wait && wait->ring == ring;
      });
      if (!is_turned) return !launched_.is_written_in(at_.region, read);
      const Pipeline* pipeline = pipeline_of(kernel_, ring);
      // Who fills the next slot in the same loop would begin with it later by as much.
      int64_t least = fills_of(kernel_, at_.region, ring).empty() ? 2 : 3;
      return kernel_.type(ring).shape[0] >= least && (!pipeline || pipeline->in_flight != 0) && late.add(ring);
    });
  }

  void carry() {
    OpId behind = at_.loop;
    for (const auto& [p, slot] : carried_) {
      const Started& product = products_[p];
      const std::string atom = kernel_.op(product.id).as<op::Gemm>().atom;
      ValueId arg = kernel_.region(at_.region).args[slot + 1], result = kernel_.op(at_.loop).results[slot], tile;
      const Type flight = kernel_.type(product.flight), type = kernel_.type(result);
      ValueId begun, init = kernel_.op(at_.loop).as<op::For>().inits[slot];
      insert_before(kernel_, at_.outer, at_.loop, [&](Builder& b) { begun = b.value(op::BeginFlight{init, atom}, flight); });
      kernel_.op(at_.loop).as<op::For>().inits[slot] = begun;
      kernel_.op(kernel_.region(at_.region).ops.back()).as<op::Yield>().values[slot] = product.flight;
      for (ValueId v : {arg, result}) retype(kernel_, v, flight);
      insert_after(kernel_, at_.outer, behind, [&](Builder& b) { tile = b.value(op::AwaitGemm{result, 0, atom}, type); });
      behind = kernel_.value(tile).op;
      replace_uses(kernel_, kernel_.body, result, tile);
      kernel_.op(behind).as<op::AwaitGemm>().flight = result;
    }
    late_->give_back(1, first_awaited_, behind);
  }

  Kernel& kernel_;
  const Launched& launched_;
  const TurnAt at_;
  const Reach reach_;
  const std::vector<OpId> given_;
  Builder builder_;
  const std::vector<int> uses_;
  std::set<OpId> done_;
  std::vector<Started> products_;  // in the order of their starts
  std::map<ValueId, size_t> by_result_;
  size_t ended_ = 0;               // so many of them have ended
  std::vector<OpId> postponed_;    // products that wait for others to start with
  std::vector<OpId> held_;         // releases of what products in flight read
  OpId first_awaited_;             // the last one that the turn waits for when it first waits
  bool is_first_group_ = true;
  std::map<size_t, size_t> carried_;
  std::optional<LateRelease> late_;
};

}  // namespace

void overlap_turn(Kernel& kernel, const Launched& launched, const TurnAt& at, Reach reach) { Turn(kernel, launched, at, reach).run(); }

}  // namespace tilec::passes
