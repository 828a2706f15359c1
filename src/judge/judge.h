// The judge of analysis: runs the source itself, with types and nothing else of analysis.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>

#include "interp/interp.h"
#include "sema/sema.h"
#include "syntax/ast.h"

namespace tilec::judge {

struct Options {
  ir::Numeric numeric = ir::Numeric::Typed;
  uint64_t step_limit = 1ull << 32;  // statements and turns
  uint64_t seed = 1;                 // of the order of blocks
  int lanes = 32;                    // of a warp
  std::map<std::string, int64_t> dims;
};

// What the judge does not know: it says so, and never guesses.
struct Unjudged {
  Span span;
  std::string what;
};

// The tensors hold what the program means where there is neither.
struct Result {
  std::optional<interp::Fault> fault;
  std::optional<Unjudged> unjudged;
};

// Runs the instance with this number of the export of this name. What is imported is parsed into `sources`.
Result run(const Ast& root, SourceMap& sources, const SourceProvider& provider, const std::string& export_name, size_t number,
           std::span<const interp::Argument> arguments, const Options& options);

}  // namespace tilec::judge
