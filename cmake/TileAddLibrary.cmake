# tile_add_library(NAME SOURCES file.tile... [TARGETS machine...] [PREFIX text] [OPTIONS word...])
#
# A static library of the kernels that the sources export. Whoever links to it finds their headers: file.tile gives
# file.h. Sources that a source imports are tracked. TARGETS as in `tilec --target`; left out, every level of the CPU that
# is compiled for. PREFIX stands before the name of every exported function. OPTIONS go to tilec as they are.
function(tile_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "PREFIX" "SOURCES;TARGETS;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCES)
    message(FATAL_ERROR "tile_add_library(${name} SOURCES file.tile... [TARGETS ...] [PREFIX ...] [OPTIONS ...])")
  endif()
  if(NOT ARG_TARGETS AND CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(ARG_TARGETS aarch64)
  endif()
  set(options ${ARG_OPTIONS})
  if(ARG_TARGETS)
    list(JOIN ARG_TARGETS "," targets)
    list(APPEND options --target=${targets})
  endif()
  if(ARG_PREFIX)
    list(APPEND options --prefix=${ARG_PREFIX})
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.tile)
  file(MAKE_DIRECTORY ${folder}/include)
  set(objects)
  foreach(source IN LISTS ARG_SOURCES)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(GET source STEM LAST_ONLY stem)
    set(object ${folder}/${stem}.o)
    set(header ${folder}/include/${stem}.h)
    # -MT stands in the file as it is given; Make and Ninja read a space as the end of a name.
    string(REPLACE " " "\\ " target "${object}")
    if(object IN_LIST objects)
      message(FATAL_ERROR "tile_add_library(${name}): two sources are named ${stem}.tile")
    endif()
    add_custom_command(
      OUTPUT ${object}
      BYPRODUCTS ${header}
      COMMAND tilec::tilec compile ${options} -o ${object} --header ${header} -MD -MF ${object}.d -MT ${target} ${source}
      DEPENDS ${source} $<TARGET_FILE:tilec::tilec>
      DEPFILE ${object}.d
      COMMENT "Compiling kernels of ${stem}.tile"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()

  add_library(${name} STATIC ${objects})
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  if(CMAKE_C_COMPILER_LOADED)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  else()
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
  target_include_directories(${name} INTERFACE ${folder}/include)
  # The threads of the C library, which are a library of their own in older ones.
  target_link_libraries(${name} INTERFACE -pthread)
endfunction()
