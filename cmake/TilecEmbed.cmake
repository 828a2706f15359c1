# tilec_embed(TARGET SYMBOL files...): builds text files into TARGET as std::span<const EmbeddedFile> tilec::SYMBOL(),
# which the user declares. Files keep the order given.
function(tilec_embed target symbol)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]" OUTPUT_VARIABLE files)
  list(JOIN files "|" joined)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND}
      -DOUT=${out} -DSYMBOL=${symbol} "-DFILES=${joined}" -P ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
