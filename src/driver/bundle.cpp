#include "driver/bundle.h"

#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "driver/options.h"

namespace tilec {

namespace {

namespace fs = std::filesystem;

// A failure has nobody to hand these down to it.
std::vector<std::string> g_words;
const SourceMap* g_sources = nullptr;

constexpr std::string_view kLibrary = "std/";  // the names of embedded files begin so

std::string quoted_for_shell(std::string_view word) {
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void write_text(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// Sources keep their places below `files`, so that imports find each other; standard input comes from a file.
std::string script_of(const fs::path& folder) {
  std::string words, input;
  for (size_t i = 0; g_sources && i < g_sources->size(); ++i) {
    FileId file{uint32_t(i)};
    std::string name(g_sources->name(file));
    if (name.starts_with(kLibrary)) continue;
    if (name == "<stdin>") input = " < \"$here\"/stdin";
    fs::path place = name == "<stdin>" ? folder / "stdin" : folder / "files" / fs::absolute(name).lexically_normal().relative_path();
    write_text(place, g_sources->text(file));
  }
  for (std::string word : g_words) {
    const bool is_compiler = words.empty();
    if (is_compiler && word.find('/') != word.npos) word = fs::absolute(word).string();
    bool is_source = fs::path(word).is_absolute() && fs::exists(folder / "files" / fs::path(word).relative_path()) && !is_compiler;
    words += (words.empty() ? "" : " ") + (is_source ? "\"$here\"/files" : std::string()) + quoted_for_shell(word);
  }
  fs::path place = folder / "files" / fs::current_path().relative_path();
  fs::create_directories(place);
  return "#!/bin/sh\nhere=$(cd \"$(dirname \"$0\")\" && pwd)\ncd \"$here\"/files" + quoted_for_shell(fs::current_path().string()) +
         " && exec " + words + input + "\n";
}

void write_bundle(std::string_view message) {
  std::error_code none;
  fs::path folder = fs::temp_directory_path(none);
  folder = (none ? fs::path(".") : folder) / ("tilec-bundle-" + std::to_string(getpid()));
  try {
    write_text(folder / "message", std::string("tilec ") + kVersion + "\n" + std::string(message) + "\n");
    write_text(folder / "again.sh", script_of(folder));
    fs::permissions(folder / "again.sh", fs::perms::owner_exec, fs::perm_options::add);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tilec: the bundle for a report could not be written: %s\n", error.what());
    return;
  }
  std::fprintf(stderr, "tilec: %s reproduces this; please report it with that folder\n", (folder / "again.sh").c_str());
}

// The process is lost anyway: what may not be called in a handler is called nevertheless, a second signal ends it.
void on_signal(int number) {
  std::signal(number, SIG_DFL);
  std::fprintf(stderr, "tilec: internal error: %s\n", strsignal(number));
  write_bundle(std::string("signal: ") + strsignal(number));
  std::_Exit(kInternal);
}

}  // namespace

void watch_sources(const SourceMap* sources) { g_sources = sources; }

void keep_bundles(std::vector<std::string> words) {
  g_words = std::move(words);
  set_check_hook(write_bundle);
  // A stack that has run out cannot hold the handler's frame.
  constexpr size_t kStackBytes = 1 << 18;
  static char stack[kStackBytes];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // the write fails instead, and says why
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action{};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(number, &action, nullptr);
  }
}

}  // namespace tilec
