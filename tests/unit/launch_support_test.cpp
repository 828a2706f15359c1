// The embedded forms of the support code.
#include "target/launch_support/launch_support.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "doctest/doctest.h"

using namespace tilec;

TEST_SUITE("launch_support") {
  TEST_CASE("the text is whole: it compiles alone, without a warning") {
    std::string_view text = target::support_text();
    CHECK(text.find(target::abi_text()) != std::string_view::npos);
    CHECK(text.find("#include \"") == std::string_view::npos);
    auto folder = std::filesystem::temp_directory_path() / "tilec_support_text";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "support.c") << text;
    std::string file = (folder / "support.c").string();
    std::string command = "cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only '" + file + "'";
    CHECK(std::system(command.c_str()) == 0);
    std::filesystem::remove_all(folder);
  }

  TEST_CASE("bitcode is chosen by architecture and system, and holds no path of the machine that built it") {
    auto bitcode = target::support_bitcode("x86_64-unknown-linux-gnu");
    REQUIRE(bitcode.size() > 1000);
    CHECK(bitcode[0] == 'B');
    CHECK(bitcode[1] == 'C');
    std::string_view bytes(reinterpret_cast<const char*>(bitcode.data()), bitcode.size());
    CHECK(bytes.find("tile1_parallel_for") != std::string_view::npos);
    CHECK(bytes.find("/launch_support") == std::string_view::npos);
    CHECK(target::support_bitcode("x86_64-pc-windows-msvc").empty());
    CHECK(target::support_bitcode("riscv64-linux-gnu").empty());
    auto arm = target::support_bitcode("aarch64-linux-gnu");
    CHECK((arm.empty() || arm[0] == 'B'));
  }
}
