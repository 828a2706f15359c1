// Control and launches. Under a uniform condition control jumps; else lanes are masked, and an empty side is jumped
// over.
#include "interp/emitter.h"

namespace tilec::interp {

using namespace ir;

void Emitter::on(const op::Yield&, const Op&) {}

void Emitter::on(const op::Launch& o, const Op&) {
  check_contract();
  bool is_thread = kernel_.form == Form::Thread;
  TileData data;
  use_operands(data, o.extents);
  data.function = compile_function(is_thread ? FunctionKind::Thread : FunctionKind::Block,
                                   is_thread ? uint32_t(program_.lanes) : 1, o.body);
  int64_t warps = o.warps ? o.warps : (o.threads + program_.lanes - 1) / program_.lanes;
  if (!warps) warps = options_.machine ? options_.machine->default_warps : 1;
  data.counts = {warps, o.threads ? o.threads : warps * program_.lanes};
  data.shape = o.cluster;
  // Before the pass that makes it so, each block is one of its own.
  each_op(kernel_, o.body, [&](OpId id) { data.is_persistent |= kernel_.op(id).is<op::GridBlocks>(); });
  uint32_t index = add_data(std::move(data));
  emit(do_launch).imm = index;
}

void Emitter::on(const op::If& o, const Op& op) {
  if (is_uniform(o.condition))
    uniform_if(o, op);
  else
    masked_if(o, op);
}

void Emitter::uniform_if(const op::If& o, const Op& op) {
  uint32_t test = here();
  emit(do_jump_unless).a = reg(o.condition);
  std::vector<Location> results = define_all(op.results);
  region(o.then_body);
  move_values(results, kernel_.terminator(o.then_body).as<op::Yield>().values, o.then_body);
  uint32_t over = here();
  emit(do_jump);
  patch(test, here());
  if (o.else_body.valid()) {
    region(o.else_body);
    move_values(results, kernel_.terminator(o.else_body).as<op::Yield>().values, o.else_body);
  }
  patch(over, here());
}

void Emitter::masked_if(const op::If& o, const Op& op) {
  uint32_t level = frame_->mask_depth++;
  code().masks = std::max(code().masks, frame_->mask_depth);
  uint32_t condition = reg(o.condition);
  std::vector<Location> results = define_all(op.results);
  uint32_t test = here();
  Instr& enter = emit(do_if);
  enter.a = condition;
  enter.b = level;
  region(o.then_body);
  move_values(results, kernel_.terminator(o.then_body).as<op::Yield>().values, o.then_body);
  patch(test, here());
  uint32_t other = here();
  emit(do_else).b = level;
  if (o.else_body.valid()) {
    region(o.else_body);
    move_values(results, kernel_.terminator(o.else_body).as<op::Yield>().values, o.else_body);
  }
  patch(other, here());
  emit(do_end_if).b = level;
  --frame_->mask_depth;
}

void Emitter::on(const op::For& o, const Op& op) {
  bool is_one = is_uniform(o.low) && is_uniform(o.high) && is_uniform(o.step);
  uint32_t level = frame_->mask_depth++;
  code().masks = std::max(code().masks, frame_->mask_depth);
  const std::vector<ValueId>& args = kernel_.region(o.body).args;
  const std::vector<ValueId>& yields = kernel_.terminator(o.body).as<op::Yield>().values;
  Location high = find(o.high), step = find(o.step), low = find(o.low);
  std::vector<Location> carried = define_all(args);
  Location i = carried[0];
  carried.erase(carried.begin());
  move_values(carried, o.inits, current_);
  move(i, low, is_one, false);
  Instr& enter = emit(do_loop_enter);
  enter.b = level;
  enter.c = step.slot;
  uint32_t head = here();
  Instr& test = emit(do_loop_test);
  test.dst = i.slot;
  test.a = high.slot;
  test.b = level;
  test.fast = is_one;
  region(o.body);
  move_values(carried, yields, o.body);
  Instr& next = emit(do_loop_next);
  next.dst = i.slot;
  next.c = step.slot;
  next.imm = head;
  patch(head, here());
  emit(do_loop_exit).b = level;
  --frame_->mask_depth;
  for (size_t k = 0; k < op.results.size(); ++k) {
    Location result = define(op.results[k]);
    move(result, carried[k], true, true);
  }
}

void Emitter::on(const op::While& o, const Op& op) {
  uint32_t level = frame_->mask_depth++;
  code().masks = std::max(code().masks, frame_->mask_depth);
  const std::vector<ValueId>& tested = kernel_.terminator(o.condition).as<op::Yield>().values;
  const std::vector<ValueId>& yields = kernel_.terminator(o.body).as<op::Yield>().values;
  std::vector<Location> carried = define_all(kernel_.region(o.condition).args);
  std::vector<Location> results = define_all(op.results);
  move_values(carried, o.inits, current_);
  Instr& enter = emit(do_loop_enter);
  enter.b = level;
  enter.c = kNoSlot;
  uint32_t head = here();
  region(o.condition);
  for (size_t k = 0; k < results.size(); ++k) move(results[k], find(tested[k + 1]), is_uniform(tested[k + 1]), false);
  uint32_t test = here();
  Instr& keep = emit(do_while_test);
  keep.a = reg(tested[0]);
  keep.fast = is_uniform(tested[0]);
  // The body's arguments are what the condition passed on, still in the result's places.
  std::vector<Location> inner = define_all(kernel_.region(o.body).args);
  for (size_t k = 0; k < inner.size(); ++k) move(inner[k], results[k], is_uniform(tested[k + 1]), false);
  region(o.body);
  move_values(carried, yields, o.body);
  bool is_known = is_watched(o);
  Instr& back = emit(is_known ? do_watched_jump : do_jump);
  back.imm = head;
  if (is_known) {
    TileData data;
    data.names = {read_by(o)};
    uint32_t index = add_data(std::move(data));
    code().code.back().a = index;
  }
  patch(test, here());
  emit(do_loop_exit).b = level;
  --frame_->mask_depth;
}

// Extents, strides and requirements are values of the body: they are compared before anything is launched. A requirement is looked at before the
// next one is computed, which may have no value where it does not hold.
void Emitter::check_contract() {
  if (contract_checked_ || frame_->kind != FunctionKind::Host) return;
  contract_checked_ = true;
  check_extents();
  check_requirements(true);
}

void Emitter::check_extents() {
  auto is_ready = [&](ValueId v) { return frame_->places.count(v.index) != 0; };
  for (size_t p = 0; p < kernel_.params.size(); ++p) {
    const Param& param = kernel_.params[p];
    if (!type(param.value).is_buffer()) continue;
    for (size_t d = 0; d < param.extents.size(); ++d) {
      if (!is_ready(param.extents[d])) continue;
      Instr& i = emit(do_check_extent);
      i.a = view(param.value), i.b = reg(param.extents[d]), i.c = uint32_t(d), i.imm = int64_t(p);
    }
    for (size_t d = 0; d < param.strides.size(); ++d) {
      if (!is_ready(param.strides[d])) continue;
      Instr& i = emit(do_check_stride);
      i.a = view(param.value), i.b = reg(param.strides[d]), i.c = uint32_t(d), i.imm = int64_t(p);
    }
  }
}

void Emitter::check_requirements(bool is_all) {
  for (; requirements_checked_ < kernel_.requirements.size(); ++requirements_checked_) {
    const ValueId condition = kernel_.requirements[requirements_checked_].condition;
    const bool is_ready = frame_->places.count(condition.index) != 0;
    if (!is_ready && !is_all) return;
    if (!is_ready) continue;
    if (requirements_checked_ == 0) check_extents();
    Instr& i = emit(do_check_requirement);
    i.a = reg(condition);
    i.imm = int64_t(requirements_checked_);
  }
}

}  // namespace tilec::interp
