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

namespace {

// A device or a pipe is written in place: there is nothing to compare with and nothing to rename over.
bool is_in_place(const std::string& path) {
  struct stat status{};
  return path == "-" || (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode));
}

bool is_same(const OutputFile& file) {
  std::string ignored;
  auto old = file.keep_if_same ? read_file(file.path, ignored) : std::nullopt;
  return old && *old == file.content;
}

// What is written, behind links that need not lead anywhere yet.
std::string target_of(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::filesystem::path at = path;
  std::error_code none;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(at, none); ++i) {
    const std::filesystem::path to = std::filesystem::read_symlink(at, none);
    at = to.is_absolute() ? to : at.parent_path() / to;
  }
  return at.string();
}

std::string aside_of(const std::string& path) { return target_of(path) + ".tmp" + std::to_string(getpid()); }

// Who may read a file stays as it is. Where that cannot be had, the file is another one's, and it is as the folder says.
void keep_mode(const std::string& from, const std::string& to) {
  struct stat status{};
  if (stat(from.c_str(), &status) == 0) (void)chmod(to.c_str(), status.st_mode & 07777);
}

bool write_all(const std::string& path, std::string_view content, std::string& error) {
  std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  bool ok = file && std::fwrite(content.data(), 1, content.size(), file) == content.size();
  if (file) ok = (file == stdout ? std::fflush(file) : std::fclose(file)) == 0 && ok;
  if (!ok) error = std::strerror(errno);
  return ok;
}

}  // namespace

bool write_files(const std::vector<OutputFile>& files, std::string& failed, std::string& error) {
  std::vector<const OutputFile*> replaced;
  bool ok = true;
  for (const OutputFile& file : files) {
    if (is_in_place(file.path) || is_same(file)) continue;
    replaced.push_back(&file);
    ok = write_all(aside_of(file.path), file.content, error);
    if (!ok) failed = file.path;
    if (!ok) break;
    keep_mode(file.path, aside_of(file.path));
  }
  for (const OutputFile& file : files) {
    if (!ok || !is_in_place(file.path)) continue;
    ok = write_all(file.path, file.content, error);
    if (!ok) failed = file.path;
  }
  for (const OutputFile* file : replaced) {
    if (ok && std::rename(aside_of(file->path).c_str(), target_of(file->path).c_str()) == 0) continue;
    if (ok) error = std::strerror(errno), failed = file->path, ok = false;
    std::remove(aside_of(file->path).c_str());
  }
  return ok;
}

bool write_file(const std::string& path, std::string_view content, bool keep_if_same, std::string& error) {
  std::string failed;
  return write_files({{path, std::string(content), keep_if_same}}, failed, error);
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
