// What a target is given to spell: exported functions, each a list of instances of one program, in Thread form.
#pragma once
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
  ir::ValueId guard;       // a bool of the kernel's body; none: always holds
  std::string guard_text;  // for people
};

// One exported function. All instances have the same dims, parameters and requirements; the first whose machine and guard
// fit is run, and the last guard of each machine always holds.
struct Export {
  std::string name;
  std::vector<Instance> instances;
  std::string signature;  // as written, with what `where` fixed
  std::string source;     // file:line:column
};

// The section of an object that holds the manifest.
inline constexpr const char* kManifestSection = ".tilec.manifest";

// One compilation's output: everything that ends in one object.
struct Program {
  std::vector<Export> exports;
  const SourceMap* sources = nullptr;  // for the places in messages; none: places are empty
  std::string compiler;                // name and version
  std::string manifest;                // JSON that an object carries, for `inspect`; may be empty
};

}  // namespace tilec::target
