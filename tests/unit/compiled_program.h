// A program in C around a compiled kernel.
#pragma once
#include <doctest/doctest.h>

#include "command.h"

namespace tilec::command {

// `stem`.tile as an object of all levels, of the least one and as C text, each linked with main.c, which says that it is fine.
inline void expect_fine(Folder& folder, const std::string& stem) {
  for (const char* how : {"", "--target=x86-64", "--target=c"}) {
    std::string code = stem + (std::string_view(how) == "--target=c" ? ".c" : ".o");
    Ran made = folder.tilec(stem + ".tile -o " + code + " --header " + stem + ".h " + how);
    CHECK_MESSAGE(made.code == 0, made.out);
    Ran ran = folder.run("cc main.c " + code + " -o main -pthread -lm && ./main");
    CHECK_MESSAGE(ran.out == "fine\n", std::string(how), ": ", ran.out);
  }
}

}  // namespace tilec::command
