// What the passes that ask the prover share: the boxes that operations touch, and the names that messages use.
#pragma once
#include "ir/kernel.h"
#include "prove/prover.h"

namespace tilec::passes {

// A part of a buffer or of a fragment: one offset and one size a dimension.
struct Box {
  ir::ValueId base;
  std::span<const ir::ValueId> offsets;
  std::vector<int64_t> sizes;
  std::vector<bool> is_axis;  // of the tile; the other dimensions are indices of one element
};
// `axes` names for each axis of `shape` its dimension.
Box box_of(ir::ValueId base, std::span<const ir::ValueId> offsets, const ir::Axes& axes, std::span<const int64_t> shape);

// As the source calls a buffer or tile; kNoName where it does not.
constexpr std::string_view kNoName = "this tile";
std::string name_of(const ir::Kernel& kernel, ir::ValueId v);
bool is_device_memory(const ir::Type& type);  // parameters and workspaces

// "for N = 1, i = 0 " or nothing: the beginning of a sentence about a counterexample.
std::string example_text(const prove::Prover& prover, const prove::Model& model);

}  // namespace tilec::passes
