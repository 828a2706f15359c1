// The call of an exported function in C: its flat arguments, and the layout of its args struct.
//
// Order of both: parameters as written, dims, [workspace, its size], stream. In the struct, which begins with its own
// size, a tensor is its pointer, its shape and, where the parameter states strides, its strides; so it has no dims, and
// a name is checked wherever it appears. C lays it out: each member at a multiple of its size.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "host/export.h"

namespace tilec::host {

// "tile_f16": the C type of an element. Narrower elements than a byte are packed.
std::string_view c_type(Scalar element);

struct Argument {
  enum class Kind : uint8_t { Tensor, Scalar, Dim, Workspace, WorkspaceBytes, Stream };
  Kind kind = Kind::Tensor;
  std::string name;    // safe in C and C++
  std::string type;    // "const tile_f16 *": what stands before the name
  size_t index = 0;    // of the parameter or the dim
};
std::vector<Argument> arguments(const Export& exported, const Library& library);

// Byte offsets of the struct's members.
struct ArgsLayout {
  std::vector<int> parameters;
  int workspace = -1;  // then its size
  int stream = 0;
  int size = 0;
};
ArgsLayout args_layout(const Export& exported);

}  // namespace tilec::host
