// For tests of passes on Typed kernels: reads them from text and shows what was reported.
#pragma once
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "diag/sink.h"
#include "ir/parse.h"
#include "machine/machine.h"

namespace tilec {

inline ir::Kernel kernel_of(std::string_view text) {
  std::string error;
  auto kernel = ir::parse(text, &error);
  REQUIRE_MESSAGE(kernel, error);
  return std::move(*kernel);
}

inline ir::Kernel sample_kernel(std::string_view name) {
  std::ifstream file(std::string(TILEC_TESTS) + "/ir/" + std::string(name) + ".ir");
  std::stringstream text;
  text << file.rdbuf();
  return kernel_of(text.str());
}

inline Diagnostics all_shown() {
  Policy policy;
  policy.all_remarks = true;
  return Diagnostics(policy);
}

// "OutOfBounds: this access leaves ..." a line each.
inline std::string reports(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics.all()) text += std::string(d.name) + ": " + d.message + "\n";
  return text;
}

}  // namespace tilec
