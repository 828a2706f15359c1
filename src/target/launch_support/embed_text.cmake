# Writes abi.h, and support.c with its includes put in place, as C++ string literals.
file(READ ${SOURCE}/support.c text)
foreach(part support.h abi.h state.c cpu.c pool.c numbers.c checks.c launch.c args.c)
  file(READ ${SOURCE}/${part} content)
  string(REPLACE "#include \"${part}\"\n" "${content}" text "${text}")
endforeach()
string(FIND "${text}" "#include \"" left)
if(NOT left EQUAL -1)
  message(FATAL_ERROR "support.c includes a file that embed_text.cmake does not know")
endif()
file(READ ${SOURCE}/abi.h abi)
file(WRITE ${OUTPUT} "#include \"target/launch_support/launch_support.h\"

namespace tilec::target {
std::string_view support_text() { return R\"tilec(${text})tilec\"; }
std::string_view abi_text() { return R\"tilec(${abi})tilec\"; }
}  // namespace tilec::target
")
