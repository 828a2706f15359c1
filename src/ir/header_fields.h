// The parts of a kernel beside its body, as fields: the printer and the parser walk them as they walk operations.
#pragma once
#include <concepts>

#include "ir/kernel.h"

namespace tilec::ir {

namespace field {
struct Subject {};  // an attribute that is always written, without its name, where it stands among the operands
}  // namespace field

template <class T, class S>
concept Of = std::same_as<std::remove_const_t<T>, S>;

template <Of<Kernel> T, class F>
void each_field(T& kernel, F&& f) {
  f(field::Subject{}, "name", kernel.name);
  f(field::Attribute{}, "form", kernel.form);
  f(field::Attribute{}, "fast_math", kernel.fast_math);
  f(field::Attribute{}, "doc", kernel.doc);
}
template <Of<Dim> T, class F>
void each_field(T& dim, F&& f) {
  f(field::Subject{}, "name", dim.name);
  f(field::Value{}, "value", dim.value);
  f(field::Attribute{}, "fixed", dim.fixed);
}
template <Of<Param> T, class F>
void each_field(T& param, F&& f) {
  f(field::Subject{}, "name", param.name);
  f(field::Value{}, "value", param.value);
  f(field::Attribute{}, "access", param.access);
  f(field::Attribute{}, "may_alias", param.may_alias);
  f(field::Attribute{}, "may_be_null", param.may_be_null);
  f(field::Attribute{}, "extents", param.extents);
  f(field::Attribute{}, "strides", param.strides);
  f(field::Attribute{}, "type", param.type_text);
  f(field::Attribute{}, "doc", param.doc);
}
template <Of<Requirement> T, class F>
void each_field(T& requirement, F&& f) {
  f(field::Value{}, "condition", requirement.condition);
  f(field::Subject{}, "text", requirement.text);
}
template <Of<Schedule> T, class F>
void each_field(T& schedule, F&& f) {
  f(field::Attribute{}, "raster", schedule.raster);
  f(field::Attribute{}, "backwards", schedule.backwards);
  f(field::Attribute{}, "split", schedule.split);
  f(field::Attribute{}, "cluster", schedule.cluster);
  f(field::Attribute{}, "persistent", schedule.persistent);
}
template <Of<Role> T, class F>
void each_field(T& role, F&& f) {
  f(field::Subject{}, "name", role.name);
  f(field::Attribute{}, "warps", role.warps);
  f(field::Attribute{}, "registers", role.registers);
}
template <Of<Placement> T, class F>
void each_field(T& placement, F&& f) {
  f(field::Subject{}, "label", placement.label);
  f(field::Attribute{}, "role", placement.role);
  f(field::Attribute{}, "stage", placement.stage);
  f(field::Attribute{}, "order", placement.order);
}

template <Of<Pipeline> T, class F>
void each_field(T& pipeline, F&& f) {
  f(field::Subject{}, "name", pipeline.name);
  f(field::Attribute{}, "tiles", pipeline.tiles);
  f(field::Attribute{}, "depth", pipeline.depth);
  f(field::Attribute{}, "in_flight", pipeline.in_flight);
}
template <Of<PinnedLayout> T, class F>
void each_field(T& pinned, F&& f) {
  f(field::Subject{}, "name", pinned.name);
  f(field::Attribute{}, "layout", pinned.layout);
}
template <Of<Required> T, class F>
void each_field(T& required, F&& f) {
  f(field::Subject{}, "need", required.need);
}

// How a field of an operation is written where its kind alone does not say.
constexpr bool is_suffix(std::string_view field) { return field == "fn" || field == "how"; }  // binary.add, shuffle.xor
constexpr bool is_subject(std::string_view field) { return field == "number"; }               // constant 3

}  // namespace tilec::ir
