// Reading and writing files. Outputs are written aside and renamed, so that nobody sees half of one.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilec {

// None when it cannot be read, and `error` says why. "-": standard input.
std::optional<std::string> read_file(const std::string& path, std::string& error);
// True when done; else `error` says why. "-": standard output. With `keep_if_same`, a file whose content would not change
// keeps its time stamp.
bool write_file(const std::string& path, std::string_view content, bool keep_if_same, std::string& error);
// The same of several; those that are written in place come before any is replaced. Where one cannot be written, none of those that are replaced has been. `failed`: its path.
struct OutputFile {
  std::string path, content;
  bool keep_if_same = false;
};
bool write_files(const std::vector<OutputFile>& files, std::string& failed, std::string& error);
// By name, or, where both are there, by what the names lead to; devices may be named twice.
bool is_same_file(const std::string& a, const std::string& b);
std::string folder_of(const std::string& path);  // with its slash; "" for none
std::string stem_of(const std::string& path);    // the name without folder and suffix

}  // namespace tilec
