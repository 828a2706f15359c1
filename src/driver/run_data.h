// What `tilec run` gives to a kernel: generated numbers, or those of a file (`--data`); and what came out, as JSON.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "diag/json.h"
#include "driver/run_dims.h"
#include "interp/interp.h"
#include "ir/kernel.h"

namespace tilec {

struct Data {
  std::vector<interp::Tensor> tensors;      // one a parameter, empty for scalars
  std::vector<interp::Argument> arguments;  // point into `tensors`
};

// The same numbers in tensors of their own.
Data copy_of(const Data& given);

// Random data of the parameters' types; integers small, so that products stay exact. Outputs hold zeros.
// Nothing where the extents cannot be computed from the dims, or are too large to be interpreted.
std::optional<Data> make_data(const ir::Kernel& kernel, const Dims& dims, uint64_t seed);

// Numbers of a file: an object of parameters and dims by name. Each answers with a sentence where it cannot be.
struct GivenData {
  std::string problem;  // empty: there is none
  Dims dims;
  Data data;
};
// The names in `file` that no kernel of these has; empty: none.
std::string unknown_name(const Json& file, const std::vector<const ir::Kernel*>& kernels);
// `said` are the dims of the command line, which go before those that lists have.
GivenData data_of(const Json& file, const ir::Kernel& kernel, const Dims& said);

// The tensors that the kernel writes, by name, each a flat list in row-major order.
Json outputs_of(const ir::Kernel& kernel, const Data& data);
// A number as JSON has it; "nan", "inf" and "-inf" are strings.
Json json_of(Scalar type, const ir::Number& number);

}  // namespace tilec
