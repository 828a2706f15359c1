// A tensor of the caller's: what a run reads and writes.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/scalar.h"
#include "ir/attributes.h"

namespace tilec::interp {

struct Tensor {
  Scalar element = Scalar::F32;
  std::vector<int64_t> extents, strides;  // in elements
  std::vector<uint8_t> bytes;

  Tensor() = default;
  // Dense and row-major, all zero bits.
  Tensor(Scalar element, std::vector<int64_t> extents);
  // With strides; the bytes reach the last element.
  Tensor(Scalar element, std::vector<int64_t> extents, std::vector<int64_t> strides);

  int64_t size() const;   // number of elements
  int64_t reach() const;  // one past the last element's offset
  bool is_dense() const;
  int64_t offset(std::span<const int64_t> index) const;
  // The offset of the k-th element in row-major order.
  int64_t offset_of(int64_t k) const;

  ir::Number number(int64_t k) const;  // the k-th element in row-major order
  void set(int64_t k, ir::Number value);
  double real(int64_t k) const;
  int64_t integer(int64_t k) const;
  void set_real(int64_t k, double value);
  void set_integer(int64_t k, int64_t value);
  double at(std::initializer_list<int64_t> index) const;

  // f(k) for every element in row-major order.
  template <class F>
  void fill(F&& f) {
    for (int64_t k = 0, n = size(); k < n; ++k) set_real(k, double(f(k)));
  }
};

}  // namespace tilec::interp
