#include "interp/tensor.h"

#include "base/check.h"
#include "interp/value.h"

namespace tilec::interp {

namespace {

std::vector<int64_t> dense_strides(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

}  // namespace

Tensor::Tensor(Scalar element, std::vector<int64_t> extents)
    : element(element), extents(std::move(extents)), strides(dense_strides(this->extents)) {
  bytes.assign(size_t(reach() * byte_width(element)), 0);
}

Tensor::Tensor(Scalar element, std::vector<int64_t> extents, std::vector<int64_t> strides)
    : element(element), extents(std::move(extents)), strides(std::move(strides)) {
  INVARIANT(this->extents.size() == this->strides.size(), "a tensor has one stride a dimension");
  bytes.assign(size_t(reach() * byte_width(element)), 0);
}

int64_t Tensor::size() const {
  int64_t count = 1;
  for (int64_t extent : extents) count *= extent;
  return count;
}

int64_t Tensor::reach() const {
  int64_t last = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 0) return 0;
    last += (extents[d] - 1) * strides[d];
  }
  return last + 1;
}

bool Tensor::is_dense() const { return reach() == size(); }

int64_t Tensor::offset(std::span<const int64_t> index) const {
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    INVARIANT(index[d] >= 0 && index[d] < extents[d], "an index lies inside its tensor");
    at += index[d] * strides[d];
  }
  return at;
}

int64_t Tensor::offset_of(int64_t k) const {
  int64_t at = 0;
  for (size_t d = extents.size(); d-- > 0;) {
    at += k % extents[d] * strides[d];
    k /= extents[d];
  }
  return at;
}

ir::Number Tensor::number(int64_t k) const {
  return to_number(element, load_element(element, &bytes[size_t(offset_of(k) * byte_width(element))]));
}
void Tensor::set(int64_t k, ir::Number value) {
  store_element(element, &bytes[size_t(offset_of(k) * byte_width(element))], to_slot(element, value));
}
double Tensor::real(int64_t k) const {
  ir::Number n = number(k);
  return n.is_float ? n.f : double(n.i);
}
int64_t Tensor::integer(int64_t k) const {
  ir::Number n = number(k);
  return n.is_float ? int64_t(n.f) : n.i;
}
void Tensor::set_real(int64_t k, double value) {
  set(k, is_float(element) ? ir::Number::real(value) : ir::Number::integer(int64_t(value)));
}
void Tensor::set_integer(int64_t k, int64_t value) { set(k, ir::Number::integer(value)); }

double Tensor::at(std::initializer_list<int64_t> index) const {
  int64_t offset = this->offset(std::span(index.begin(), index.size()));
  Slot s = load_element(element, &bytes[size_t(offset * byte_width(element))]);
  return is_float(element) ? s.f : double(s.i);
}

}  // namespace tilec::interp
