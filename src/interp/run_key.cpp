#include "interp/interp.h"
#include "ir/print.h"

namespace tilec::interp {

namespace {

// What stands between quotes, as names of rows do where operations have them, and what stands between those.
std::set<std::string_view> quoted_parts(std::string_view text) {
  std::set<std::string_view> parts;
  for (size_t end; (end = text.find('"')) != std::string_view::npos; text.remove_prefix(end + 1)) parts.insert(text.substr(0, end));
  return parts;
}

}  // namespace

std::string run_key(const ir::Kernel& kernel, const Machine* machine) {
  std::string key = std::string(ir::name(kernel.form)) + "\n" + ir::print(kernel);
  if (!machine) return key;
  std::string seen = "\nlanes " + std::to_string(machine->lanes) + " warps " + std::to_string(machine->default_warps);
  if (machine->has(Cap::DivergentBranches)) seen += " divergent";
  // Rows of one name are one row; which of them are there matters where the kernel names them.
  const std::set<std::string_view> parts = quoted_parts(key);
  for (const MatrixAtom& row : machine->matrix_atoms)
    if (parts.contains(row.name)) seen += " " + std::string(row.name);
  return key + seen;
}

}  // namespace tilec::interp
