#include "interp/layouts.h"

#include <algorithm>

#include "layout/notation.h"

namespace tilec::interp {

using namespace ir;

namespace {

// Where each element lives: every (register, lane, warp) that holds it.
struct Holder {
  int64_t reg;
  int lane, warp;
};
std::vector<std::vector<Holder>> holders(const layout::RegLayout& l) {
  std::vector<std::vector<Holder>> all(static_cast<size_t>(l.shape.elements()));
  for (int warp = 0; warp < l.warps(); ++warp)
    for (int lane = 0; lane < l.lanes(); ++lane)
      for (int64_t reg = 0; reg < l.registers(); ++reg) {
        layout::Coordinate c = l.coordinate(reg, lane, warp);
        if (!l.is_inside(c)) continue;
        int64_t k = 0;
        for (int a = 0; a < l.shape.rank; ++a) k = k * l.shape.extents[a] + c[a];
        all[size_t(k)].push_back({reg, lane, warp});
      }
  return all;
}

// The nearest of `sources` to a place that needs the element.
int distance(const std::vector<Holder>& sources, const Holder& place) {
  int least = 3;
  for (const Holder& s : sources) {
    if (s.warp != place.warp) continue;
    least = std::min(least, s.lane != place.lane ? 2 : s.reg != place.reg ? 1 : 0);
  }
  return least;
}

}  // namespace

int conversion_tier(const Kernel& kernel, const Type& from, const Type& to) {
  if (!from.layout.valid() || !to.layout.valid() || from.layout == to.layout) return 0;
  auto sources = holders(kernel.layouts.reg(from.layout)), places = holders(kernel.layouts.reg(to.layout));
  int tier = 0;
  for (size_t k = 0; k < places.size() && k < sources.size(); ++k)
    for (const Holder& place : places[k]) tier = std::max(tier, distance(sources[k], place));
  return tier;
}

namespace {

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t k = 0; k < shape.size(); ++k) text += (k ? ", " : "") + std::to_string(shape[k]);
  return text + "]";
}

std::string flaw_of(const Kernel& kernel, const Type& type) {
  if (!type.layout.valid() || !type.is_tile()) return {};
  if (!kernel.layouts.is_reg(type.layout)) return "a tile has a layout of memory";
  const layout::RegLayout& l = kernel.layouts.reg(type.layout);
  bool is_same = l.shape.rank == type.rank();
  for (int a = 0; is_same && a < type.rank(); ++a) is_same = l.shape[a] == type.shape[size_t(a)];
  if (!is_same)
    return "the layout " + layout::print(l) + " is of another shape than its tile " + shape_text(type.shape);
  for (const std::vector<Holder>& h : holders(l))
    if (h.empty()) return "the layout " + layout::print(l) + " does not cover its tile " + shape_text(type.shape);
  return {};
}

}  // namespace

void find_flaw(Program& program) {
  const Kernel& kernel = *program.kernel;
  std::vector<bool> seen(kernel.types.size(), false);
  each_op(kernel, kernel.body, [&](OpId id) {
    for (ValueId v : kernel.op(id).results) {
      uint32_t type = kernel.value(v).type.index;
      if (seen[type] || !program.flaw.empty()) continue;
      seen[type] = true;
      program.flaw = flaw_of(kernel, kernel.type(v));
      if (!program.flaw.empty()) program.flaw_op = id.index;
    }
  });
}

namespace {

std::vector<int32_t> places(std::string_view text, std::string_view letters, int rows, int columns, int lanes,
                            int& registers) {
  auto parsed = layout::parse_reg_layout(text, layout::Shape{rows, columns}, letters);
  registers = 0;
  if (!parsed) return {};
  registers = int(parsed->registers());
  std::vector<int32_t> all;
  for (int r = 0; r < registers; ++r)
    for (int lane = 0; lane < lanes; ++lane) {
      layout::Coordinate c = parsed->coordinate(r, lane % parsed->lanes(), 0);
      all.push_back(c[0] * columns + c[1]);
    }
  return all;
}

}  // namespace

namespace {

// Of one warp: row and column at register * lanes + lane.
std::vector<std::pair<int, int>> coordinates(std::string_view text, std::string_view letters, int rows, int columns, int lanes, int warp) {
  std::vector<std::pair<int, int>> all;
  auto parsed = layout::parse_reg_layout(text, layout::Shape{rows, columns}, letters);
  for (int64_t r = 0; parsed && r < parsed->registers(); ++r)
    for (int lane = 0; lane < lanes; ++lane) {
      layout::Coordinate c = parsed->coordinate(r, lane % parsed->lanes(), warp);
      all.emplace_back(c[0], c[1]);
    }
  return all;
}

}  // namespace

GroupTable group_table(const MatrixAtom& row, int lanes) {
  GroupTable table{.row = &row};
  for (int k = 0; k < row.k; ++k) table.depth.push_back(k);
  for (int warp = 0; warp < row.warps; ++warp) {
    GroupMember& member = table.members.emplace_back();
    auto c = coordinates(row.c_layout, "mn", row.m, row.n, lanes, warp);
    for (auto [r, n] : c) member.rows.push_back(r);
    std::ranges::sort(member.rows);
    member.rows.erase(std::ranges::unique(member.rows).begin(), member.rows.end());
    auto places = [&](const std::vector<std::pair<int, int>>& at, int columns) {
      std::vector<int32_t> out;
      for (auto [r, column] : at) out.push_back(int32_t(std::ranges::lower_bound(member.rows, r) - member.rows.begin()) * columns + column);
      return out;
    };
    member.c = places(c, row.n);
    member.a = places(coordinates(row.a_layout, "mk", row.m, row.k, lanes, warp), row.k);
    table.c_registers = int(c.size()) / lanes;
  }
  return table;
}

AtomTable atom_table(const MatrixAtom& row, int lanes) {
  AtomTable t{.row = &row};
  t.a = places(row.a_layout, "mk", row.m, row.k, lanes, t.a_registers);
  t.b = places(row.b_layout, "kn", row.k, row.n, lanes, t.b_registers);
  t.c = places(row.c_layout, "mn", row.m, row.n, lanes, t.c_registers);
  return t;
}

}  // namespace tilec::interp
