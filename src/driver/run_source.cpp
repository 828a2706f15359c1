#include "driver/run_source.h"

#include "judge/judge.h"

namespace tilec {

SourceRun run_source(Session& session, const ExportInstance& exported, const Data& given, const Dims& dims, ir::Numeric numeric, int lanes, uint64_t step_limit) {
  SourceRun run{{}, "", copy_of(given)};
  judge::Options options;
  options.numeric = numeric;
  options.seed = session.options.seed;
  options.lanes = lanes;
  options.step_limit = step_limit;
  for (const ir::Dim& dim : exported.kernel.dims)
    if (auto value = dims.find(dim.name); value != dims.end()) options.dims[dim.name] = value->second;
  judge::Result result = judge::run(session.ast, session.sources, session.provider(), exported.name, exported.is_wide ? 0 : exported.number, run.data.arguments, options);
  run.fault = result.fault;
  if (!result.unjudged) return run;
  Span span = result.unjudged->span;
  if (span.valid()) {
    LineColumn at = session.sources.place(span);
    run.not_judged = std::string(session.sources.name(span.file)) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
  }
  run.not_judged += result.unjudged->what;
  return run;
}

}  // namespace tilec
