#include "sema/carried.h"

namespace tilec::sema {

std::vector<Carried> carry(Instance& in, ir::RegionId region) {
  std::vector<Carried> all;
  for (uint32_t i = 0; i < in.variables.size(); ++i) {
    Variable& v = in.variables[i];
    if (!v.current.valid() || v.depth != in.depth) continue;
    ir::ValueId arg = in.kernel.new_arg(region, v.type, v.name);
    all.push_back({{i}, v.current, arg, arg});
    in.carried[arg] = v.current;
    v.current = arg;
  }
  return all;
}

void carry_again(Instance& in, std::vector<Carried>& all, ir::RegionId region) {
  for (Carried& c : all) {
    Variable& v = in.variable(c.variable);
    c.arg = c.last = in.kernel.new_arg(region, v.type, v.name);
    in.carried[c.arg] = c.init;
    v.current = c.arg;
  }
}

void read_last(Instance& in, std::vector<Carried>& all) {
  for (Carried& c : all) c.last = in.variable(c.variable).current;
}

ir::ValueId settled(const std::vector<Carried>& all, ir::ValueId value) {
  for (const Carried& c : all)
    if (!c.changes() && c.arg == value) return c.init;
  return value;
}

void drop_unchanged(Instance& in, const std::vector<Carried>& all, ir::RegionId region,
                    std::span<const ir::ValueId> args) {
  auto& list = in.kernel.region(region).args;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].changes()) continue;
    ir::replace_uses(in.kernel, region, args[i], all[i].init);
    std::erase(list, args[i]);
  }
}

std::vector<ir::ValueId> args_of(const std::vector<Carried>& all) {
  std::vector<ir::ValueId> args;
  for (const Carried& c : all) args.push_back(c.arg);
  return args;
}

}  // namespace tilec::sema
