// The catalogue as a table, for `explain`, `--help`, the docs and the tests.
#pragma once
#include <span>
#include <string_view>

#include "diag/message.h"

namespace tilec::diag {

std::span<const Row> rows();                      // in the order of their codes; notes are not among them
std::span<const Row> note_rows();
const Row* find_row(std::string_view code_or_name);  // null when there is none

struct FlagInfo {
  std::string_view flag, doc;
};
std::span<const FlagInfo> remark_groups();
bool is_warning_flag(std::string_view flag);
bool is_remark_group(std::string_view flag);
std::string_view flag_of(RemarkGroup group);

}  // namespace tilec::diag
