// Text to an image, by the toolkit's assembler as a process of its own.
#include "target/cuda/assemble.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "target/cuda/machine.h"
#include "target/cuda/machine_code.h"
#include "target/cuda/said.h"

extern char** environ;

namespace tilec::target::cuda {

namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) { return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path); }

// A number of its own, not that of the cores: it is written into the image, and an image is the same wherever it is made. Releases
// before 12.1 refuse the option, and say its name.
constexpr std::string_view kFunctionsAtOnce = "split-compile", kHowMany = "=8";

constexpr size_t kMostSaid = 16 << 20, kMostImage = size_t(1) << 30, kMostOfLine = 400;  // bytes that are looked at

// A file in memory: whatever ends this process, nothing stays behind. Others find it under a path, as long as this process runs.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : file_(memfd_create(name, MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (file_ >= 0) close(file_);
  }
  int number() const { return file_; }
  std::string path() const { return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_); }
  bool write(std::string_view text) const {
    while (!text.empty()) {
      ssize_t count = ::write(file_, text.data(), text.size());
      if (count < 0 && errno != EINTR) return false;
      if (count > 0) text.remove_prefix(size_t(count));
    }
    return file_ >= 0;
  }
  bool clear() const { return ftruncate(file_, 0) == 0 && lseek(file_, 0, SEEK_SET) == 0; }
  // The first bytes of it, so many at most.
  std::string contents(size_t most) const {
    std::string out(std::min(size_t(std::max<off_t>(lseek(file_, 0, SEEK_END), 0)), most), 0);
    for (size_t at = 0; at < out.size();) {
      ssize_t count = pread(file_, out.data() + at, out.size() - at, off_t(at));
      if (count <= 0) return {};
      at += size_t(count);
    }
    return out;
  }

 private:
  int file_;
};

// How it ended: empty where it did with 0. What it says goes to `said`.
std::string run(const std::vector<std::string>& words, const MemoryFile& to, const MemoryFile& said) {
  if (!to.clear() || !said.clear()) return "has no place for what it makes: " + std::string(std::strerror(errno));
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int shown : {STDOUT_FILENO, STDERR_FILENO}) posix_spawn_file_actions_adddup2(&actions, said.number(), shown);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t child = 0;
  int failure = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure) return "cannot be started: " + std::string(std::strerror(failure));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno == ECHILD) return "";  // who started us ignores how children end: what it made tells
    else if (errno != EINTR) return "was lost: " + std::string(std::strerror(errno));
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) ? "ended with " + std::to_string(WEXITSTATUS(status)) : "";
}

// The first line that says something, as far as it can be printed.
std::string first_line(const std::string& text, const MemoryFile& from) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (size_t at = line.find(from.path() + ","); at != line.npos) line.replace(at, from.path().size(), "its text");
    std::erase_if(line, [](char c) { return uint8_t(c) < 32 || uint8_t(c) > 126; });
    if (line.size() > kMostOfLine) line = line.substr(0, kMostOfLine) + "...";
    if (line.find_first_not_of(' ') != line.npos) return line;
  }
  return "";
}

constexpr std::string_view kMagic = "\177ELF";
bool is_image(std::string_view bytes) { return bytes.starts_with(kMagic); }

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
  MemoryFile from("kernels.ptx"), to("kernels.cubin"), said("said");
  if (!from.write(text) || to.number() < 0 || said.number() < 0) return {.problem = "there is no memory for its files"};
  std::vector<std::string> words = {assembler.string(), "-arch=" + std::string(machine.name), from.path(), "-o", to.path(), "-v"};
  words.push_back("--" + std::string(kFunctionsAtOnce) + std::string(kHowMany));
  std::string ending = run(words, to, said);
  bool is_refused = !ending.empty() && said.contents(kMostSaid).find(kFunctionsAtOnce) != std::string::npos;
  if (is_refused) words.pop_back(), ending = run(words, to, said);
  std::string image = is_image(to.contents(kMagic.size())) ? to.contents(kMostImage) : to.contents(1);
  std::string by = version_in(image);
  if (ending.empty() && is_image(image)) {
    std::vector<AssembledFunction> slow = slow_functions(said.contents(kMostSaid));
    for (AssembledFunction& function : slow)
      if (function.stack > 0) function.in_loops = stack_accesses_in_loops(image, function.name, generation_of(machine));
    return {.image = std::move(image), .by = "ptxas" + (by.empty() ? "" : " " + by), .slow = std::move(slow)};
  }
  if (ending.empty()) ending = image.empty() ? "made no file" : "made a file that is no image";
  std::string reason = first_line(said.contents(kMostSaid), from);
  return {.problem = "`" + assembler.string() + "` " + ending + (reason.empty() ? "" : ": " + reason)};
}

}  // namespace tilec::target::cuda
