// The words and precedences of the tree's enumerations.
#include "syntax/ast.h"

namespace tilec::ast {
namespace {

struct BinaryRow {
  std::string_view text;
  int precedence;
};
// In the order of BinaryOp. `as` binds tighter than all of them, `is` like a comparison.
constexpr BinaryRow kBinary[] = {
    {"||", 1}, {"&&", 2}, {"==", 3}, {"!=", 3}, {"<", 3}, {"<=", 3}, {">", 3},  {">=", 3}, {"|", 4}, {"^", 5},
    {"&", 6},  {"<<", 7}, {">>", 7}, {"+", 8},  {"-", 8}, {"*", 9},  {"/", 9}, {"%", 9},  {"@", 9},
};
static_assert(std::size(kBinary) == size_t(BinaryOp::MatrixMultiply) + 1);

}  // namespace

std::string_view spelling(UnaryOp op) {
  constexpr std::string_view kWords[] = {"-", "!", "~"};
  return kWords[size_t(op)];
}

std::string_view spelling(BinaryOp op) { return kBinary[size_t(op)].text; }
int precedence(BinaryOp op) { return kBinary[size_t(op)].precedence; }

std::string_view spelling(Space space) {
  constexpr std::string_view kWords[] = {"", "shared", "fragment", "local", "workspace", "tensor_memory"};
  return kWords[size_t(space)];
}

std::string_view spelling(LoopKind kind) {
  constexpr std::string_view kWords[] = {"", "range", "parallel", "pipelined", "unroll", "vectorized", ""};
  return kWords[size_t(kind)];
}

std::string_view spelling(LaunchOptionKind kind) {
  constexpr std::string_view kWords[] = {"threads", "cluster", "persistent", "raster", "split"};
  return kWords[size_t(kind)];
}

std::string_view spelling(Direction direction) {
  constexpr std::string_view kWords[] = {"in", "out", "inout"};
  return kWords[size_t(direction)];
}

}  // namespace tilec::ast
