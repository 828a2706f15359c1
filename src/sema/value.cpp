#include "sema/value.h"

#include "base/text.h"

namespace tilec::sema {
namespace {

std::string bracketed(const std::vector<std::string>& parts) { return "[" + join(parts, ", ") + "]"; }

struct Describe {
  const ir::Kernel& kernel;
  std::string operator()(const Poison&) const { return "a mistake"; }
  std::string operator()(const Nothing&) const { return "nothing"; }
  std::string operator()(const Const& c) const {
    if (!c.is_literal) return std::string(name(c.type));
    return c.type == Scalar::Index ? "an integer literal" : is_float(c.type) ? "a float literal" : "bool";
  }
  std::string operator()(const Dynamic& d) const { return describe(kernel.type(d.id)); }
  std::string operator()(const Tile& t) const { return describe(kernel.type(t.id)); }
  std::string operator()(const Elementwise& e) const {
    return std::string(name(kernel.type(e.result).element)) + shape_text(e.shape);
  }
  std::string operator()(const View& v) const {
    std::string element(name(kernel.type(v.buffer).element));
    return v.is_element() ? element : element + shape_text(v.shape);
  }
  std::string operator()(const Shapeless&) const { return "a tile of unknown shape"; }
  std::string operator()(const TypeValue& t) const { return "the type " + std::string(name(t.scalar)); }
  std::string operator()(const ShapeValue&) const { return "a shape"; }
  std::string operator()(const EnumType&) const { return "an enumeration"; }
  std::string operator()(const EnumValue& e) const { return std::string(e.type->name.text); }
  std::string operator()(const Text&) const { return "a string"; }
  std::string operator()(const ModuleRef&) const { return "a module"; }
  std::string operator()(const KernelRef&) const { return "a kernel"; }
  std::string operator()(const FnSet&) const { return "a function"; }
  std::string operator()(const Tuple&) const { return "a tuple"; }
};

}  // namespace

std::string shape_text(const Shape& shape) {
  std::vector<std::string> parts;
  for (int64_t extent : shape) parts.push_back(extent == kNewAxis ? "_" : extent < 0 ? "?" : std::to_string(extent));
  return bracketed(parts);
}

std::string shape_text(const std::vector<Extent>& extents) {
  std::vector<std::string> parts;
  for (const Extent& extent : extents) parts.push_back(extent.is_fixed() ? std::to_string(extent.fixed) : "?");
  return bracketed(parts);
}

std::string describe(const ir::Type& type) {
  std::string element(name(type.element));
  return type.is_scalar() ? element : element + shape_text(type.shape);
}

std::string describe(const ir::Kernel& kernel, const Value& value) { return std::visit(Describe{kernel}, value.data); }

std::optional<Shape> fixed_shape(const std::vector<Extent>& extents) {
  Shape shape;
  for (const Extent& extent : extents) {
    if (!extent.is_fixed()) return std::nullopt;
    shape.push_back(extent.fixed);
  }
  return shape;
}

std::vector<Extent> extents_of(const Shape& shape) {
  std::vector<Extent> extents;
  for (int64_t extent : shape) extents.push_back({extent, {}});
  return extents;
}

}  // namespace tilec::sema
