# tilec_bitcode(LIBRARY SOURCE NAME DEPENDS): SOURCE, C of the launcher, as bitcode for each host triple whose libc headers are
# there; LIBRARY gets arrays NAME_x86_64_bitcode and NAME_aarch64_bitcode, as launch_support/bitcode.h has them.
find_program(TILEC_CLANG NAMES clang-19 HINTS /usr/lib/llvm-19/bin REQUIRED)
set(TILEC_LAUNCH_SUPPORT ${CMAKE_CURRENT_LIST_DIR})

# Debian keeps another architecture's libc under /usr/TRIPLE.
function(tilec_bitcode library source name depends)
  foreach(triple x86_64-linux-gnu aarch64-linux-gnu)
    string(REGEX MATCH "^[^-]*" architecture ${triple})
    set(headers /usr/${triple}/include)
    set(output ${name}_${architecture})
    if(architecture STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR OR EXISTS ${headers}/pthread.h)
      set(include)
      set(options)
      if(architecture STREQUAL aarch64)
        set(options -mno-outline-atomics)  # libgcc has the outlined ones, libc has not
      endif()
      if(NOT architecture STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
        set(include -isystem ${headers})
      endif()
      # Run in the source folder, so that no path of this machine gets into the module.
      file(RELATIVE_PATH support ${CMAKE_CURRENT_SOURCE_DIR} ${TILEC_LAUNCH_SUPPORT})
      add_custom_command(
        OUTPUT ${output}.bc
        COMMAND ${TILEC_CLANG} --target=${triple} -std=c11 -O2 -fPIC -fvisibility=hidden -Qn -Wall -Wextra
                -Wpedantic -Werror -I./${support}
                "-DTILE_ENTRY=__attribute__((visibility(\"hidden\")))" ${include} ${options} -emit-llvm -c ${source}
                -o ${CMAKE_CURRENT_BINARY_DIR}/${output}.bc
        WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
        DEPENDS ${depends} VERBATIM)
    else()
      message(STATUS "No ${headers}: objects for ${triple} cannot be made")
      add_custom_command(OUTPUT ${output}.bc COMMAND ${CMAKE_COMMAND} -E touch ${output}.bc)
    endif()
    add_custom_command(
      OUTPUT ${output}.cpp
      COMMAND ${CMAKE_COMMAND} -DINPUT=${output}.bc -DNAME=${output} -DOUTPUT=${output}.cpp
              -P ${TILEC_LAUNCH_SUPPORT}/embed_bytes.cmake
      DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${output}.bc ${TILEC_LAUNCH_SUPPORT}/embed_bytes.cmake)
    target_sources(tilec_${library} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${output}.cpp)
  endforeach()
endfunction()
