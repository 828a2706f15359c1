// Walks a launch in its order and keeps, for each shared buffer, the boxes of constant offset and extent that are
// surely
// written. A read needs the union of the boxes to cover the whole buffer. Writes in `simt`, under a condition, or in a
// loop
// that may not run do not count.
#include "sema/initialised.h"

#include "diag/diag.h"
#include "ir/scalar_eval.h"

namespace tilec::sema {
namespace {

namespace op = ir::op;
using ir::ValueId;

struct Box {
  std::vector<int64_t> low, high;
};
using Coverage = std::map<ValueId, std::vector<Box>>;
// A loop index while a short loop is taken turn by turn.
using Turns = std::map<ValueId, int64_t>;

constexpr int64_t kMostTurns = 64;

// Is every point of `box` in one of `boxes`? Splits around the first box that meets it.
bool is_covered(const Box& box, std::span<const Box> boxes) {
  for (size_t i = 0; i < box.low.size(); ++i)
    if (box.low[i] >= box.high[i]) return true;
  if (boxes.empty()) return false;
  const Box& other = boxes[0];
  auto rest = boxes.subspan(1);
  for (size_t i = 0; i < box.low.size(); ++i)
    if (other.high[i] <= box.low[i] || other.low[i] >= box.high[i]) return is_covered(box, rest);
  Box inner = box;
  for (size_t i = 0; i < box.low.size(); ++i) {
    Box below = inner, above = inner;
    below.high[i] = std::min(inner.high[i], other.low[i]);
    above.low[i] = std::max(inner.low[i], other.high[i]);
    if (!is_covered(below, rest) || !is_covered(above, rest)) return false;
    inner.low[i] = std::max(inner.low[i], other.low[i]);
    inner.high[i] = std::min(inner.high[i], other.high[i]);
  }
  return true;
}

struct Check {
  const ir::Kernel& kernel;
  Diagnostics& diagnostics;
  Coverage written = {};
  Turns turns = {};
  std::set<ValueId> reported = {};

  std::optional<int64_t> known(ValueId v) const {
    if (auto it = turns.find(v); it != turns.end()) return it->second;
    if (auto c = kernel.constant(v)) return c->i;
    auto* b = kernel.defined_by<op::Binary>(v);
    if (!b) return std::nullopt;
    auto x = known(b->a), y = known(b->b);
    if (!x || !y) return std::nullopt;
    auto result = ir::evaluate(b->fn, kernel.type(v).element, ir::Number::integer(*x), ir::Number::integer(*y));
    return result ? std::optional(result->i) : std::nullopt;
  }

  // The shared buffer behind a subview.
  ValueId root(ValueId buffer) const {
    while (auto* s = kernel.defined_by<op::Subview>(buffer)) buffer = s->buffer;
    return buffer;
  }
  bool is_shared(ValueId v) const {
    return v.valid() && kernel.type(v).is_buffer() && kernel.type(v).space == ir::Space::Shared;
  }

  void read(ValueId buffer, Span span) {
    if (!is_shared(buffer)) return;
    buffer = root(buffer);
    const ir::Type& type = kernel.type(buffer);
    Box all{std::vector<int64_t>(type.shape.size()), type.shape};
    if (is_covered(all, written[buffer]) || !reported.insert(buffer).second) return;
    Span declared = kernel.definition(buffer)->span;
    auto report = diagnostics.at(span).error(diag::Uninitialised, kernel.value(buffer).hint);
    report.note(declared, diag::DeclaredHere, kernel.value(buffer).hint);
    if (declared.end > declared.begin)
      report.fix(Span{declared.file, declared.end - 1, declared.end - 1}, " = 0", "give it a first value");
  }

  void write(ValueId buffer, std::span<const ValueId> offsets, const ir::Axes& axes,
             const std::vector<int64_t>& shape) {
    if (!is_shared(buffer) || kernel.defined_by<op::Subview>(buffer)) return;
    Box box;
    for (ValueId offset : offsets) {
      auto low = known(offset);
      if (!low) return;
      box.low.push_back(*low);
      box.high.push_back(*low + 1);
    }
    for (size_t i = 0; i < axes.size(); ++i) box.high[axes[i]] = box.low[axes[i]] + shape[i];
    written[buffer].push_back(std::move(box));
  }

