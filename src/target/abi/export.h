// What a target is given to spell: exported functions, each a list of instances of one program, in Thread form.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/source.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::target {

// The program for one machine under one guard.
struct Instance {
  const ir::Kernel* kernel = nullptr;
  const Machine* machine = nullptr;
  std::optional<ir::Formula> clocks = {};  // that it is expected to take, where the export has several for the machine
  std::string guard_text = {};             // when it is taken, for people; empty: always
};

// One exported function. All instances have the same dims, parameters and requirements. Of those for a machine the guard holds of the one
// that is expected to take the least clocks, of equal ones the first; where clocks are not told, of all.
struct Export {
  std::string name;
  std::vector<Instance> instances;
  std::string signature;  // as written, with what `where` fixed
  std::string source;     // file:line:column
};

// The section of an object that holds the manifest.
inline constexpr const char* kManifestSection = ".tilec.manifest";

// What an object carries for a machine that is not its host's.
struct Image {
  const Machine* machine = nullptr;
  std::string text, code;  // what the driver compiles, and what has been compiled; the second may be empty
  int generation = 0;      // of devices that run it
  bool is_exact = false;   // it runs on that generation alone
  std::string launcher;    // the symbol of its launcher's table
};

// One compilation's output: everything that ends in one object.
struct Program {
  std::vector<Export> exports;
  std::vector<Image> images;                        // of machines that instances are for; all others are the host's
  std::vector<std::span<const uint8_t>> launchers;  // bitcode of what launches the images
  const SourceMap* sources = nullptr;  // for the places in messages; none: places are empty
  std::string compiler;                // name and version
  std::string manifest;                // JSON that an object carries, for `inspect`; may be empty
};

// The image that runs an instance; null: the host's own code.
inline const Image* image_of(const Program& program, const Instance& instance) {
  for (const Image& image : program.images)
    if (image.machine == instance.machine) return &image;
  return nullptr;
}

}  // namespace tilec::target
