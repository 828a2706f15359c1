// Runs the command as its users do, in a folder of its own whose name has a space.
#pragma once
#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace tilec::command {

struct Ran {
  int code;
  std::string out;  // both streams
  bool says(std::string_view part) const { return out.find(part) != std::string::npos; }
  int times(std::string_view part) const {
    int count = 0;
    for (size_t at = 0; (at = out.find(part, at)) != std::string::npos; at += part.size()) ++count;
    return count;
  }
};

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("tilec test " + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return name;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Ran run(const std::string& command) const {
    std::FILE* pipe = popen(("cd '" + path.string() + "' && " + command + " 2>&1").c_str(), "r");
    REQUIRE(pipe);
    Ran ran{0, {}};
    char buffer[4096];
    for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) ran.out.append(buffer, n);
    ran.code = WEXITSTATUS(pclose(pipe));
    return ran;
  }
  Ran tilec(const std::string& words) const { return run("'" TILEC_BINARY "' " + words); }
};

}  // namespace tilec::command
