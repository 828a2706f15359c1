// What exports of a file become for one thread of a machine, as text.
#pragma once
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ir/print.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/target.h"

namespace tilec {

// The program of one thread of each export of a file, by machine.
class Threads {
 public:
  explicit Threads(const std::string& path) : diagnostics_(Policy{.all_remarks = true}) {
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    ast_ = parse(sources_.add(path, text), sources_, diagnostics_);
    program_ = analyse(ast_, sources_, embedded_library(), diagnostics_);
    REQUIRE(!diagnostics_.has_errors());
  }

  std::string of(std::string_view name, std::string_view machine) {
    for (const ExportInstance& exported : program_.exports) {
      if (exported.name != name) continue;
      ir::Kernel kernel = kernel_for(exported, *target::machine_named(machine)->machine);
      REQUIRE(run_passes(kernel, *target::machine_named(machine)->machine, diagnostics_, {}));
      return ir::print(kernel);
    }
    FAIL("no such export");
    return "";
  }

  // What was said by that name of the exports asked for so far, each once.
  std::vector<std::string> remarks(std::string_view name) const {
    std::vector<std::string> messages;
    for (const Diagnostic& d : diagnostics_.all())
      if (d.name == name) messages.push_back(d.message);
    return messages;
  }

 private:
  SourceMap sources_;
  Diagnostics diagnostics_;
  Ast ast_;
  Program program_;
};

inline size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++n;
  return n;
}

}  // namespace tilec
