#include "passes/clone.h"

#include "ir/builder.h"

namespace tilec::passes {

using namespace ir;

namespace {

struct Cloner {
  Kernel& kernel;
  Builder builder;
  Substitution copy_of;

  ValueId copy(ValueId v) const {
    auto found = copy_of.find(v.index);
    return found == copy_of.end() ? v : found->second;
  }

  RegionId region(RegionId from) {
    RegionId to = kernel.new_region(), outer = builder.region();
    for (ValueId arg : std::vector<ValueId>(kernel.region(from).args))
      copy_of.try_emplace(arg.index, kernel.new_arg(to, Type(kernel.type(arg)), std::string(kernel.value(arg).hint)));
    builder.set_region(to);
    for (OpId id : std::vector<OpId>(kernel.region(from).ops)) operation(id);
    builder.set_region(outer);
    return to;
  }

  void operation(OpId id) {
    Op original = kernel.op(id);
    OpData data = std::move(original.data);
    each_operand(data, [&](ValueId& v) { v = copy(v); });
    each_region(data, [&](RegionId& r) { r = region(r); });
    std::vector<Type> types;
    for (ValueId v : original.results) types.push_back(kernel.type(v));
    builder.set_span(original.span);
    const std::vector<ValueId> results = kernel.op(builder.add(std::move(data), types)).results;
    for (size_t i = 0; i < results.size(); ++i) {
      kernel.value(results[i]).hint = std::string(kernel.value(original.results[i]).hint);
      copy_of.try_emplace(original.results[i].index, results[i]);
    }
  }
};

}  // namespace

RegionId clone_region(Kernel& kernel, RegionId from, Substitution given) {
  return Cloner{kernel, Builder(kernel, from), std::move(given)}.region(from);
}

}  // namespace tilec::passes
