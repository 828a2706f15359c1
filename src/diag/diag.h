// What everyone who reports includes: the sink and the messages of the catalogue, `diag::UnknownName` and so on.
//   diags.at(use).error(diag::UnknownName, name).note(near, diag::DeclaredHere, other).fix(use, other, "write this");
// A header that only hands the sink on includes diag/sink.h, which does not change with the catalogue.
#pragma once
#include "diag/sink.h"

namespace tilec::diag {

#define DIAG(code, name, severity, text, ...)                                              \
  inline constexpr Message<Severity::severity __VA_OPT__(, ) __VA_ARGS__> name{            \
      {#code, #name, Severity::severity,                                                   \
       Severity::severity == Severity::Warning ? std::string_view(kFlag<kebab(#name)>) : "", text}};
#define REMARK(code, name, group, text, ...)                                               \
  inline constexpr Message<Severity::Remark __VA_OPT__(, ) __VA_ARGS__> name{              \
      {#code, #name, Severity::Remark, kFlag<kebab(#group)>, text}};                       \
  static_assert(RemarkGroup::group <= RemarkGroup::Proof);
#define NOTE(name, text, ...) \
  inline constexpr Message<Severity::Note __VA_OPT__(, ) __VA_ARGS__> name{{"", #name, Severity::Note, "", text}};
#include "diag/catalogue.def"

}  // namespace tilec::diag
