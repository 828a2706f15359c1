// Which warnings and remarks are shown, and which warnings count as errors. A value, filled from the options.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "diag/message.h"

namespace tilec {

struct Policy {
  std::set<std::string, std::less<>> disabled;       // flags after -Wno-
  std::set<std::string, std::less<>> as_errors;      // flags after -Werror=
  std::set<std::string, std::less<>> never_errors;   // flags after -Wno-error=, stronger than all_as_errors
  std::set<std::string, std::less<>> remarks;        // groups after -R
  bool no_warnings = false;                          // -w
  bool all_as_errors = false;                        // -Werror
  bool all_remarks = false;                          // -R all
  int error_limit = 50;                              // 0: no limit

  // The severity that a row is reported with, or none when it is not.
  struct Verdict {
    bool is_shown;
    Severity severity;
  };
  Verdict judge(const diag::Row& row) const;
};

// One option applied: "no-unproved-race", "error", "error=unproved-race", ... after -W, a group or "all" after -R.
// The answer is false when the option names no flag, and the policy is as it was.
bool apply_warning_option(Policy& policy, std::string_view option);
bool apply_remark_option(Policy& policy, std::string_view option);

}  // namespace tilec
