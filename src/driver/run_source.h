// Runs the source itself, by src/judge, on the data that `tilec run` gives.
#pragma once
#include <string>

#include "driver/run_data.h"
#include "driver/session.h"

namespace tilec {

struct SourceRun {
  std::optional<interp::Fault> fault;
  std::string not_judged;  // "FILE:LINE:COLUMN: what"; empty: it has been judged
  Data data;
};
SourceRun run_source(Session& session, const ExportInstance& exported, const Data& given, const Dims& dims, ir::Numeric numeric, int lanes, uint64_t step_limit);

}  // namespace tilec
