#include "driver/run_data.h"

#include <cmath>
#include <random>

namespace tilec {

namespace {

constexpr double kMostElements = 1 << 28;  // of a tensor, in the memory of the interpreter

// Of tiles and shared memory.
bool has_too_large(const ir::Kernel& kernel) {
  return std::ranges::any_of(kernel.values, [&](const ir::Value& v) {
    double elements = 1;
    for (int64_t extent : kernel.types[v.type].shape) elements *= double(std::max<int64_t>(extent, 1));
    return elements > kMostElements;
  });
}

// Zeros of the parameter's extents; nothing where these cannot be computed or are too large, or where elements lie before the first one.
std::optional<interp::Tensor> tensor_for(const ir::Kernel& kernel, const ir::Param& p, const Dims& dims) {
  std::vector<int64_t> extents, strides;
  for (ir::ValueId v : p.extents) {
    auto extent = host_value(kernel, v, dims);
    if (!extent || *extent < 0) return std::nullopt;
    extents.push_back(*extent);
  }
  for (ir::ValueId v : p.strides) strides.push_back(host_value(kernel, v, dims).value_or(1));
  if (std::ranges::any_of(strides, [](int64_t stride) { return stride < 0; })) return std::nullopt;
  double elements = 1, reach = 1;
  for (int64_t extent : extents) elements *= double(extent);
  for (size_t axis = 0; axis < strides.size(); ++axis) reach += double(extents[axis]) * std::abs(double(strides[axis]));
  if (std::max(elements, reach) > kMostElements) return std::nullopt;
  Scalar element = kernel.type(p.value).element;
  return strides.empty() ? interp::Tensor(element, extents) : interp::Tensor(element, extents, strides);
}

// The name of the dim that is this extent; none where it is an expression.
const std::string* dim_named(const ir::Kernel& kernel, ir::ValueId extent) {
  for (const ir::Dim& dim : kernel.dims)
    if (dim.value == extent) return &dim.name;
  return nullptr;
}

// ---- numbers

bool fits(Scalar type, const Json& json) {
  if (auto integer = json.as_integer()) {
    if (is_signed(type)) return *integer >= integer_min(type) && *integer <= int64_t(integer_max(type));
    return *integer >= 0 && uint64_t(*integer) <= integer_max(type);
  }
  auto natural = json.as_unsigned();
  return natural && !is_signed(type) && *natural <= integer_max(type);
}

// A float of the file, whole or not, or one of the words for those that JSON lacks.
std::optional<double> real_of(const Json& json) {
  if (auto word = json.as_string()) {
    if (*word == "nan") return NAN;
    if (*word == "inf" || *word == "-inf") return *word == "inf" ? INFINITY : -INFINITY;
    return std::nullopt;
  }
  return json.as_number();
}

// The number in the parameter's type; nothing where it does not fit. Floats are rounded, but not to infinity.
std::optional<ir::Number> number_of(Scalar type, const Json& json) {
  if (type == Scalar::Bool) {
    if (auto truth = json.as_bool()) return ir::Number::integer(*truth);
    auto integer = json.as_integer();
    return integer && (*integer == 0 || *integer == 1) ? std::optional(ir::Number::integer(*integer)) : std::nullopt;
  }
  if (!is_float(type)) {
    if (!fits(type, json)) return std::nullopt;
    auto natural = json.as_unsigned();
    return ir::Number::integer(natural ? int64_t(*natural) : *json.as_integer());
  }
  auto real = real_of(json);
  if (!real) return std::nullopt;
  double rounded = round_to(type, *real);
  bool is_lost = std::isfinite(*real) && (!std::isfinite(rounded) || (std::fabs(*real) > 1 && std::fabs(rounded - *real) > std::fabs(*real) / 8));
  return is_lost ? std::nullopt : std::optional(ir::Number::real(rounded));
}

// ---- lists

// The extents of nested lists along their first elements.
std::vector<int64_t> shape_of(const Json& list) {
  std::vector<int64_t> shape;
  for (const Json* at = &list; at->as_array(); at = &(*at)[0]) {
    shape.push_back(int64_t(at->size()));
    if (at->size() == 0) break;
  }
  return shape;
}

// The numbers in row-major order; false where lists of one depth have different lengths.
bool flatten(const Json& list, const std::vector<int64_t>& shape, size_t depth, std::vector<const Json*>& numbers) {
  auto array = list.as_array();
  if (!array) {
    numbers.push_back(&list);
    return depth == shape.size();
  }
  if (depth == shape.size() || int64_t(array->size()) != shape[depth]) return false;
  for (const Json& item : *array)
    if (!flatten(item, shape, depth + 1, numbers)) return false;
  return true;
}

bool is_tensor(const ir::Kernel& kernel, const ir::Param& p) { return kernel.type(p.value).is_buffer(); }

// Dims and integers of the file by name, then what lists say of dims.
std::string find_dims(const Json& file, const ir::Kernel& kernel, Dims& dims) {
  for (const ir::Dim& dim : kernel.dims)
    if (dim.fixed) dims[dim.name] = *dim.fixed;
  for (const ir::Dim& dim : kernel.dims)
    if (const Json& value = file[dim.name]; !value.is_null() && !dims.contains(dim.name)) {
      if (!value.as_integer()) return "`" + dim.name + "` is a dim and has to be a whole number of 64 bits";
      dims[dim.name] = *value.as_integer();
    }
  for (const ir::Param& p : kernel.params) {
    const Json& value = file[p.name];
    if (!is_tensor(kernel, p)) {
      if (value.as_integer()) dims[p.name] = *value.as_integer();
      continue;
    }
    std::vector<int64_t> shape = shape_of(value);
    for (size_t axis = 0; shape.size() == p.extents.size() && axis < shape.size(); ++axis)
      if (auto name = dim_named(kernel, p.extents[axis]); name && !dims.contains(*name)) dims[*name] = shape[axis];
  }
  for (const ir::Dim& dim : kernel.dims)
    if (!dims.contains(dim.name)) return "the dim `" + dim.name + "` is missing: no list gives it, so it has to be named";
  return "";
}

std::string extents_text(const std::vector<int64_t>& extents) {
  std::string text;
  for (int64_t extent : extents) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

// Fills the tensor; a sentence where the list does not suit it.
std::string fill(const std::string& name, const Json& list, interp::Tensor& tensor) {
  std::vector<const Json*> numbers;
  std::vector<int64_t> shape = shape_of(list);
  bool is_flat = shape.size() <= 1;
  if (!list.as_array() && !(tensor.extents.empty() && list.as_number())) return "`" + name + "` is a tensor and needs a list";
  if (!flatten(list, shape, 0, numbers)) return "the lists of `" + name + "` have different lengths";
  bool is_nested_well = shape == tensor.extents || tensor.size() == 0;
  if (int64_t(numbers.size()) != tensor.size() || (!is_flat && !is_nested_well))
    return "`" + name + "` is " + std::string(tilec::name(tensor.element)) + extents_text(tensor.extents) + " with " + std::to_string(tensor.size()) +
           " elements, the list is " + extents_text(shape) + " with " + std::to_string(numbers.size());
  for (size_t k = 0; k < numbers.size(); ++k) {
    auto number = number_of(tensor.element, *numbers[k]);
    if (!number) return "element " + std::to_string(k) + " of `" + name + "`, " + numbers[k]->text() + ", is no " + std::string(tilec::name(tensor.element));
    tensor.set(int64_t(k), *number);
  }
  return "";
}

std::string add_number(const ir::Kernel& kernel, const ir::Param& p, const Json& value, Data& data) {
  Scalar type = kernel.type(p.value).element;
  if (value.is_null()) return "`" + p.name + "` is missing";
  auto number = number_of(type, value);
  if (!number) return "`" + p.name + "`, " + value.text() + ", is no " + std::string(name(type));
  data.arguments.push_back(*number);
  return "";
}

std::string add_tensor(const ir::Kernel& kernel, const ir::Param& p, const Json& file, const Dims& dims, size_t at, Data& data) {
  const Json& value = file[p.name];
  if (value.is_null() && p.may_be_null) {
    data.arguments.emplace_back();
    return "";
  }
  if (value.is_null() && p.access != ir::Access::Out) return "`" + p.name + "` is missing";
  auto tensor = tensor_for(kernel, p, dims);
  if (!tensor) return "the extents of `" + p.name + "` cannot be computed from the dims, or are too large to be interpreted, or its strides are negative";
  data.tensors[at] = std::move(*tensor);
  data.arguments.push_back(&data.tensors[at]);
  return value.is_null() ? "" : fill(p.name, value, data.tensors[at]);
}

}  // namespace

Data copy_of(const Data& given) {
  Data copy = given;
  for (size_t i = 0; i < copy.arguments.size(); ++i)
    if (auto* tensor = std::get_if<interp::Tensor*>(&copy.arguments[i])) *tensor = &copy.tensors[i];
  return copy;
}

std::optional<Data> make_data(const ir::Kernel& kernel, const Dims& dims, uint64_t seed) {
  if (has_too_large(kernel)) return std::nullopt;
  Data data;
  data.tensors.resize(kernel.params.size());
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const ir::Param& p = kernel.params[i];
    const ir::Type& type = kernel.type(p.value);
    auto number = [&]() { return is_float(type.element) ? normal(random) : double(random() % 8); };
    if (auto given = dims.find(p.name); !type.is_buffer() && given != dims.end()) {
      data.arguments.push_back(ir::Number::integer(wrap(type.element, given->second)));
      continue;
    }
    if (!type.is_buffer()) {
      data.arguments.push_back(is_float(type.element) ? ir::Number::real(std::fabs(number()) + 0.1) : ir::Number::integer(int64_t(number())));
      continue;
    }
    auto tensor = tensor_for(kernel, p, dims);
    if (!tensor) return std::nullopt;
    data.tensors[i] = std::move(*tensor);
    if (p.access != ir::Access::Out) data.tensors[i].fill([&](int64_t) { return number(); });
    data.arguments.push_back(&data.tensors[i]);
  }
  return data;
}

std::string unknown_name(const Json& file, const std::vector<const ir::Kernel*>& kernels) {
  auto is_named = [](const auto& list, const std::string& name) {
    return std::ranges::any_of(list, [&](const auto& item) { return item.name == name; });
  };
  for (const auto& [name, value] : *file.as_object()) {
    bool is_known = std::ranges::any_of(kernels, [&](const ir::Kernel* k) { return is_named(k->dims, name) || is_named(k->params, name); });
    if (!is_known) return name;
  }
  return "";
}

GivenData data_of(const Json& file, const ir::Kernel& kernel, const Dims& said) {
  GivenData out{"", said, {}};
  out.data.tensors.resize(kernel.params.size());
  out.problem = has_too_large(kernel) ? "its tiles are too large to be interpreted" : find_dims(file, kernel, out.dims);
  for (size_t i = 0; i < kernel.params.size() && out.problem.empty(); ++i) {
    const ir::Param& p = kernel.params[i];
    out.problem = is_tensor(kernel, p) ? add_tensor(kernel, p, file, out.dims, i, out.data) : add_number(kernel, p, file[p.name], out.data);
  }
  return out;
}

Json json_of(Scalar type, const ir::Number& number) {
  if (type == Scalar::Bool) return number.i != 0;
  if (!number.is_float) return is_signed(type) ? Json(number.i) : Json(uint64_t(number.i));
  if (std::isnan(number.f)) return "nan";
  if (std::isinf(number.f)) return number.f > 0 ? "inf" : "-inf";
  return number.f;
}

Json outputs_of(const ir::Kernel& kernel, const Data& data) {
  Json outputs = Json::object();
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const interp::Tensor& tensor = data.tensors[i];
    bool is_there = std::holds_alternative<interp::Tensor*>(data.arguments[i]);
    if (!is_there || kernel.params[i].access == ir::Access::In) continue;
    Json list = Json::array();
    for (int64_t k = 0; k < tensor.size(); ++k) list.push(json_of(tensor.element, tensor.number(k)));
    outputs.set(kernel.params[i].name, std::move(list));
  }
  return outputs;
}

}  // namespace tilec
