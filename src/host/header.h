// The C header of an object: clean as C99, C11, C++11 and C++20, beside any number of its like and beside the headers
// of a device's own toolkit, in any order.
#pragma once
#include <string>

#include "host/export.h"

namespace tilec::host {

std::string header_text(const Library& library);

}  // namespace tilec::host
