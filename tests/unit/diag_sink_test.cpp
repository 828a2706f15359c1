// The sink: what is collected, dropped, counted and judged.
#include "diag/catalogue.h"
#include "diag/diag.h"

#include <doctest/doctest.h>

namespace tilec {

namespace {
constexpr FileId kFile{0};
Span at(uint32_t begin, uint32_t end) { return {kFile, begin, end}; }
template <class M> concept TakenAsError = requires(Diagnostics d, M m) { d.at(Span{}).error(m, "a"); };
}  // namespace

static_assert(TakenAsError<decltype(diag::UnknownName)>);
static_assert(!TakenAsError<decltype(diag::UnprovedRace)>, "a warning is not reported as an error");
static_assert(!TakenAsError<decltype(diag::NestedTooDeep)>, "a text is no integer");

TEST_CASE("a report carries its text, marks, notes and fixes") {
  Diagnostics diags;
  diags.at(at(4, 7)).error(diag::BitWidths, "i8", 8, std::string("b1"), 1)
      .label("here").mark(at(9, 10), "the tile").note(at(0, 1), diag::DeclaredHere, "b").help("say less")
      .fix(at(9, 9), ".T", "transpose it");
  REQUIRE(diags.all().size() == 1);
  const Diagnostic& d = diags.all()[0];
  CHECK(d.code == "T0128");
  CHECK(d.name == "BitWidths");
  CHECK(d.message == "`i8` has 8 bits and `b1` has 1, so the bits of one are not the other");
  CHECK(d.label == "here");
  CHECK(d.marks.at(0).label == "the tile");
  CHECK(d.notes.at(0).message == "`b` is declared here");
  CHECK(d.helps.at(0).fixes.empty());
  CHECK(d.helps.at(1).fixes.at(0).replacement == ".T");
}

TEST_CASE("names stand in ticks, descriptions do not") {
  Diagnostics diags;
  for (const char* wanted : {"a number", "an integer", "a tile of shape [64]"}) {
    diags.nowhere().error(diag::TypeMismatch, wanted, "i32[64]");
    CHECK(diags.all().back().message == std::string(wanted) + " is wanted here but this is `i32[64]`");
  }
  for (const char* source : {"a", "an", "a + b", "a as i8", "a is f32", "a - an", "abs"}) {
    diags.nowhere().error(diag::TypeMismatch, source, "i32");
    CHECK(diags.all().back().message == "`" + std::string(source) + "` is wanted here but this is `i32`");
  }
}

TEST_CASE("what was reported at a span may be explained later") {
  Diagnostics diags;
  diags.at(at(4, 7)).error(diag::UnknownName, "x");
  diags.at(at(4, 8)).error(diag::UnknownName, "y");
  diags.note_at(at(4, 7), at(0, 1), diag::InsideLibrary, "ceildiv");
  REQUIRE(diags.all()[0].notes.size() == 1);
  CHECK(diags.all()[0].notes[0].message == "in `ceildiv` of the library");
  CHECK(diags.all()[1].notes.empty());
}

TEST_CASE("a noun follows its number") {
  Diagnostics diags;
  diags.at(at(0, 1)).error(diag::ArgumentCount, "f", 1, 2);
  diags.at(at(1, 2)).error(diag::ArgumentCount, "f", 2, 1);
  diags.at(at(2, 3)).warning(diag::BankConflict, "s", 2, 1);
  CHECK(diags.all()[0].message == "`f` takes 1 argument but is given 2");
  CHECK(diags.all()[1].message == "`f` takes 2 arguments but is given 1");
  CHECK(diags.all()[2].message == "with this layout `s` takes 2 passes where 1 would do: lanes meet in the banks of shared memory");
}

TEST_CASE("a code is reported once at a span") {
  Diagnostics diags;
  diags.at(at(0, 1)).error(diag::UnknownName, "a");
  Report again = diags.at(at(0, 1)).error(diag::UnknownName, "a").help("lost");
  CHECK(again.is_dropped());
  diags.at(at(0, 1)).error(diag::NotAType, "a");
  diags.at(at(1, 2)).error(diag::UnknownName, "a");
  diags.nowhere().error(diag::CannotRead, "x", "gone");
  diags.nowhere().error(diag::CannotRead, "y", "gone");
  CHECK(diags.all().size() == 5);
  CHECK(diags.all()[0].helps.empty());
  CHECK(diags.error_count() == 5);
}

TEST_CASE("errors stop at the limit with one line") {
  Diagnostics diags(Policy{.error_limit = 3});
  for (uint32_t i = 0; i < 10; ++i) diags.at(at(i, i + 1)).error(diag::UnknownName, "a");
  diags.at(at(0, 1)).warning(diag::UnusedName, "a");
  REQUIRE(diags.all().size() == 5);
  CHECK(diags.all()[3].message == "more than 3 errors, the rest is not shown");
  CHECK(diags.all()[4].severity == Severity::Warning);
  CHECK(diags.error_count() == 10);
}

TEST_CASE("the policy turns warnings off, into errors, and remarks on") {
  auto report = [](Policy policy) {
    Diagnostics diags(policy);
    diags.at(at(0, 1)).warning(diag::UnprovedRace, "a");
    diags.at(at(0, 1)).remark(diag::OperandStaged, "a");
    std::string out;
    for (const Diagnostic& d : diags.all()) out += std::string(name(d.severity)) + " " + std::string(d.flag) + ";";
    return out;
  };
  auto with = [&](std::initializer_list<std::string_view> options) {
    Policy policy;
    for (std::string_view option : options) REQUIRE(apply_warning_option(policy, option));
    return report(policy);
  };
  CHECK(with({}) == "warning unproved-race;");
  CHECK(with({"no-unproved-race"}) == "");
  CHECK(with({"no-unproved-race", "unproved-race"}) == "warning unproved-race;");
  CHECK(with({"error"}) == "error unproved-race;");
  CHECK(with({"error", "no-error=unproved-race"}) == "warning unproved-race;");
  CHECK(with({"no-error=unproved-race", "error=unproved-race"}) == "error unproved-race;");
  CHECK(with({"error=unproved-race", "no-unproved-race"}) == "");
  Policy policy;
  CHECK(!apply_warning_option(policy, "no-such-thing"));
  CHECK(!apply_warning_option(policy, "no-"));
  CHECK(!apply_remark_option(policy, "sound"));
  CHECK(apply_remark_option(policy, "memory"));
  CHECK(report(policy) == "warning unproved-race;remark memory;");
  CHECK(Diagnostics(policy).wants(RemarkGroup::Memory));
  CHECK(!Diagnostics(policy).wants(RemarkGroup::Spill));
}

TEST_CASE("a row is found by code and by name") {
  REQUIRE(diag::find_row("T0900"));
  CHECK(diag::find_row("T0900")->name == "NotSupportedYet");
  CHECK(diag::find_row("UnprovedRace")->flag == "unproved-race");
  CHECK(diag::find_row("GemmOnScalars")->flag == "tensor-core");
  CHECK(diag::find_row("T9999") == nullptr);
  for (const diag::Row& row : diag::rows()) CHECK_MESSAGE(!row.text.ends_with("."), row.name);
}

TEST_CASE("a sink takes over another's reports") {
  Diagnostics one, two;
  one.at(at(0, 1)).error(diag::UnknownName, "a");
  two.at(at(0, 1)).error(diag::UnknownName, "a");
  two.at(at(2, 3)).warning(diag::UnusedName, "b").help("remove it");
  one.append(two);
  CHECK(one.all().size() == 2);
  CHECK(one.error_count() == 1);
  CHECK(one.warning_count() == 1);
  CHECK(one.all()[1].helps.size() == 1);
}

}  // namespace tilec
