#include "driver/driver.h"

#include "base/text.h"
#include "diag/explain.h"
#include "driver/files.h"
#include "driver/session.h"
#include "target/llvm/code.h"

namespace tilec {

int explain_command(const Options& options) {
  int code = kDone;
  for (const std::string& input : options.inputs) {
    if (auto page = explain_page(input)) {
      std::fputs(page->c_str(), stdout);
    } else {
      std::fprintf(stderr, "tilec: '%s' is no diagnostic\n", input.c_str());
      code = kUsage;
    }
  }
  return code;
}

int format_command(const Options&) {
  std::fprintf(stderr, "tilec: fmt is not supported yet\n");
  return kNoTarget;
}

int inspect_command(const Options&) {
  std::fprintf(stderr, "tilec: inspect is not supported yet\n");
  return kNoTarget;
}

int doctor_command(const Options&) {
  std::printf("tilec %s\nLLVM  %s\ntargets:", kVersion, std::string(target::native_version()).c_str());
  for (const Machine* m : all_machines()) std::printf(" %s", std::string(m->name).c_str());
  std::printf("\n");
  return kDone;
}

int run_driver(int argc, const char* const* argv) {
  ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.options) return parsed.exit_code;
  constexpr std::pair<Verb, int (*)(const Options&)> kCommands[] = {
      {Verb::Compile, compile_command}, {Verb::Check, check_command},     {Verb::Run, run_command},      {Verb::Explain, explain_command},
      {Verb::Format, format_command},   {Verb::Inspect, inspect_command}, {Verb::Doctor, doctor_command}};
  for (auto [verb, command] : kCommands)
    if (verb == parsed.options->verb) return command(*parsed.options);
  return kUsage;
}

}  // namespace tilec
