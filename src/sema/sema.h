// AST to Typed Tile IR: names, modules, types, generics, shapes, kernels.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "ir/kernel.h"
#include "syntax/parse.h"

namespace tilec {

class Diagnostics;

// Where imported text comes from. Two functions, since a caller mixes sources: the embedded library with a folder's
// files.
struct SourceProvider {
  struct Source {
    std::string name;  // says which file it is: two imports with one name are one module
    std::string text;
  };
  std::function<std::optional<Source>(std::string_view path)> module;                              // `std.math`
  std::function<std::optional<Source>(std::string_view importer, std::string_view file)> file;  // "epilogues.tile"
};
// The embedded library, and no files.
SourceProvider embedded_library();

// A `schedule` block that speaks of one instance.
struct PinnedSchedule {
  std::vector<std::string> targets;  // machines, or targets with all their machines; empty: all
  // Dims that it states, and parameters in its brackets: the more, the more special.
  size_t dims = 0, arguments = 0;
  ir::Schedule schedule;
  bool is_wide = false;  // for the copy in wider clusters alone
};

// One way to do what a function of the object does. Those of one export follow each other; they have one name.
struct ExportInstance {
  std::string name;      // of the C function
  std::string doc;
  std::string instance;  // how a schedule names it: `gemm[T = bf16] where N = 64`
  std::vector<std::string> variables;  // that a schedule may name
  ir::Kernel kernel;
  std::vector<PinnedSchedule> schedules;
  Span span;
  size_t number = 0;     // among the instances of the export
  // A copy of the first instance, behind those of the text, for machines that widen the clusters which they infer for it: where nothing is
  // widened it is left out, and nobody has asked for it.
  bool is_wide = false;
};

struct Program {
  std::vector<ExportInstance> exports;           // instances without errors, in the order of the text
  std::vector<std::unique_ptr<Ast>> imported;  // keeps alive what diagnostics point to
};

// Parses what `root` imports into `sources`, so. Mistakes go to `diagnostics`; what has none comes back. `made` sees the kernel of
// each export as soon as it is there, in the order of the program: the exports may still turn out to hold mistakes.
Program analyse(const Ast& root, SourceMap& sources, const SourceProvider& provider, Diagnostics& diagnostics,
                const std::function<void(const ir::Kernel&)>& made = {}, Reading reading = Reading::Mended);

}  // namespace tilec
