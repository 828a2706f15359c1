#include "driver/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace tilec {

namespace {

// A device may go on for ever.
constexpr size_t kMostMegabytes = 256;

std::optional<std::string> read_all(std::FILE* file, std::string& error) {
  std::string text;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
    text.append(buffer, n);
    if (text.size() <= kMostMegabytes << 20) continue;
    error = "it has more than " + std::to_string(kMostMegabytes) + " MiB";
    return std::nullopt;
  }
  if (!std::ferror(file)) return text;
  error = std::strerror(errno);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::string& error) {
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (!file) {
    error = std::strerror(errno);
    return std::nullopt;
  }
  auto text = read_all(file, error);
  if (file != stdin) std::fclose(file);
  return text;
}

bool write_file(const std::string& path, std::string_view content, bool keep_if_same, std::string& error) {
  if (path == "-") {
    bool ok = std::fwrite(content.data(), 1, content.size(), stdout) == content.size() && std::fflush(stdout) == 0;
    if (!ok) error = std::strerror(errno);
    return ok;
  }
  struct stat status{};
  bool exists = stat(path.c_str(), &status) == 0;
  // A device or a pipe is written in place: there is nothing to compare with and nothing to rename over.
  bool in_place = exists && !S_ISREG(status.st_mode);
  if (keep_if_same && exists && !in_place) {
    std::string ignored;
    if (auto old = read_file(path, ignored); old && *old == content) return true;
  }
  std::string aside = in_place ? path : path + ".tmp" + std::to_string(getpid());
  std::FILE* file = std::fopen(aside.c_str(), "wb");
  bool ok = file && std::fwrite(content.data(), 1, content.size(), file) == content.size();
  if (file) ok = std::fclose(file) == 0 && ok;
  if (ok && !in_place) ok = std::rename(aside.c_str(), path.c_str()) == 0;
  if (!ok) {
    error = std::strerror(errno);
    if (!in_place) std::remove(aside.c_str());
  }
  return ok;
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat one{}, other{};
  bool exist = stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0;
  if (exist) return S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  // What is not there yet may be named in several ways.
  std::error_code none;
  auto place = [&](const std::string& path) { return std::filesystem::weakly_canonical(std::filesystem::absolute(path, none), none); };
  return a == b || (place(a) == place(b) && !place(a).empty());
}

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash + 1);
}

std::string stem_of(const std::string& path) {
  std::string base = path.substr(folder_of(path).size());
  size_t dot = base.rfind('.');
  return dot == base.npos || dot == 0 ? base : base.substr(0, dot);
}

}  // namespace tilec