  // Elements written by a map at its own indices, each plus what is known.
  void write_by_map(const op::Map& map, const op::ElementStore& store) {
    if (!is_shared(store.buffer)) return;
    Box box;
    std::set<int64_t> used;
    for (ValueId index : store.indices) {
      int64_t low = 0, extent = 1;
      ValueId base = index;
      if (auto* sum = kernel.defined_by<op::Binary>(index); sum && sum->fn == ir::BinaryFn::Add)
        if (auto c = known(sum->b)) low = *c, base = sum->a;
      const auto& args = kernel.region(map.body).args;
      auto at = std::find(args.begin(), args.begin() + map.shape.size(), base);
      if (at != args.begin() + map.shape.size()) extent = map.shape[at - args.begin()], used.insert(at - args.begin());
      else if (auto c = known(index)) low = *c;
      else return;
      box.low.push_back(low);
      box.high.push_back(low + extent);
    }
    written[store.buffer].push_back(std::move(box));
  }

  template <class T> void touch(const T&, const ir::Op&) {}
  void touch(const op::Load& o, const ir::Op& at) { read(o.buffer, at.span); }
  void touch(const op::ElementLoad& o, const ir::Op& at) { read(o.buffer, at.span); }
  void touch(const op::Atomic& o, const ir::Op& at) { read(o.buffer, at.span); }
  void touch(const op::Gemm& o, const ir::Op& at) { read(o.a, at.span), read(o.b, at.span); }
  void touch(const op::Store& o, const ir::Op&) { write(o.buffer, o.offsets, o.axes, kernel.type(o.tile).shape); }
  void touch(const op::ElementStore& o, const ir::Op&) { write(o.buffer, o.indices, {}, {}); }
  void touch(const op::Copy& o, const ir::Op& at) {
    read(o.src, at.span);
    write(o.dst, o.dst_offsets, o.dst_axes, o.shape);
  }
  void touch(const op::Alloc&, const ir::Op& at) { written.erase(at.result()); }  // new each time it is reached

  void touch(const op::If& o, const ir::Op&) {
    Coverage before = written;
    region(o.then_body);
    Coverage after_then = std::exchange(written, before);
    region(o.else_body);
    // Both branches count only for what each of them has covered alone; keeping what came before is enough here.
    Coverage both = before;
    for (auto& [buffer, boxes] : after_then) {
      const auto& shape = kernel.type(buffer).shape;
      Box all{std::vector<int64_t>(shape.size()), shape};
      if (is_covered(all, boxes) && is_covered(all, written[buffer])) both[buffer] = {all};
    }
    written = std::move(both);
  }
  void touch(const op::For& o, const ir::Op&) {
    auto low = known(o.low), high = known(o.high), step = known(o.step);
    ValueId index = kernel.region(o.body).args[0];
    bool is_short = low && high && step && *step > 0 &&
        *high > *low && (*high - *low + *step - 1) / *step <= kMostTurns;
    if (!is_short) {
      Coverage before = written;
      region(o.body);
      if (!(low && high && *low < *high)) written = std::move(before);
      return;
    }
    for (int64_t i = *low; i < *high; i += *step) {
      turns[index] = i;
      region(o.body);
    }
    turns.erase(index);
  }
  void touch(const op::While& o, const ir::Op&) {
    region(o.condition);
    Coverage before = written;
    region(o.body);
    written = std::move(before);
  }
  void touch(const op::Map& o, const ir::Op&) {
    Coverage before = written;
    region(o.body);
    written = std::move(before);
    for (ir::OpId id : kernel.region(o.body).ops)
      if (auto* store = kernel.op(id).get<op::ElementStore>()) write_by_map(o, *store);
  }
  void touch(const op::Simt& o, const ir::Op&) {
    Coverage before = written;
    region(o.body);
    written = std::move(before);
  }
  void touch(const op::Launch& o, const ir::Op&) { region(o.body); }

  void region(ir::RegionId id) {
    for (ir::OpId o : kernel.region(id).ops)
      ir::visit(kernel.op(o).data, [&](const auto& data) { touch(data, kernel.op(o)); });
  }
};

}  // namespace

bool check_initialised(const ir::Kernel& kernel, Diagnostics& diagnostics) {
  Check check{kernel, diagnostics};
  check.region(kernel.body);
  return check.reported.empty();
}

}  // namespace tilec::sema
