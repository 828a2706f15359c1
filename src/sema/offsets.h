// How far apart two parts of a tile begin, from how their offsets are computed.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "ir/kernel.h"
#include "prove/linear.h"

namespace tilec::sema {

class Offsets {
 public:
  explicit Offsets(const ir::Kernel& kernel) : kernel_(kernel) {}

  // a - b; none: it is not known.
  std::optional<int64_t> distance(ir::ValueId a, ir::ValueId b) {
    const prove::Linear apart = sum(a) - sum(b);
    return apart.is_constant() ? std::optional(apart.constant) : std::nullopt;
  }

 private:
  prove::Linear sum(ir::ValueId v);
  prove::AtomId atom(ir::ValueId v);

  const ir::Kernel& kernel_;
  std::map<std::string, prove::AtomId> atoms_;  // what is computed alike is one
};

}  // namespace tilec::sema
