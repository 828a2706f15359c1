// The numbers that `tilec run` gives to a kernel: what --dim says, and else defaults that meet the kernel's contract.
#pragma once
#include <map>

#include "driver/options.h"
#include "sema/sema.h"

namespace tilec {

constexpr int64_t kDefaultDim = 33;   // odd on purpose: edges are what goes wrong
constexpr int64_t kDefaultBatch = 3;  // of an axis that counts matrices
constexpr int64_t kMostDim = 4096;    // that is tried where a contract asks for another

// By name: dims, and those integer parameters that --dim or a contract sets.
using Dims = std::map<std::string, int64_t>;

struct RunDims {
  Dims dims;
  std::vector<std::string> moved;   // got another number than the default, for the contract's sake
  std::vector<std::string> failed;  // for these no number was found that meets it
};

// What --dim says of all kernels. Nothing where it asks for what cannot be: that has been said.
std::optional<Dims> given_dims(const Options& options, const Program& program);
// What another kernel of the file has is passed over.
RunDims dims_of(const Dims& said, const ir::Kernel& kernel);

// The number that a value of the body has under these dims; nothing where it hangs on anything else.
std::optional<int64_t> host_value(const ir::Kernel& kernel, ir::ValueId v, const Dims& dims);

}  // namespace tilec
