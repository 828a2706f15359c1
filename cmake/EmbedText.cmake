# Run as a script: writes OUT, a C++ file that defines tilec::SYMBOL() over the texts of FILES (separated by |).
string(REPLACE "|" ";" files "${FILES}")
set(rows "")
foreach(file ${files})
  file(READ "${file}" text)
  get_filename_component(name "${file}" NAME)
  string(APPEND rows "    {\"${name}\", R\"EMBEDDED(${text})EMBEDDED\"},\n")
endforeach()
file(WRITE "${OUT}" "#include \"base/embedded.h\"\n
namespace tilec {
static constexpr EmbeddedFile k_${SYMBOL}[] = {\n${rows}};
std::span<const EmbeddedFile> ${SYMBOL}();
std::span<const EmbeddedFile> ${SYMBOL}() { return k_${SYMBOL}; }
}  // namespace tilec\n")
