// A number that the dims and the scalars of a kernel decide, in floating point: an estimate needs no exactness, and nothing leaves its
// range. Nodes name dims and parameters by their place in the kernel, which no pass changes.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace tilec::ir {

struct Kernel;

class Formula {
 public:
  enum class Kind : uint8_t { Number, Dim, Param, Add, Sub, Mul, Div, Min, Max, Ceil, Floor };
  struct Node {
    Kind kind = Kind::Number;
    double number = 0;      // of Number
    uint32_t a = 0, b = 0;  // operands, nodes in front of this one; of Dim and Param: `a` is which
  };

  Formula(double number = 0) : nodes_{{.number = number}} {}
  static Formula dim(size_t index) { return leaf(Kind::Dim, index); }
  static Formula param(size_t index) { return leaf(Kind::Param, index); }

  // What numbers alone decide is a number again.
  friend Formula operator+(const Formula& a, const Formula& b) { return joined(Kind::Add, a, b); }
  friend Formula operator-(const Formula& a, const Formula& b) { return joined(Kind::Sub, a, b); }
  friend Formula operator*(const Formula& a, const Formula& b) { return joined(Kind::Mul, a, b); }
  friend Formula operator/(const Formula& a, const Formula& b) { return joined(Kind::Div, a, b); }
  friend Formula min(const Formula& a, const Formula& b) { return joined(Kind::Min, a, b); }
  friend Formula max(const Formula& a, const Formula& b) { return joined(Kind::Max, a, b); }
  friend Formula ceil(const Formula& a) { return joined(Kind::Ceil, a, {}); }
  friend Formula floor(const Formula& a) { return joined(Kind::Floor, a, {}); }

  // The last is the number itself.
  const std::vector<Node>& nodes() const { return nodes_; }
  bool is_number() const { return nodes_.size() == 1 && nodes_[0].kind == Kind::Number; }
  double number() const { return nodes_[0].number; }
  // `value`: of a Dim or Param.
  double evaluate(const std::function<double(const Node&)>& value) const;
  // With the names of dims and parameters; `ceil(M / 128) * 3`.
  std::string text(const Kernel& kernel) const;

 private:
  static Formula leaf(Kind kind, size_t index);
  static Formula joined(Kind kind, const Formula& a, const Formula& b);
  std::string text(const Kernel& kernel, uint32_t node, int around) const;
  std::vector<Node> nodes_;
};

double apply(Formula::Kind kind, double a, double b);

}  // namespace tilec::ir
