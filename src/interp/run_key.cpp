#include "interp/interp.h"
#include "ir/print.h"

namespace tilec::interp {

std::string run_key(const ir::Kernel& kernel, const Machine* machine) {
  std::string key = std::string(ir::name(kernel.form)) + "\n" + ir::print(kernel);
  if (!machine) return key;
  std::string seen = "\nlanes " + std::to_string(machine->lanes) + " warps " + std::to_string(machine->default_warps);
  if (machine->has(Cap::DivergentBranches)) seen += " divergent";
  // Rows of one name are one row; which of them are there matters where the kernel names them.
  for (const MatrixAtom& row : machine->matrix_atoms)
    if (key.find(row.name) != std::string::npos) seen += " " + std::string(row.name);
  return key + seen;
}

}  // namespace tilec::interp
