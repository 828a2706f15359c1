# Writes the bytes of a file as a C++ array named NAME_bitcode.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <cstdint>
#include <span>

namespace tilec::target {
static const uint8_t bytes[] = {${bytes}0};
extern const std::span<const uint8_t> ${NAME}_bitcode;
const std::span<const uint8_t> ${NAME}_bitcode(bytes, sizeof bytes - 1);
}  // namespace tilec::target
")
