// The long form of every diagnostic: `tilec explain T0123` or `explain ShapeMismatch`. The pages are the Markdown files
// of diag/pages/, built in; a unit test holds that every row has its page.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilec::diag {

struct Page {
  std::string_view code, name;
  std::string_view title;    // "a name that is not declared"
  std::string_view meaning;  // Markdown
  std::string_view example;  // source that provokes it, without the fence
  std::string_view mending;  // Markdown
};

const std::vector<Page>& pages();  // in the order of the codes
const Page* find_page(std::string_view code_or_name);
std::optional<std::string> explain_page(std::string_view code_or_name);  // for a terminal
std::string errors_document();  // all pages as one Markdown document, docs/errors.md

}  // namespace tilec::diag
