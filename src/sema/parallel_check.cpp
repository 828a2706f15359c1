// Independence of the iterations of a `parallel` loop, as far as it is seen without a prover: what one iteration writes
// no
// other may read, and an element is written by one iteration only.
#include "ir/sources.h"
#include "sema/parallel.h"

namespace tilec::sema {
namespace {

// Do both values always agree? Looks through pure scalar operations.
struct Sameness {
  const ir::Kernel& kernel;
  std::set<std::pair<ir::ValueId, ir::ValueId>> met = {};  // one pair that differs ends it all

  bool of(const std::vector<ir::ValueId>& a, const std::vector<ir::ValueId>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](auto x, auto y) { return of(x, y); });
  }

  bool of(ir::ValueId a, ir::ValueId b) {
    if (a == b || !met.insert({a, b}).second) return true;
    const ir::Op *x = kernel.definition(a), *y = kernel.definition(b);
    if (!x || !y || x->kind() != y->kind() || kernel.type(a) != kernel.type(b)) return false;
    if (auto* c = x->get<op::Constant>()) return c->number == y->as<op::Constant>().number;
    if (auto* u = x->get<op::Unary>()) return u->fn == y->as<op::Unary>().fn && of(u->x, y->as<op::Unary>().x);
    if (auto* c = x->get<op::Convert>()) return c->mode == y->as<op::Convert>().mode && of(c->x, y->as<op::Convert>().x);
    if (auto* p = x->get<op::Binary>()) {
      const auto& q = y->as<op::Binary>();
      return p->fn == q.fn && of(p->a, q.a) && of(p->b, q.b);
    }
    if (auto* l = x->get<op::ElementLoad>())
      return l->buffer == y->as<op::ElementLoad>().buffer && of(l->indices, y->as<op::ElementLoad>().indices);
    return false;
  }
};

// Can the value change with `index`? What comes out of branches and loops may.
bool may_change(const ir::Kernel& kernel, ir::ValueId value, ir::ValueId index) {
  bool found = false;
  ir::each_source(kernel, value, [&](ir::ValueId v) {
    const ir::Op* o = kernel.definition(v);
    found |= v == index || (o && (o->is<op::If>() || o->is<op::For>() || o->is<op::While>()));
  });
  return found;
}

struct Touch {
  ir::ValueId buffer;
  std::vector<ir::ValueId> indices;
  Span span;
  bool is_conditional;
};

struct Touches {
  std::vector<Touch> reads, writes;
};

Touches touches_of(const ir::Kernel& kernel, ir::RegionId region) {
  Touches result;
  std::set<ir::OpId> direct(kernel.region(region).ops.begin(), kernel.region(region).ops.end());
  ir::each_op(kernel, region, [&](ir::OpId id) {
    const ir::Op& o = kernel.op(id);
    bool is_conditional = !direct.contains(id);
    if (auto* l = o.get<op::ElementLoad>()) result.reads.push_back({l->buffer, l->indices, o.span, is_conditional});
    if (auto* s = o.get<op::ElementStore>()) result.writes.push_back({s->buffer, s->indices, o.span, is_conditional});
  });
  return result;
}

std::string_view buffer_name(const ir::Kernel& kernel, ir::ValueId buffer) {
  return kernel.value(buffer).hint.empty() ? std::string_view("it") : std::string_view(kernel.value(buffer).hint);
}

}  // namespace

void check_independence(Instance& in, ir::RegionId region, const Shape& extents) {
  const ir::Kernel& kernel = in.kernel;
  Touches touches = touches_of(kernel, region);
  const auto args = kernel.region(region).args;
  for (const Touch& write : touches.writes) {
    for (size_t i = 0; i < extents.size() && !write.is_conditional; ++i) {
      bool moves = extents[i] == 1 || std::any_of(write.indices.begin(), write.indices.end(),
                                                  [&](ir::ValueId v) { return may_change(kernel, v, args[i]); });
      if (moves) continue;
      in.at(write.span).error(diag::IterationsCollide, kernel.value(args[i]).hint, buffer_name(kernel, write.buffer))
          .help("use an atomic, or a reduction over that axis");
      break;
    }
    for (const Touch& read : touches.reads) {
      if (read.buffer != write.buffer || Sameness{kernel}.of(read.indices, write.indices)) continue;
      in.at(read.span).error(diag::IterationDependence,
          buffer_name(kernel, read.buffer), "they are at different indices").mark(write.span, "written here");
    }
  }
}

void check_atomics(Instance& in, ir::RegionId region) {
  std::map<ir::ValueId, Span> found;
  std::set<ir::ValueId> used;
  ir::each_op(in.kernel, region, [&](ir::OpId id) {
    const ir::Op& o = in.kernel.op(id);
    if (o.is<op::Atomic>()) found[o.result()] = o.span;
    ir::each_operand(o.data, [&](ir::ValueId operand) { used.insert(operand); });
  });
  for (auto [result, span] : found)
    if (used.contains(result)) not_allowed(in, span, "the result of an atomic", "inside `parallel`, whose iterations have no order");
}

}  // namespace tilec::sema
