// A text file that is built into the program; `tilec_embed` of the build makes tables of them.
#pragma once
#include <span>
#include <string_view>

namespace tilec {

struct EmbeddedFile {
  std::string_view name, text;
};

}  // namespace tilec
