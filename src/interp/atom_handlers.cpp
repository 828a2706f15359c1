// Matrix atoms: gather the operands from the lanes as the row's layouts say, the textbook product, scatter.
#include "interp/handlers.h"
#include "interp/tile_math.h"

namespace tilec::interp {

using namespace ir;

namespace {

// Numbers of an operand by row and column. Places that hold the same element must agree.
bool gather(Strand& s, const Instr& i, const Location& from, const std::vector<int32_t>& places, int registers,
            std::string_view name, std::vector<Slot>& out) {
  std::vector<uint8_t> is_set(out.size(), 0);
  for (int r = 0; r < registers; ++r)
    for (uint32_t lane = 0; lane < s.width; ++lane) {
      int32_t place = places[size_t(r) * s.width + lane];
      Slot v = s.regs[from.slot + uint32_t(r) * s.width + lane];
      if (is_set[size_t(place)] && out[size_t(place)].u != v.u) {
        fail(s, FaultKind::Atom, i, "lanes hold different copies of one element of operand " + std::string(name));
        return false;
      }
      is_set[size_t(place)] = 1;
      out[size_t(place)] = v;
    }
  return true;
}

std::string wanted(const MatrixAtom& row, const AtomTable& table) {
  return "`" + std::string(row.name) + "` takes vectors of " + std::to_string(table.a_registers) + " " +
         std::string(name(row.a)) + ", " + std::to_string(table.b_registers) + " " + std::string(name(row.b)) +
         " and " + std::to_string(table.c_registers) + " " + std::string(name(row.c)) + " a lane";
}

bool fits(const TileData& data, const AtomTable& table) {
  const MatrixAtom& row = *table.row;
  return data.operands.size() == 3 && data.results.size() == 1 && int(data.operands[0].count) == table.a_registers &&
         int(data.operands[1].count) == table.b_registers && int(data.operands[2].count) == table.c_registers &&
         int(data.results[0].count) == table.c_registers && data.types[0] == row.a && data.types[1] == row.b &&
         data.types[2] == row.c;
}

}  // namespace

Status do_atom(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  if (data.atom == ~0u)
    return fail(s, FaultKind::Atom, i, "the machine has no atom `" + data.names[0] + "` of one warp");
  const AtomTable& table = s.run->program.atoms[data.atom];
  const MatrixAtom& row = *table.row;
  if (!fits(data, table)) return fail(s, FaultKind::Atom, i, wanted(row, table));
  if (s.mask != s.full) return fail(s, FaultKind::Atom, i, "`" + data.names[0] + "` is executed by some lanes only");
  std::vector<Slot> a(size_t(row.m * row.k)), b(size_t(row.k * row.n)), c(size_t(row.m * row.n));
  if (!gather(s, i, data.operands[0], table.a, table.a_registers, "a", a) ||
      !gather(s, i, data.operands[1], table.b, table.b_registers, "b", b) ||
      !gather(s, i, data.operands[2], table.c, table.c_registers, "c", c))
    return Status::Stop;
  multiply(a.data(), b.data(), c.data(), {row.m, row.n, row.k}, row.c, i.fast);
  for (int r = 0; r < table.c_registers; ++r)
    for (uint32_t lane = 0; lane < s.width; ++lane)
      s.regs[data.results[0].slot + uint32_t(r) * s.width + lane] = c[size_t(table.c[size_t(r) * s.width + lane])];
  ++s.run->counters().atoms;
  return Status::Next;
}

}  // namespace tilec::interp
