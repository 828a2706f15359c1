// A vector of plain data whose first elements are stored in place, for the many short lists that are copied often.
#pragma once
#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

namespace tilec {

template <class T, uint32_t kInPlace>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  SmallVector() = default;
  SmallVector(std::initializer_list<T> list) { assign(list.begin(), uint32_t(list.size())); }
  SmallVector(const SmallVector& other) { copy(other); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) copy(other);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) release(), take(other);
    return *this;
  }
  ~SmallVector() { release(); }

  T* data() { return is_in_place() ? reinterpret_cast<T*>(place_) : heap(); }
  const T* data() const { return is_in_place() ? reinterpret_cast<const T*>(place_) : heap(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }

  void reserve(size_t wanted) {
    if (wanted > capacity_) grow(uint32_t(wanted));
  }
  void push_back(T element) {
    if (size_ == capacity_) grow(capacity_ * 2);
    data()[size_++] = element;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }
  friend auto operator<=>(const SmallVector& a, const SmallVector& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  bool is_in_place() const { return capacity_ == kInPlace; }
  T* heap() const {
    T* at;
    std::memcpy(&at, place_, sizeof at);
    return at;
  }
  // What lies in place is copied whole: a few moves, where a loop over the elements would be a call.
  void copy(const SmallVector& other) {
    if (is_in_place() && other.is_in_place()) {
      std::memcpy(place_, other.place_, sizeof place_);
      size_ = other.size_;
    } else {
      assign(other.data(), other.size_);
    }
  }
  void assign(const T* from, uint32_t count) {
    size_ = 0;
    reserve(count);
    std::copy(from, from + count, data());
    size_ = count;
  }
  void grow(uint32_t capacity) {
    T* larger = new T[capacity];
    std::copy(begin(), end(), larger);
    release();
    std::memcpy(place_, &larger, sizeof larger);
    capacity_ = capacity;
  }
  void take(SmallVector& other) {
    std::memcpy(place_, other.place_, sizeof place_);
    size_ = other.size_, capacity_ = other.capacity_;
    other.size_ = 0, other.capacity_ = kInPlace;
  }
  void release() {
    if (!is_in_place()) delete[] heap();
    capacity_ = kInPlace;
  }

  uint32_t size_ = 0, capacity_ = kInPlace;
  static_assert(kInPlace * sizeof(T) >= sizeof(T*));
  alignas(T) std::byte place_[kInPlace * sizeof(T)];  // the elements, or the address of where they are
};

}  // namespace tilec
