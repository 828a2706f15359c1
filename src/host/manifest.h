// The manifest of an object: what its header says, as JSON for build systems and bindings.
#pragma once
#include <string>

#include "host/export.h"

namespace tilec::host {

std::string manifest_text(const Library& library);

}  // namespace tilec::host
