#include "sema/view.h"

#include "ir/overlap.h"
#include "sema/elementwise.h"
#include "sema/types.h"

namespace tilec::sema {
namespace {

// Where may memory be touched? Host arithmetic sees none.
bool is_reachable(Instance& in, const View& view, Span span) {
  const Memory& memory = in.memory(view.memory);
  if (in.level == Level::Host || in.level == Level::Constant) {
    not_allowed(in, span, "an access to `" + memory.name + "`", "outside of a launch");
    return false;
  }
  if (memory.may_be_null && !in.present.contains(view.memory)) {
    in.at(span).error(diag::MayBeNull, memory.name).note(memory.span, diag::DeclaredHere, memory.name)
        .help("test it first: `if " + memory.name + " { ... }`");
    return false;
  }
  return true;
}

}  // namespace

View whole(Instance& in, ir::ValueId buffer, MemoryId memory, std::vector<Extent> shape) {
  View view{.buffer = buffer, .memory = memory, .offsets = {}, .axes = {}, .shape = std::move(shape)};
  view.offsets.resize(in.type(buffer).shape.size());
  for (size_t i = 0; i < view.offsets.size(); ++i) view.axes.push_back(int64_t(i));
  return view;
}

ir::ValueId extent_value(Instance& in, const Extent& extent) {
  return extent.is_fixed() ? in.builder.index(extent.fixed) : extent.value;
}

View allocate(Instance& in, const ast::Name& name, ir::Space space, Scalar element, std::vector<Extent> extents) {
  op::Alloc alloc{.extents = {}, .name = std::string(name.text)};
  Shape shape;
  for (const Extent& extent : extents) {
    shape.push_back(extent.fixed);
    alloc.extents.push_back(extent_value(in, extent));
  }
  ir::ValueId buffer = in.builder.value(std::move(alloc), ir::buffer_type(space, element, shape),
                                        std::string(name.text));
  MemoryId memory = in.new_memory({.name = std::string(name.text), .span = name.span, .space = space, .access = {}});
  return whole(in, buffer, memory, std::move(extents));
}

bool is_readable(Instance& in, const View& view, Span span) {
  const Memory& memory = in.memory(view.memory);
  if (memory.access == ir::Access::Out) {
    in.at(span).error(diag::ReadOfOut, memory.name).note(memory.span, diag::DeclaredHere, memory.name)
        .help("declare it `inout` to read it: what the caller left in it, or an earlier launch has written");
    return false;
  }
  return is_reachable(in, view, span);
}

bool is_writable(Instance& in, const View& view, Span span, bool is_read) {
  const Memory& memory = in.memory(view.memory);
  if (memory.access == ir::Access::In) {
    in.at(span).error(diag::AssignToImmutable, memory.name, "an `in` parameter")
        .note(memory.span, diag::DeclaredHere, memory.name)
        .fix(Span{memory.span.file, memory.span.begin, memory.span.begin}, is_read ? "inout " : "out ", is_read ? "declare it `inout`" : "declare it `out` or `inout`");
    return false;
  }
  if (view.constant_at.valid()) {
    in.at(span).error(diag::AssignToImmutable, in.text(span), "an `in` parameter")
        .note(view.constant_at, diag::DeclaredHere, in.text(view.constant_at))
        .fix(Span{view.constant_at.file, view.constant_at.begin, view.constant_at.begin}, "inout ", "declare it `out` or `inout`");
    return false;
  }
  return is_reachable(in, view, span);
}

std::vector<ir::ValueId> offsets_of(Instance& in, const View& view) {
  std::vector<ir::ValueId> offsets = view.offsets;
  for (ir::ValueId& offset : offsets)
    if (!offset.valid()) offset = in.builder.index(0);
  return offsets;
}

ir::BoundsList unknown_bounds(const View& view) { return ir::BoundsList(view.offsets.size(), ir::Bounds::Unknown); }

Value load_element(Instance& in, const View& view, Span span) {
  if (!is_readable(in, view, span)) return Poison{};
  in.builder.set_span(span);
  return Dynamic{in.builder.value(op::ElementLoad{view.buffer, offsets_of(in, view)},
                                  ir::scalar_type(in.type(view.buffer).element))};
}

namespace {

ir::Number pad_of(const View& view) { return view.pad ? view.pad->number : ir::Number{}; }

// The zero of the element when the program names no padding: floats and integers hold it in different fields.
ir::Number pad_number(const Instance& in, const View& view) {
  if (view.pad) return pad_of(view);
  return is_float(in.type(view.buffer).element) ? ir::Number::real(0) : ir::Number::integer(0);
}

std::optional<Shape> tile_shape(Instance& in, const View& view, Span span) {
  if (auto shape = fixed_shape(view.shape)) return has_few_elements(in, *shape, span) ? shape : std::nullopt;
  in.at(span).error(diag::ExtentNotConstant, in.text(span))
      .help("cut a tile out of it: `" + in.memory(view.memory).name + ".tile(...)` or `[lo +: LENGTH]`");
  return std::nullopt;
}

}  // namespace

ir::ValueId load_tile(Instance& in, const View& view, Span span) {
  if (!require_block(in, span, "a whole tile") || !is_readable(in, view, span)) return {};
  auto shape = tile_shape(in, view, span);
  if (!shape) return {};
  in.builder.set_span(span);
  Span read = view.region_span.valid() ? view.region_span : span;
  if (view.pad || read != span) in.kernel.read_notes.push_back({span, read, view.pad_span});
  ir::Type type = ir::tile_type(in.type(view.buffer).element, *shape);
  return in.builder.value(op::Load{.buffer = view.buffer, .offsets = offsets_of(in, view), .axes = view.axes,
                                   .pad = pad_number(in, view), .bounds = unknown_bounds(view), .label = in.label},
                          type);
}

namespace {

void store_element(Instance& in, const View& view, const Operand& value, Span span) {
  Value x = implicitly(in, value, in.type(view.buffer).element);
  if (x.is_poison()) return;
  ir::ValueId id = emit(in, x);
  in.builder.set_span(span);
  in.builder.add(op::ElementStore{view.buffer, offsets_of(in, view), id});
}

bool have_one_element(Instance& in, Scalar from, Scalar to, Span span) {
  if (from == to) return true;
  report_implicit(in, span, from, to);
  return false;
}

bool have_one_shape(Instance& in, const Shape& left, Shape right, Span span, Span value, const Memory& memory) {
  std::replace(right.begin(), right.end(), kNewAxis, int64_t(1));
  if (left == right) return true;
  auto said = in.at(span).error(diag::ShapeMismatch, shape_text(left), shape_text(right));
  said.mark(value, shape_text(right)).note(memory.span, diag::DeclaredHere, memory.name);
  help_on_single(said, left, right);
  return false;
}

void copy(Instance& in, const View& to, const View& from, const Shape& shape, Span span, Span read) {
  in.builder.set_span(span);
  in.kernel.read_notes.push_back({span, from.region_span.valid() ? from.region_span : read, from.pad_span});
  in.builder.add(op::Copy{.src = from.buffer, .src_offsets = offsets_of(in, from), .src_axes = from.axes,
                          .src_bounds = unknown_bounds(from), .dst = to.buffer, .dst_offsets = offsets_of(in, to),
                          .dst_axes = to.axes, .dst_bounds = unknown_bounds(to), .shape = shape,
                          .pad = pad_number(in, from), .label = in.label});
}

// What may be the memory that is written is read as a whole before.
Operand read_first(Instance& in, const Operand& value, Scalar element) {
  Operand tile{fragment(in, value), value.span};
  if (tile.value.is_poison() || element_of(in, tile.value) == element) return tile;
  return {map_elements(in, std::span(&tile, 1), value.span, [&](std::span<const Operand> x) {
            return convert(in, x[0].value, element, ir::ConvertMode::Nearest, value.span);
          }), value.span};
}

}  // namespace

void store(Instance& in, const View& view, const Operand& value, Span span, bool converts) {
  if (value.value.is_poison() || !is_writable(in, view, span)) return;
  if (view.pad_span.valid())
    return void(not_allowed(in, view.pad_span, "padding", "where something is written: what hangs over an edge is dropped"));
  if (view.is_element()) return store_element(in, view, value, span);
  if (!require_block(in, span, "a whole tile")) return;
  auto shape = tile_shape(in, view, span);
  if (!shape) return;
  Scalar element = in.type(view.buffer).element;
  const Memory& memory = in.memory(view.memory);
  Operand source = value;
  auto* from = value.value.as<View>();
  if (from && !from->is_element()) {
    if (!is_readable(in, *from, value.span)) return;
    auto other = tile_shape(in, *from, value.span);
    if (!other || !have_one_shape(in, *shape, *other, span, value.span, memory)) return;
    if (!converts && !have_one_element(in, in.type(from->buffer).element, element, value.span)) return;
    if (!may_overlap(in.builder.kernel(), view.buffer, from->buffer)) return copy(in, view, *from, *shape, span, value.span);
    source = read_first(in, value, element);
  }
  source.value = adapted(in, source, element);
  ir::ValueId tile = materialise(in, source, &*shape);
  if (!tile.valid() || !have_one_shape(in, *shape, in.type(tile).shape, span, value.span, memory)) return;
  if (!have_one_element(in, in.type(tile).element, element, value.span)) return;
  in.builder.set_span(span);
  in.builder.add(op::Store{.tile = tile, .buffer = view.buffer, .offsets = offsets_of(in, view), .axes = view.axes,
                           .bounds = unknown_bounds(view), .label = in.label});
}

}  // namespace tilec::sema
