// Every diagnostic is provoked by some test: a file of tests/errors or tests/proofs announces it (`//! error Name: ...`, held
// to by sema_test and checks_test), or it stands below with the reason why none can. And docs/errors.md is what the catalogue
// generates.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/text.h"
#include "diag/catalogue.h"
#include "diag/explain.h"

using namespace tilec;

namespace {

struct Exception {
  std::string_view name, reason;
};
constexpr Exception kNotInFiles[] = {
    // Provoked by a unit test, since one source file is not enough for it.
    {"ImportCycle", "sema_test"},
    {"TooManyErrors", "driver_test"},
    {"TooManyMistakes", "driver_words_test"},
    {"CannotRead", "driver_test"},
    {"CannotWrite", "driver_test"},
    {"UnknownTarget", "driver_test"},
    {"EmitNotOffered", "driver_test"},
    {"NoImage", "driver_outputs_test"},
    // What schedules, layouts and resources of a machine decide: reported by the passes behind the checks.
    {"SharedMemoryExceeded", "of a machine"},
    {"ArgumentsExceeded", "driver_words_test"},
    {"LaneMemoryExceeded", "driver_words_test"},
    {"ScheduleRefused", "schedule_test"},
    {"SplitRefused", "split_turns_test"},
    {"LayoutRefused", "schedule_test"},
    {"RequirementMissed", "requirements_test"},
    {"BankConflict", "schedule_test"},
    {"LayoutConverted", "driver_trials_test"},
    {"RegistersShort", "driver_trials_test"},
    {"GemmInstruction", "of a machine"},
    {"GemmOnScalars", "of a machine"},
    {"NothingOverlaps", "of a machine"},
    {"CopiedByLanes", "boxes_test"},
    {"SumsKeepFewBits", "boxes_test"},
    {"CopyShared", "clusters_test"},
    {"NothingShared", "clusters_test"},
    {"ProductsHeldUp", "assembler_test"},
    {"StackUsed", "assembler_test"},
    {"ScheduledAgain", "another_try_test"},
    {"SumsShared", "cluster_sums_test"},
    {"LoopSplit", "driver_outputs_test"},
    {"NothingExported", "driver_trials_test"},
};

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> announced() {
  std::set<std::string> names;
  for (const char* folder : {"/errors", "/proofs"})
    for (const auto& entry : std::filesystem::directory_iterator(TILEC_TESTS + std::string(folder)))
      for (const std::string& line : split(content(entry.path()), '\n')) {
        size_t at = line.find("//! ");
        if (at == std::string::npos) continue;
        auto words = split(line.substr(at + 4), ' ');
        if (words.size() > 1) names.insert(words[1].substr(0, words[1].find(':')));
      }
  return names;
}

}  // namespace

TEST_CASE("every diagnostic is provoked by a test") {
  std::set<std::string> names = announced();
  for (const diag::Row& row : diag::rows()) {
    bool is_excepted = std::any_of(std::begin(kNotInFiles), std::end(kNotInFiles), [&](const Exception& e) { return e.name == row.name; });
    bool is_provoked = names.contains(std::string(row.name));
    CHECK_MESSAGE(is_provoked != is_excepted, row.code << " " << row.name << (is_excepted ? " is announced by a file: no exception any more"
                                                                                           : " is provoked by no file of tests/errors or tests/proofs"));
  }
  for (const Exception& e : kNotInFiles)
    CHECK_MESSAGE(std::any_of(diag::rows().begin(), diag::rows().end(), [&](const diag::Row& r) { return r.name == e.name; }), e.name);
}

TEST_CASE("docs/errors.md is what the catalogue says") {
  bool is_current = content(TILEC_TESTS + std::string("/../docs/errors.md")) == diag::errors_document();
  CHECK_MESSAGE(is_current, "run `tilec explain --all > docs/errors.md`");
}
