// Independence of the iterations of a `parallel` loop, as far as it is seen without a prover: an element is written by one iteration only.
#include "ir/sources.h"
#include "sema/parallel.h"

namespace tilec::sema {
namespace {

// Can the value change with `index`? What comes out of branches and loops may.
bool may_change(const ir::Kernel& kernel, ir::ValueId value, ir::ValueId index) {
  bool found = false;
  ir::each_source(kernel, value, [&](ir::ValueId v) {
    const ir::Op* o = kernel.definition(v);
    found |= v == index || (o && (o->is<op::If>() || o->is<op::For>() || o->is<op::While>()));
  });
  return found;
}

struct Write {
  ir::ValueId buffer;
  std::vector<ir::ValueId> indices;
  Span span;
  bool is_conditional;
};

std::vector<Write> writes_of(const ir::Kernel& kernel, ir::RegionId region) {
  std::vector<Write> result;
  std::set<ir::OpId> direct(kernel.region(region).ops.begin(), kernel.region(region).ops.end());
  ir::each_op(kernel, region, [&](ir::OpId id) {
    const ir::Op& o = kernel.op(id);
    if (auto* s = o.get<op::ElementStore>()) result.push_back({s->buffer, s->indices, o.span, !direct.contains(id)});
  });
  return result;
}

std::string_view buffer_name(const ir::Kernel& kernel, ir::ValueId buffer) {
  return kernel.value(buffer).hint.empty() ? std::string_view("it") : std::string_view(kernel.value(buffer).hint);
}

}  // namespace

void check_independence(Instance& in, ir::RegionId region, const Shape& extents) {
  const ir::Kernel& kernel = in.kernel;
  const auto args = kernel.region(region).args;
  for (const Write& write : writes_of(kernel, region)) {
    for (size_t i = 0; i < extents.size() && !write.is_conditional; ++i) {
      bool moves = extents[i] == 1 || std::any_of(write.indices.begin(), write.indices.end(),
                                                  [&](ir::ValueId v) { return may_change(kernel, v, args[i]); });
      if (moves) continue;
      in.at(write.span).error(diag::IterationsCollide, kernel.value(args[i]).hint, buffer_name(kernel, write.buffer))
          .help("use an atomic, or a reduction over that axis");
      break;
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
    if (used.contains(result)) not_allowed(in, span, "the result of an atomic", "inside `parallel`, whose iterations have no order", "threads of a `simt` block may use it");
}

}  // namespace tilec::sema
