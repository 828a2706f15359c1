// The pages of `explain`: one for every row, whole, and none too many.
#include "diag/catalogue.h"
#include "diag/explain.h"

#include <doctest/doctest.h>

namespace tilec {

TEST_CASE("every row has a page with all its parts") {
  for (const diag::Row& row : diag::rows()) {
    const diag::Page* page = diag::find_page(row.code);
    REQUIRE_MESSAGE(page, row.code << " " << row.name << " has no page in src/diag/pages/");
    CHECK_MESSAGE(page->name == row.name, row.code);
    CHECK_MESSAGE(!page->title.empty(), row.code);
    CHECK_MESSAGE(page->meaning.size() > 20, row.code);
    CHECK_MESSAGE(page->example.size() > 5, row.code);
    CHECK_MESSAGE(page->mending.size() > 5, row.code);
  }
}

TEST_CASE("every page belongs to a row") {
  for (const diag::Page& page : diag::pages()) CHECK_MESSAGE(diag::find_row(page.code), page.code << " has no row");
  CHECK(diag::pages().size() == diag::rows().size());
}

TEST_CASE("a page is found by code and by name, and says how to govern a warning") {
  REQUIRE(diag::explain_page("T0100"));
  CHECK(diag::explain_page("T0100") == diag::explain_page("UnknownName"));
  CHECK(diag::explain_page("T0100")->starts_with("T0100 UnknownName: a name that is not declared\n\nThe name is"));
  CHECK(diag::explain_page("T0100")->find("\n    fn twice(x: f32)") != std::string::npos);
  CHECK(diag::explain_page("UnprovedRace")->find("-Wno-unproved-race") != std::string::npos);
  CHECK(!diag::explain_page("T9999"));
  CHECK(diag::errors_document().find("\n## T0900 NotSupportedYet: ") != std::string::npos);
}

}  // namespace tilec
