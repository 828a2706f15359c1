// A program in C around a compiled kernel.
#pragma once
#include <doctest/doctest.h>

#include "command.h"

namespace tilec::command {

// What such programs begin with: CHECK ends the program with the line and the last message, PART looks into that message.
constexpr const char* kCallerHead = R"(#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "k.h"
#define CHECK(x) do { if (!(x)) { printf("%d: %s (%s)\n", __LINE__, #x, tile1_last_message()); return 1; } } while (0)
#define PART(text) (strstr(tile1_last_message(), text) != NULL)
#line 1
)";

// Compiles `kernels` as k.tile to an object of all levels, to one of the least level and to C text, each linked with main.c, the
// head and `caller`, which says that it is fine.
inline void expect_fine(Folder& folder, const std::string& kernels, const std::string& caller) {
  folder.write("k.tile", kernels);
  folder.write("main.c", std::string(kCallerHead) + caller);
  for (const char* how : {"", "--target=x86-64", "--target=c"}) {
    std::string code = std::string_view(how) == "--target=c" ? "k.c" : "k.o";
    Ran made = folder.tilec("k.tile -o " + code + " --header k.h " + how);
    CHECK_MESSAGE(made.code == 0, made.out);
    Ran ran = folder.run("cc main.c " + code + " -o main -pthread -lm && ./main");
    CHECK_MESSAGE(ran.out == "fine\n", std::string(how), ": ", ran.out);
  }
}

}  // namespace tilec::command
