// What the passes make of the first export of a text, to be looked at after each of them.
#pragma once
#include <map>

#include "agreement.h"
#include "patterns.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/model/machine.h"

namespace tilec::agreement {

struct Made {
  ir::Kernel typed, last;
  std::map<std::string, std::string> after;  // by the pass, as text

  explicit Made(const std::string& text, const Machine& machine = target::model::asynchronous()) {
    SourceMap sources;
    Diagnostics diagnostics{Policy{}};
    Ast ast = parse(sources.add("it.tile", text), sources, diagnostics);
    Program program = analyse(ast, sources, embedded_library(), diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), text);
    typed = last = kernel_for(program.exports.at(0), machine);
    PassOptions passes;
    passes.after = [&](const Pass& pass, const ir::Kernel& now) { after.insert_or_assign(std::string(pass.name), ir::print(now)); };
    REQUIRE(run_passes(last, machine, diagnostics, passes));
  }
  const std::string& text(const std::string& pass = "insert-barriers") const { return after.at(pass); }
  bool has(const std::string& pass, const std::string& part) const { return text(pass).find(part) != std::string::npos; }
  int count(const std::string& pattern, const std::string& pass = "insert-barriers") const {
    return int(testing::matches(text(pass), pattern).size());
  }
};

}  // namespace tilec::agreement
