#include "diag/policy.h"

#include "diag/catalogue.h"

namespace tilec {

Policy::Verdict Policy::judge(const diag::Row& row) const {
  if (row.severity == Severity::Remark) return {all_remarks || remarks.contains(row.flag), Severity::Remark};
  if (row.severity != Severity::Warning) return {true, row.severity};
  if (as_errors.contains(row.flag)) return {true, Severity::Error};
  if (no_warnings || disabled.contains(row.flag)) return {false, Severity::Warning};
  bool is_error = all_as_errors && !never_errors.contains(row.flag);
  return {true, is_error ? Severity::Error : Severity::Warning};
}

bool apply_warning_option(Policy& policy, std::string_view option) {
  auto flag_after = [&](std::string_view prefix) {
    std::string_view flag = option.starts_with(prefix) ? option.substr(prefix.size()) : std::string_view();
    return std::string(diag::is_warning_flag(flag) ? flag : "");
  };
  if (option == "error" || option == "no-error") {
    policy.all_as_errors = option == "error";
    return true;
  }
  // The last option about a flag wins, so each takes back what an earlier one said.
  if (std::string flag = flag_after("error="); !flag.empty()) {
    policy.disabled.erase(flag), policy.never_errors.erase(flag), policy.as_errors.insert(flag);
  } else if (flag = flag_after("no-error="); !flag.empty()) {
    policy.as_errors.erase(flag), policy.never_errors.insert(flag);
  } else if (flag = flag_after("no-"); !flag.empty()) {
    policy.as_errors.erase(flag), policy.disabled.insert(flag);
  } else if (flag = flag_after(""); !flag.empty()) {
    policy.disabled.erase(flag);
  } else {
    return false;
  }
  return true;
}

bool apply_remark_option(Policy& policy, std::string_view option) {
  if (option == "all") return policy.all_remarks = true;
  if (!diag::is_remark_group(option)) return false;
  policy.remarks.emplace(option);
  return true;
}

}  // namespace tilec
