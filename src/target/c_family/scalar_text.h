// Scalars as text in the languages of the C family: types, literals, and an expression for every scalar function. What is
// not one operator is a small helper function, printed once before its first user.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attributes.h"

namespace tilec::target {

// Spelling of a type in registers and of its family: `word` names it inside helpers' names.
std::string c_type(Scalar element);          // "float", "int32_t", "bool"; narrow floats are their bits
std::string c_unsigned_type(Scalar element);  // of the same width
std::string c_memory_type(Scalar element);   // as an element of memory
std::string c_literal(Scalar element, ir::Number number);

class ScalarText {
 public:
  // `function` stands before every helper, e.g. "static inline".
  explicit ScalarText(std::string function) : function_(std::move(function)) {}

  // Expressions over operands that are names or literals.
  std::string unary(ir::UnaryFn fn, Scalar element, const std::string& x);
  std::string binary(ir::BinaryFn fn, Scalar element, const std::string& a, const std::string& b);
  std::string fma(Scalar element, const std::string& a, const std::string& b, const std::string& c);
  std::string overflows(ir::BinaryFn fn, const std::string& a, const std::string& b);
  // Of a size and one more extent `b`: 0 where an extent is, -1 where 64 bits do not hold the product, -2 where an extent is negative.
  std::string size_product(const std::string& a, const std::string& b);
  std::string compare(ir::CompareFn fn, const std::string& a, const std::string& b);
  std::string convert(Scalar from, Scalar to, ir::ConvertMode mode, const std::string& x);
  std::string reduce_step(ir::ReduceFn fn, Scalar element, const std::string& a, const std::string& b);
  std::string atomic(ir::AtomicFn fn, ir::MemoryOrder order, Scalar element, const std::string& pointer,
                     const std::vector<std::string>& operands);

  // The helpers that the expressions so far need, in the order of their first use.
  const std::string& helpers() const { return helpers_; }

 private:
  std::string modular(std::string_view sign, Scalar element, const std::string& a, const std::string& b);
  std::string float_unary(ir::UnaryFn fn, Scalar element, const std::string& x);
  std::string float_binary(ir::BinaryFn fn, Scalar element, const std::string& a, const std::string& b);
  std::string integer_binary(ir::BinaryFn fn, Scalar element, const std::string& a, const std::string& b);
  std::string bool_binary(ir::BinaryFn fn, const std::string& a, const std::string& b);
  std::string saturate(Scalar from, Scalar to, const std::string& x);
  std::string widened(Scalar from, const std::string& x);              // a narrow float as f32 (narrow_text.cpp)
  std::string rounded(Scalar from, Scalar to, const std::string& x);  // an f32 or f64 as a narrow float
  // The name of a helper; `text` is its definition, with {T} the type, {U} the unsigned one, {N} its own name.
  std::string helper(std::string name, Scalar element, std::string_view text);

  std::string function_;
  std::string helpers_;
  std::map<std::string, bool> known_;
};

// `text` with every {key} replaced.
std::string filled(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values);

}  // namespace tilec::target
