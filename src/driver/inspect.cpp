// tilec inspect: what an object holds, from the manifest that it carries in a section of its own.
#include <cstring>

#include "diag/json.h"
#include "driver/files.h"
#include "driver/session.h"
#include "target/abi/export.h"

namespace tilec {

namespace {

// Offsets in the headers of a 64-bit little-endian ELF file.
constexpr size_t kSectionTable = 0x28, kEntrySize = 0x3A, kEntryCount = 0x3C, kNamesIndex = 0x3E, kHeaderSize = 0x40;
constexpr size_t kName = 0x00, kOffset = 0x18, kSize = 0x20, kLink = 0x28, kEntry = 0x40;
constexpr uint64_t kTooHigh = 0xFFFF;

template <class T> T number_at(std::string_view bytes, size_t at) {
  T value{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof value) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view part(std::string_view bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset ? bytes.substr(offset, size) : std::string_view();
}

// The bytes of all sections of this name; empty where the file is no such object or has none.
std::string section(std::string_view file, std::string_view wanted) {
  if (file.size() < kHeaderSize || !file.starts_with("\x7f" "ELF\x02\x01")) return {};
  auto table = number_at<uint64_t>(file, kSectionTable);
  uint64_t size = number_at<uint16_t>(file, kEntrySize);
  uint64_t count = number_at<uint16_t>(file, kEntryCount), names_at = number_at<uint16_t>(file, kNamesIndex);
  auto entry = [&](uint64_t i) { return size >= kEntry ? part(file, table + i * size, size) : std::string_view(); };
  // Numbers that the header has no room for stand in the first section.
  if (count == 0) count = number_at<uint64_t>(entry(0), kSize);
  if (names_at == kTooHigh) names_at = number_at<uint32_t>(entry(0), kLink);
  count = std::min<uint64_t>(count, file.size() / kEntry);
  std::string_view strings = entry(names_at);
  std::string_view names = part(file, number_at<uint64_t>(strings, kOffset), number_at<uint64_t>(strings, kSize));
  std::string found;
  for (uint64_t i = 0; i < count; ++i) {
    std::string_view at = entry(i), name = names.substr(std::min<size_t>(number_at<uint32_t>(at, kName), names.size()));
    if (name.substr(0, name.find('\0')) == wanted) found += part(file, number_at<uint64_t>(at, kOffset), number_at<uint64_t>(at, kSize));
  }
  return found;
}

// `ld -r` puts the manifests of its objects behind each other.
std::vector<std::string> objects_of(std::string_view text) {
  std::vector<std::string> objects;
  int depth = 0;
  bool is_text = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_text && text[i] == '\\') ++i;
    else if (text[i] == '"') is_text = depth > 0 && !is_text;
    else if (is_text) continue;
    else if (text[i] == '{' && depth++ == 0) begin = i;
    else if (text[i] == '}' && depth > 0 && --depth == 0) objects.emplace_back(text.substr(begin, i + 1 - begin));
  }
  return objects;
}

std::string text_of(const Json& value) { return value.as_string() ? *value.as_string() : value.text(); }

std::string joined(const Json& list, std::string_view key) {
  std::string text;
  for (size_t i = 0; !list[i].is_null(); ++i) text += (i ? ", " : "") + text_of(list[i][key]);
  return text;
}

void print_kernel(const Json& kernel) {
  std::printf("\n%s\n  kernel     %s\n", text_of(kernel["name"]).c_str(), text_of(kernel["signature"]).c_str());
  std::printf("  source     %s\n  machines   %s\n", text_of(kernel["source"]).c_str(), joined(kernel["variants"], "machine").c_str());
  std::printf("  arguments  %s\n", joined(kernel["arguments"], "name").c_str());
  std::string contracts = joined(kernel["requires"], "text");
  if (!contracts.empty()) std::printf("  requires   %s\n", contracts.c_str());
  if (kernel["workspace"].as_bool() == true) std::printf("  workspace  yes\n");
}

bool print_manifest(const std::string& input, const std::string& manifest) {
  auto json = Json::parse(manifest);
  if (!json) return false;
  std::printf("%s: %s, ABI %s, by %s\n", input.c_str(), text_of((*json)["name"]).c_str(), text_of((*json)["abi"]).c_str(),
              text_of((*json)["compiler"]).c_str());
  for (size_t i = 0; !(*json)["images"][i].is_null(); ++i) {
    const Json& image = (*json)["images"][i];
    std::printf("  image      %s: %s bytes of text", text_of(image["machine"]).c_str(), text_of(image["text_bytes"]).c_str());
    if (!image["by"].is_null()) std::printf(", %s bytes of code by %s", text_of(image["code_bytes"]).c_str(), text_of(image["by"]).c_str());
    std::printf("\n");
  }
  for (size_t i = 0; !(*json)["kernels"][i].is_null(); ++i) print_kernel((*json)["kernels"][i]);
  return true;
}

}  // namespace

int inspect_command(const Options& options) {
  Session session(options);
  int code = kDone;
  for (const std::string& input : options.inputs) {
    std::string error;
    auto file = read_file(input, error);
    if (!file) return session.cannot_read(input, error);
    std::string manifest = section(*file, target::kManifestSection);
    std::vector<std::string> objects = objects_of(manifest);
    bool is_readable = !objects.empty();
    if (is_readable && options.json) std::fputs(manifest.c_str(), stdout);
    else
      for (const std::string& object : objects) is_readable = print_manifest(input, object) && is_readable;
    if (!is_readable) code = session.cannot_read(input, "it is no object of tilec's");
  }
  return code;
}

}  // namespace tilec
