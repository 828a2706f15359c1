// Runs kernels written as text.
#pragma once
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "interp/interp.h"
#include "ir/parse.h"

namespace tilec::interp {

inline ir::Kernel kernel_of(std::string_view text) {
  std::string error;
  auto kernel = ir::parse(text, &error);
  REQUIRE_MESSAGE(kernel, error);
  return std::move(*kernel);
}

inline std::string sample(std::string_view name) {
  std::string path = __FILE__;
  std::ifstream file(path.substr(0, path.rfind('/')) + "/../ir/" + std::string(name));
  std::stringstream text;
  text << file.rdbuf();
  REQUIRE(!text.str().empty());
  return text.str();
}

// `text` with every `from` replaced; there has to be one.
inline std::string changed(std::string text, std::string_view from, std::string_view to) {
  REQUIRE(text.find(from) != std::string::npos);
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

inline RunResult run_text(std::string_view text, std::vector<Argument> arguments, const RunOptions& options = {}) {
  ir::Kernel kernel = kernel_of(text);
  return run(kernel, arguments, options);
}

inline std::string fault_of(const RunResult& result) {
  return result.fault ? std::string(name(result.fault->kind)) + ": " + result.fault->text : "";
}
inline void check_fine(const RunResult& result) { CHECK(fault_of(result) == ""); }
inline void check_fault(const RunResult& result, FaultKind kind, std::string_view words) {
  REQUIRE(result.fault);
  CAPTURE(fault_of(result));
  CHECK(result.fault->kind == kind);
  CHECK(result.fault->text.find(words) != std::string::npos);
}

// Small numbers that every float format holds exactly, in a fixed disorder.
inline double scrambled(int64_t k) { return double((k * 2654435761u >> 7) % 17) / 4 - 2; }

}  // namespace tilec::interp
