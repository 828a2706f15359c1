// Functions, frames and values; the operations are in compile_*.cpp.
#include "interp/compile.h"

#include "interp/emitter.h"
#include "interp/layouts.h"

namespace tilec::interp {

using namespace ir;

namespace {

const Op* alloc_of(const Kernel& kernel, ValueId buffer) {
  for (;;) {
    const Op* d = kernel.definition(buffer);
    if (!d || !d->is<op::Subview>()) return d && d->is<op::Alloc>() ? d : nullptr;
    buffer = d->as<op::Subview>().buffer;
  }
}

// The bytes of each allocation's narrowest view: what one shadow entry stands for.
void find_granules(Program& program, const Kernel& kernel) {
  program.granules.assign(kernel.ops.size(), 0);
  each_op(kernel, kernel.body, [&](OpId id) {
    for (ValueId v : kernel.op(id).results) {
      if (!kernel.type(v).is_buffer()) continue;
      const Op* alloc = alloc_of(kernel, v);
      if (!alloc) continue;
      int& granule = program.granules[kernel.value(alloc->result()).op.index];
      int bytes = byte_width(kernel.type(v).element);
      granule = granule ? std::min(granule, bytes) : bytes;
    }
  });
}

// Which shared buffers lie in bytes of others of their launch.
void find_overlays(Program& program, const Kernel& kernel) {
  program.overlaid_at.assign(kernel.ops.size(), -1);
  each_op(kernel, kernel.body, [&](OpId launch) {
    if (!kernel.op(launch).is<op::Launch>()) return;
    struct Place {
      OpId op;
      int64_t first, end;
    };
    std::vector<Place> places;
    each_op(kernel, kernel.op(launch).as<op::Launch>().body, [&](OpId id) {
      const op::Alloc* alloc = kernel.op(id).get<op::Alloc>();
      if (!alloc || alloc->offset == kUnplaced) return;
      const Type& type = kernel.type(kernel.op(id).result());
      places.push_back({id, alloc->offset, alloc->offset + type.element_count() * byte_width(type.element)});
    });
    for (const Place& a : places)
      for (const Place& b : places) {
        if (a.op == b.op || a.end <= b.first || b.end <= a.first) continue;
        program.overlaid_at[a.op.index] = a.first;
        program.overlaid_bytes = std::max(program.overlaid_bytes, a.end);
        program.overlaid_granule = std::min(program.overlaid_granule, program.granules[a.op.index]);
      }
  });
}

struct Written {
  Program& program;
  const Kernel& kernel;
  void mark(ValueId buffer) {
    while (const op::Subview* s = kernel.defined_by<op::Subview>(buffer)) buffer = s->buffer;
    if (kernel.value(buffer).op.valid()) program.written[kernel.params.size() + kernel.value(buffer).op.index] = true;
    for (size_t k = 0; k < kernel.params.size(); ++k)
      if (kernel.params[k].value == buffer) program.written[k] = true;
  }
};

void find_written(Program& program, const Kernel& kernel) {
  program.written.assign(kernel.params.size() + kernel.ops.size(), false);
  Written written{program, kernel};
  each_op(kernel, kernel.body, [&](OpId id) {
    const OpData& data = kernel.op(id).data;
    if (auto* o = data.get<op::ElementStore>()) written.mark(o->buffer);
    if (auto* o = data.get<op::Atomic>()) written.mark(o->buffer);
    if (auto* o = data.get<op::Store>()) written.mark(o->buffer);
    if (auto* o = data.get<op::Copy>()) written.mark(o->dst);
    if (auto* o = data.get<op::CopyAsync>()) written.mark(o->dst);
    if (auto* o = data.get<op::MemStore>()) written.mark(o->buffer);
    if (auto* o = data.get<op::MemAtomic>()) written.mark(o->buffer);
  });
}

bool writes_memory(const Kernel& kernel, RegionId region) {
  bool found = false;
  each_op(kernel, region,
          [&](OpId id) { found |= kernel.op(id).is<op::ElementStore>() || kernel.op(id).is<op::Atomic>(); });
  return found;
}

bool can_race(const Kernel& kernel) {
  bool found = kernel.form == Form::Thread || kernel.form == Form::Staged;
  each_op(kernel, kernel.body, [&](OpId id) {
    const OpData& data = kernel.op(id).data;
    found |= data.is<op::Simt>();
    if (auto* map = data.get<op::Map>()) found |= writes_memory(kernel, map->body);
  });
  return found;
}

}  // namespace

Program compile(const Kernel& kernel, const CompileOptions& options) {
  Program program;
  program.kernel = &kernel;
  if (options.machine) {
    program.lanes = options.machine->lanes;
    program.banks = options.machine->banks;
  }
  find_granules(program, kernel);
  find_overlays(program, kernel);
  find_written(program, kernel);
  program.tracks_touches = can_race(kernel);
  find_flaw(program);
  Emitter(program, kernel, options).compile_host();
  return program;
}

Emitter::Emitter(Program& program, const Kernel& kernel, const CompileOptions& options)
    : program_(program), kernel_(kernel), options_(options), uses_(use_counts(kernel)), home_(kernel.values.size()) {
  for (size_t r = 0; r < kernel.regions.size(); ++r) {
    for (ValueId v : kernel.regions[r].args) home_[v.index] = {uint32_t(r)};
    for (OpId o : kernel.regions[r].ops)
      for (ValueId v : kernel.op(o).results) home_[v.index] = {uint32_t(r)};
  }
}

uint32_t Emitter::open(FunctionKind kind, uint32_t width, Frame& frame) {
  frame = {.function = uint32_t(program_.functions.size()), .kind = kind, .width = width, .outer = frame_};
  program_.functions.push_back({.kind = kind, .width = width});
  return frame.function;
}

void Emitter::compile_host() {
  Frame frame;
  open(FunctionKind::Host, 1, frame);
  frame_ = &frame;
  for (ValueId v : kernel_.region(kernel_.body).args) code().arguments.push_back(define(v));
  region(kernel_.body);
  check_contract();
  emit(do_done);
  frame_ = nullptr;
}

// The arguments of the region become the function's, its yield the function's results.
uint32_t Emitter::compile_function(FunctionKind kind, uint32_t width, RegionId id) {
  Frame frame;
  uint32_t index = open(kind, width, frame);
  frame_ = &frame;
  uint32_t outer_op = op_;
  for (ValueId v : kernel_.region(id).args) {
    Location place = uses_[v.index] ? define(v) : Location{};
    code().arguments.push_back(place);
  }
  region(id);
  for (ValueId v : kernel_.terminator(id).as<op::Yield>().values) {
    Location place = find(v);
    code().results.push_back(place);
  }
  op_ = outer_op;
  emit(do_done);
  frame_ = frame.outer;
  return index;
}

Location Emitter::make(const Type& type) {
  Function& f = code();
  switch (type.kind) {
    case TypeKind::Scalar:
      return {Place::Register, scratch(), 1};
    case TypeKind::Vector:
      return {Place::Register, scratch(uint32_t(type.shape[0])), uint32_t(type.shape[0])};
    case TypeKind::Tile:
      return {Place::Tile, f.tiles++, 1};
    case TypeKind::Buffer:
      return {Place::View, f.views++, 1};
    case TypeKind::Token:
    case TypeKind::Flight:
    case TypeKind::Ring:
      return {Place::Handle, f.handles++, 1};
  }
  UNREACHABLE("a type has a kind");
}

uint32_t Emitter::scratch(uint32_t count) {
  uint32_t slot = code().registers * frame_->width;
  code().registers += count;
  return slot;
}

Location Emitter::define(ValueId v) {
  Location place = make(type(v));
  frame_->places[v.index] = place;
  return place;
}

std::vector<Location> Emitter::define_all(const std::vector<ValueId>& values) {
  std::vector<Location> places;
  for (ValueId v : values) places.push_back(define(v));
  return places;
}

// A value of a region around is copied into the frame when the function starts.
Location Emitter::find(Frame& frame, ValueId v) {
  if (auto it = frame.places.find(v.index); it != frame.places.end()) return it->second;
  INVARIANT(frame.outer, "an operand is defined before its use");
  Location from = find(*frame.outer, v);
  Frame* saved = frame_;
  frame_ = &frame;
  Location to = define(v);
  program_.functions[frame.function].captures.push_back({from, to});
  frame_ = saved;
  return to;
}

// In tile forms all scalars inside `simt` and `map` count as varying.
bool Emitter::is_uniform(ValueId v) const {
  return frame_->width == 1 || (frame_->kind == FunctionKind::Thread && !type(v).varying);
}

bool Emitter::is_last_use(ValueId v) const { return uses_[v.index] == 1 && home_[v.index] == current_; }

Instr& Emitter::emit(Handler run) {
  Instr i;
  i.run = run;
  i.op = op_;
  i.lanes = uint16_t(frame_->width);
  code().code.push_back(i);
  return code().code.back();
}

void Emitter::shape_lanes(Instr& i, ValueId result, bool operands_are_uniform) {
  bool is_one = is_uniform(result) && operands_are_uniform;
  i.lanes = is_one ? 1 : uint16_t(frame_->width);
  i.spreads = is_one && frame_->width > 1;
}

void Emitter::check_uniform(ValueId result, bool operands_are_uniform) {
  if (!is_uniform(result) || operands_are_uniform) return;
  Location place = find(result);
  for (uint32_t k = 0; k < place.count; ++k) emit(do_check_uniform).a = place.slot + k * frame_->width;
}

void Emitter::move(Location to, Location from, bool all_lanes, bool takes) {
  constexpr Handler kByPlace[] = {do_move, do_move_tile, do_move_view, do_move_handle};
  if (to.slot == kNoSlot || (to.place == from.place && to.slot == from.slot)) return;
  Instr& i = emit(to.place == Place::Register && all_lanes ? do_copy : kByPlace[int(to.place)]);
  i.dst = to.slot;
  i.a = from.slot;
  i.imm = int64_t(to.count);
  i.fast = takes;
}

// All moves read before any writes.
void Emitter::move_values(std::span<const Location> to, std::span<const ValueId> from, RegionId region) {
  std::vector<Location> sources;
  for (ValueId v : from) sources.push_back(find(v));
  auto is_target = [&](Location l) {
    return std::any_of(to.begin(), to.end(), [&](Location t) { return t.place == l.place && t.slot == l.slot; });
  };
  for (size_t k = 0; k < from.size(); ++k) {
    bool stays = to[k].place == sources[k].place && to[k].slot == sources[k].slot;
    if (stays || !is_target(sources[k])) continue;
    Location spare = make(type(from[k]));
    move(spare, sources[k], true, false);
    sources[k] = spare;
  }
  for (size_t k = 0; k < from.size(); ++k) {
    bool takes = uses_[from[k].index] == 1 && home_[from[k].index] == region;
    move(to[k], sources[k], is_uniform(from[k]), takes);
  }
}

uint32_t Emitter::add_data(TileData data) {
  code().data.push_back(std::move(data));
  return uint32_t(code().data.size() - 1);
}

RegionAccess Emitter::access(ValueId buffer, const std::vector<ValueId>& offsets, const std::vector<int64_t>& axes,
                             const std::vector<Bounds>& bounds, std::vector<int64_t> shape, Number pad) {
  RegionAccess a{.view = view(buffer), .axes = axes, .shape = std::move(shape), .bounds = bounds, .pad = pad};
  for (ValueId v : offsets) a.offsets.push_back(reg(v));
  a.bounds.resize(a.offsets.size(), Bounds::Unknown);
  return a;
}

void Emitter::use_operands(TileData& data, std::span<const ValueId> values) {
  for (ValueId v : values) {
    data.operands.push_back(find(v));
    data.shapes.push_back(type(v).shape);
    data.types.push_back(type(v).element);
    data.steals.push_back(is_last_use(v));
  }
}

void Emitter::region(RegionId id) {
  RegionId outer = current_;
  current_ = id;
  for (OpId o : kernel_.region(id).ops) {
    if (!kernel_.op(o).is<op::Yield>()) op(o);
    if (id == kernel_.body) check_requirements();
  }
  current_ = outer;
}

void Emitter::op(OpId id) {
  uint32_t outer = op_;
  op_ = id.index;
  const Op& o = kernel_.op(id);
  visit(o.data, [&](const auto& data) { on(data, o); });
  op_ = outer;
}

}  // namespace tilec::interp
