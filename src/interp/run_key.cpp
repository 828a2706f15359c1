#include "interp/interp.h"
#include "ir/print.h"

namespace tilec::interp {

namespace {

// Texts of kernels are long and machines have many rows.
bool names(const std::string& text, std::string_view word) {
  return std::search(text.begin(), text.end(), std::boyer_moore_horspool_searcher(word.begin(), word.end())) != text.end();
}

}  // namespace

std::string run_key(const ir::Kernel& kernel, const Machine* machine) {
  std::string key = std::string(ir::name(kernel.form)) + "\n" + ir::print(kernel);
  if (!machine) return key;
  std::string seen = "\nlanes " + std::to_string(machine->lanes) + " warps " + std::to_string(machine->default_warps);
  if (machine->has(Cap::DivergentBranches)) seen += " divergent";
  // Rows of one name are one row; which of them are there matters where the kernel names them.
  for (const MatrixAtom& row : machine->matrix_atoms)
    if (names(key, row.name)) seen += " " + std::string(row.name);
  return key + seen;
}

}  // namespace tilec::interp
