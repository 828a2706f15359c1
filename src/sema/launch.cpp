// `launch` and `simt`: the programs of a block and of a thread.
#include "sema/exits.h"
#include "sema/raster.h"
#include "sema/scalar.h"
#include "sema/stmt.h"

namespace tilec::sema {
namespace {

constexpr int64_t kLeastWarp = 32, kMostThreads = 1024;
constexpr int64_t kThreadsOfMistake = 32;  // goes on where the program does not say

bool read_cluster(Instance& in, const ast::Expr& value, op::Launch& launch) {
  Operand x = operand(in, value);
  std::vector<Value> parts = x.value.is<Tuple>() ? x.value.as<Tuple>()->elements : std::vector<Value>{x.value};
  for (Value& part : parts) {
    auto n = known_int(in, {part, x.span}, "the shape of a cluster");
    if (!n) return false;
    if (*n < 1) return in.at(x.span).error(diag::BadExtent, *n), false;
    launch.cluster.push_back(*n);
  }
  return true;
}

bool read_order(Instance& in, const ast::Expr& value, op::Launch& launch) {
  auto raster = read_raster(in, value);
  if (!raster) return false;
  if (raster->columns) launch.raster = raster->columns;
  else launch.backwards = raster->backwards;
  return true;
}

bool read_split(Instance& in, const ast::Expr& value, op::Launch& launch) {
  auto parts = known_int(in, operand(in, value), "the number of parts of a loop");
  if (parts && *parts < 1) return in.at(value.span).error(diag::BadExtent, *parts), false;
  launch.split = parts.value_or(0);
  return parts.has_value();
}

bool read_option(Instance& in, const ast::LaunchOption& option, op::Launch& launch) {
  switch (option.kind) {
    case ast::LaunchOptionKind::Persistent: launch.persistent = true; return true;
    case ast::LaunchOptionKind::Cluster: return !option.value || read_cluster(in, *option.value, launch);
    case ast::LaunchOptionKind::Raster: return !option.value || read_order(in, *option.value, launch);
    case ast::LaunchOptionKind::Split: return !option.value || read_split(in, *option.value, launch);
    case ast::LaunchOptionKind::Threads: break;
  }
  if (!option.value) return true;
  auto n = known_int(in, operand(in, *option.value), "the number of threads");
  if (!n) return false;
  bool is_fine = *n >= 1 && *n <= kMostThreads && *n % kLeastWarp == 0;
  if (!is_fine) {
    int64_t below = std::clamp(*n / kLeastWarp * kLeastWarp, kLeastWarp, kMostThreads);
    std::string near = std::to_string(below);
    if (*n > below && *n < kMostThreads) near += " or " + std::to_string(below + kLeastWarp);
    in.at(option.value->span).error(diag::BadThreadCount, *n).help("a block has whole warps, a multiple of 32 up to 1024: write " + near);
  }
  launch.threads = is_fine ? *n : kThreadsOfMistake;
  return is_fine;
}

// The body of a launch or of `simt`: isolated from the variables around it, and what `return` leaves.
void run_isolated(Instance& in, const ast::Block& body, Level level, ir::RegionId region,
                  const std::function<void()>& declare_indices) {
  RegionGuard inside(in, region);
  Restore<Level> at(in.level, level);
  Restore<int> depth(in.depth, in.depth + 1);
  Frame& frame = in.frame();
  Restore<int> frame_depth(frame.depth, in.depth);
  size_t frame_index = in.frames.size() - 1;
  ScopeGuard scope(in);
  std::optional<VariableId> saved = in.frame().runs;
  in.frames[frame_index].runs.reset();
  if (needs_flag(body.statements, &Exits::returns)) in.frames[frame_index].runs = new_flag(in, "runs");
  declare_indices();
  Restore<size_t> first_loop(in.frames[frame_index].first_loop, in.loops.size());
  run_scoped(in, body);
  in.frames[frame_index].runs = saved;
  in.is_dead = false;
  in.builder.yield({});
}

}  // namespace

void run_launch(Instance& in, const ast::Stmt& stmt, const ast::Launch& node) {
  if (in.level != Level::Host) return void(not_allowed(in, stmt.span, "a launch", "inside another one"));
  if (in.control_depth > 0) return void(not_supported(in, stmt.span, "a launch under a run-time condition or loop"));
  op::Launch launch;
  bool is_fine = true;
  std::vector<ir::ValueId> extents;
  for (const ast::LaunchAxis& axis : node.axes) {
    launch.extents.push_back(index_value(in, operand(in, *axis.extent)));
    is_fine &= launch.extents.back().valid();
    auto extent = is_fine ? in.kernel.constant(launch.extents.back()) : std::nullopt;
    if (extent && extent->i < 0)
      is_fine = !not_allowed(in, axis.extent->span, "a negative extent", "for a launch").is_poison();
  }
  for (const ast::LaunchOption& option : node.options) is_fine &= read_option(in, option, launch);
  if (launch.cluster.size() > launch.extents.size()) is_fine = !not_allowed(in, stmt.span, "a cluster with more axes than its launch", "here").is_poison();
  if (launch.backwards > int64_t(launch.extents.size())) is_fine = !not_allowed(in, stmt.span, "a reversed axis that the launch does not have", "here").is_poison();
  ir::RegionId region = launch.body = in.kernel.new_region();
  std::vector<ir::ValueId> indices;
  for (const ast::LaunchAxis& axis : node.axes)
    indices.push_back(in.kernel.new_arg(region, ir::scalar_type(Scalar::Index), std::string(axis.name.text)));
  for (ir::ValueId index : indices) in.near_indices[index] = kNearBits;
  Restore<std::optional<int64_t>> threads(in.threads, launch.threads ? std::optional(launch.threads) : std::nullopt);
  run_isolated(in, node.body, Level::Block, region, [&] {
    for (size_t i = 0; i < indices.size(); ++i) in.declare(node.axes[i].name, Dynamic{indices[i]}, "a block index");
  });
  in.builder.set_span(stmt.span);
  if (is_fine) in.builder.add(std::move(launch));
}

void run_simt(Instance& in, const ast::Stmt& stmt, const ast::Simt& node) {
  if (!require_block(in, stmt.span, "`simt`")) return;
  if (!in.threads)
    in.at(stmt.span).error(diag::NotCompileTime, "the number of threads of a block with `simt`").help("say it at the launch: `launch (...) threads 128 { ... }`");
  Restore<std::optional<int64_t>> threads(in.threads, in.threads.value_or(kThreadsOfMistake));
  op::Simt simt{.threads = *in.threads, .body = in.kernel.new_region()};
  ir::ValueId thread = in.kernel.new_arg(simt.body, ir::scalar_type(Scalar::Index), std::string(node.thread.text));
  in.near_indices[thread] = kNearBits;
  run_isolated(in, node.body, Level::Thread, simt.body,
               [&] { in.declare(node.thread, Dynamic{thread}, "a thread index"); });
  in.builder.set_span(stmt.span);
  in.builder.add(std::move(simt));
}

}  // namespace tilec::sema
