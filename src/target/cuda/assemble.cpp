// Text to an image, by the toolkit's assembler as a process of its own.
#include "target/cuda/assemble.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "target/cuda/said.h"

extern char** environ;

namespace tilec::target::cuda {

namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) { return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path); }

std::string contents(const fs::path& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return {};
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A number of its own, not that of the cores: it is written into the image, and an image is the same wherever it is made. Releases
// before 12.1 refuse the option, and say its name.
constexpr std::string_view kFunctionsAtOnce = "split-compile", kHowMany = "=8";

// A folder of our own for the files that go in and out.
struct Workplace {
  fs::path path;
  Workplace() {
    std::error_code none;
    std::string name = (fs::temp_directory_path(none) / "tilec-XXXXXX").string();
    if (!none && mkdtemp(name.data())) path = name;
  }
  ~Workplace() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
};

// How it ended: empty where it did with 0. What it says goes to `said`.
std::string run(const std::vector<std::string>& words, const fs::path& said) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  int failure = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure) return "cannot be started: " + std::string(std::strerror(failure));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return "was lost: " + std::string(std::strerror(errno));
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) ? "ended with " + std::to_string(WEXITSTATUS(status)) : "";
}

// The first line that says something, as far as it can be printed.
std::string first_line(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::erase_if(line, [](char c) { return uint8_t(c) < 32 || c == 127; });
    if (line.find_first_not_of(' ') != line.npos) return line;
  }
  return "";
}

bool is_image(std::string_view bytes) { return bytes.starts_with("\177ELF"); }

// An image says which release of the toolkit has made it.
std::string version_in(const std::string& image) {
  constexpr std::string_view kBefore = "Cuda compilation tools, release ";
  size_t at = image.find(kBefore);
  if (at == image.npos) return {};
  at += kBefore.size();
  return image.substr(at, image.find_first_not_of("0123456789.", at) - at);
}

}  // namespace

// PATH, then where the toolkit is usually put.
std::string find_assembler() {
  std::string places = std::getenv("PATH") ? std::getenv("PATH") : "";
  places += ":/usr/local/cuda/bin:/opt/cuda/bin";
  for (size_t at = 0; at <= places.size();) {
    size_t end = std::min(places.find(':', at), places.size());
    fs::path candidate = fs::path(places.substr(at, end - at)) / "ptxas";
    if (end > at && is_program(candidate)) return candidate.string();
    at = end + 1;
  }
  return {};
}

Assembled assemble(std::string_view text, const Machine& machine, const std::string& tool) {
  fs::path assembler = tool.empty() ? find_assembler() : tool;
  if (assembler.empty()) return {.problem = "no `ptxas` is found in PATH or where its toolkit is usually put; `--ptxas` names one", .is_missing = true};
  if (!is_program(assembler)) return {.problem = "`" + assembler.string() + "` is no program"};
  Workplace place;
  fs::path from = place.path / "kernels.ptx", to = place.path / "kernels.cubin", said = place.path / "said";
  if (place.path.empty() || !(std::ofstream(from, std::ios::binary) << text << std::flush)) return {.problem = "its files cannot be written to the folder for temporary ones"};
  std::vector<std::string> words = {assembler.string(), "-arch=" + std::string(machine.name), from.string(), "-o", to.string(), "-v"};
  words.push_back("--" + std::string(kFunctionsAtOnce) + std::string(kHowMany));
  std::string ending = run(words, said);
  bool is_refused = !ending.empty() && contents(said).find(kFunctionsAtOnce) != std::string::npos;
  if (is_refused) words.pop_back(), ending = run(words, said);
  std::string image = contents(to);
  std::string by = version_in(image);
  if (ending.empty() && is_image(image))
    return {.image = std::move(image), .by = "ptxas" + (by.empty() ? "" : " " + by), .slow = slow_functions(contents(said))};
  if (ending.empty()) ending = image.empty() ? "made no file" : "made a file that is no image";
  std::string reason = first_line(contents(said));
  return {.problem = "`" + assembler.string() + "` " + ending + (reason.empty() ? "" : ": " + reason)};
}

}  // namespace tilec::target::cuda
