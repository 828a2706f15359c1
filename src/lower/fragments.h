// An operand of a matrix product as the fragments of its atom.
#pragma once
#include <map>

#include "ir/type.h"
#include "layout/transform.h"

namespace tilec::lower {

// Fragments by place in the product: block along m (or n), step along k.
struct Fragments {
  layout::RegLayout layout;
  layout::Division division;
  std::map<std::pair<int, int>, int64_t> repeat_at;
};
Fragments fragments_of(layout::RegLayout layout, const layout::RegLayout& atom, int k_axis);

layout::Shape shape_of(const ir::Type& type);

}  // namespace tilec::lower
