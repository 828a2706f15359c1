// Parts of the compiler that are libraries of their own, `../lib/tilec/libtilec-NAME.so` beside the program. They stand on large
// libraries of others, and most runs need neither: a part is loaded when it is first asked for.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tilec {

// What a part gives under the name `tilec_NAME` begins with this.
struct PartHeader {
  std::string_view version;  // of tilec
  size_t layout;             // of what goes in and out: tells parts of another build
};

// Stays loaded until the process ends. Where it cannot be loaded, or is of another build, the process ends with a message and the
// exit code of a broken environment.
const PartHeader& load_part(const std::string& name, size_t layout);

// `Table` begins with its `PartHeader header`.
template <class Table>
const Table& load_part_as(const std::string& name, size_t layout) {
  static_assert(offsetof(Table, header) == 0);
  return reinterpret_cast<const Table&>(load_part(name, layout));
}

}  // namespace tilec
