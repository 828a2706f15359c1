#include "passes/check_padding.h"

#include "passes/padding_flow.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int kMostRounds = 4;  // of a loop, until its states stay as they are

TileState worst(TileState state, Scalar type) { return tainted(std::move(state), anything(type)); }

}  // namespace

void PaddingFlow::run(RegionId region) {
  for (OpId id : kernel_.region(region).ops) run(kernel_.op(id));
}

void PaddingFlow::run(const Op& op) {
  if (auto* o = op.get<op::Launch>()) return run(o->body);
  if (auto* o = op.get<op::For>()) return run_for(*o, op);
  if (auto* o = op.get<op::While>()) return run_while(*o, op);
  if (auto* o = op.get<op::If>()) return run_if(*o, op);
  if (op.is<op::Alloc>()) return void(buffers_.erase(op.result()));
  if (auto* o = op.get<op::Load>())
    return void(tiles_[op.result()] = read(o->buffer, o->offsets, o->axes, o->bounds, o->pad, kernel_.read_note(op.span)));
  if (auto* o = op.get<op::Store>()) return write(state(o->tile), o->buffer, o->offsets, o->axes, kernel_.type(o->tile).shape);
  if (auto* o = op.get<op::Copy>()) return run_copy(*o, op);
  if (auto* o = op.get<op::Splat>()) return void(tiles_[op.result()] = plain_state(scalar(o->x), kernel_.type(op.result()).rank()));
  if (auto* o = op.get<op::Map>()) return run_map(*o, op);
  if (auto* o = op.get<op::Gemm>()) return run_gemm(*o, op);
  if (auto* o = op.get<op::Reduce>()) return run_reduce(*o, op);
  if (auto* o = op.get<op::Scan>()) return run_scan(*o, op);
  if (auto* o = op.get<op::Simt>()) return taint_writes(o->body);
  if (auto* o = op.get<op::ElementStore>()) {
    if (auto at = buffers_.find(o->buffer); at != buffers_.end()) at->second = tainted(at->second, scalar(o->value));
    return;
  }
  if (op.is<op::Permute>() || op.is<op::Reshape>() || op.is<op::Insert>() || op.is<op::Extract>()) run_shape(op);
}

void PaddingFlow::join_buffers(const Buffers& other) {
  for (const auto& [buffer, state] : other) {
    auto [at, is_new] = buffers_.try_emplace(buffer, state);
    if (!is_new) at->second = joined(at->second, state);
  }
}

void PaddingFlow::run_for(const op::For& loop, const Op& at) {
  const auto& args = kernel_.region(loop.body).args;
  std::vector<TileState> carried;
  for (ValueId init : loop.inits) carried.push_back(kernel_.type(init).is_tile() ? state(init) : plain_state(scalar(init), 0));
  for (size_t i = 0; i < carried.size(); ++i) first_values_[args[i + 1]] = carried[i].inside;
  for (int round = 0;; ++round) {
    bool is_last = round == kMostRounds;
    for (size_t i = 0; i < carried.size(); ++i) {
      if (is_last) carried[i] = worst(carried[i], element(loop.inits[i]));
      if (kernel_.type(args[i + 1]).is_tile()) tiles_[args[i + 1]] = carried[i];
      else scalars_[args[i + 1]] = carried[i].inside;
    }
    Buffers before = buffers_;
    run(loop.body);
    const auto& yields = kernel_.terminator(loop.body).as<op::Yield>().values;
    std::vector<TileState> next = carried;
    for (size_t i = 0; i < carried.size(); ++i) {
      TileState yielded = kernel_.type(yields[i]).is_tile() ? state(yields[i]) : plain_state(scalar(yields[i]), 0);
      next[i] = joined(carried[i], outlasting(yielded, prover_, loop.body));
    }
    for (auto& [buffer, state] : buffers_) state = outlasting(state, prover_, loop.body);
    join_buffers(before);
    if (is_last || (next == carried && buffers_ == before)) break;
    carried = std::move(next);
  }
  for (size_t i = 0; i < carried.size(); ++i) {
    if (kernel_.type(at.results[i]).is_tile()) tiles_[at.results[i]] = carried[i];
    else scalars_[at.results[i]] = carried[i].inside;
  }
}

// How often it runs is not known: anything may have come into what it carries.
void PaddingFlow::run_while(const op::While& loop, const Op& at) {
  auto set_all = [&](const std::vector<ValueId>& names) {
    for (size_t i = 0; i < loop.inits.size(); ++i) {
      if (kernel_.type(names[i]).is_tile()) tiles_[names[i]] = worst(state(loop.inits[i]), element(names[i]));
      else scalars_[names[i]] = anything(element(names[i]));
    }
  };
  set_all(kernel_.region(loop.condition).args);
  set_all(kernel_.region(loop.body).args);
  taint_writes(loop.body);
  Buffers before = buffers_;
  run(loop.condition);
  run(loop.body);
  for (auto& [buffer, state] : buffers_) state = outlasting(state, prover_, loop.body);
  join_buffers(before);
  set_all(at.results);
}

void PaddingFlow::run_if(const op::If& branch, const Op& at) {
  Buffers before = buffers_;
  run(branch.then_body);
  Buffers after_then = std::exchange(buffers_, before);
  run(branch.else_body);
  join_buffers(after_then);
  const auto& a = kernel_.terminator(branch.then_body).as<op::Yield>().values;
  const auto& b = kernel_.terminator(branch.else_body).as<op::Yield>().values;
  for (size_t i = 0; i < at.results.size(); ++i) {
    if (kernel_.type(at.results[i]).is_tile()) tiles_[at.results[i]] = joined(state(a[i]), state(b[i]));
    else if (kernel_.type(at.results[i]).is_scalar()) scalars_[at.results[i]] = joined(scalar(a[i]), scalar(b[i]));
  }
}

// Every shared buffer that the region writes may hold anything in any of its elements.
void PaddingFlow::taint_writes(RegionId region) {
  each_op(kernel_, region, [&](OpId id) {
    const Op& op = kernel_.op(id);
    ValueId buffer;
    if (auto* o = op.get<op::ElementStore>()) buffer = o->buffer;
    if (auto* o = op.get<op::Atomic>()) buffer = o->buffer;
    if (auto* o = op.get<op::Store>()) buffer = o->buffer;
    if (auto* o = op.get<op::Copy>()) buffer = o->dst;
    if (!buffer.valid()) return;
    while (auto* view = kernel_.defined_by<op::Subview>(buffer)) buffer = view->buffer;
    if (auto at = buffers_.find(buffer); at != buffers_.end()) at->second = worst(at->second, element(buffer));
  });
}

void check_padding(const Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics) {
  PaddingFlow(kernel, prover, diagnostics).run(kernel.body);
}

}  // namespace tilec::passes
