// What the outside of an object says of the functions in it: everything that the header and the manifest print.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/scalar.h"
#include "base/source.h"
#include "ir/kernel.h"

namespace tilec::host {

struct Parameter {
  std::string name, doc;
  std::string type_text;  // as written: "f16[M, K; lda, 1]"
  bool is_tensor = false;
  Scalar element = Scalar::F32;
  ir::Access access = ir::Access::In;
  bool may_alias = false, may_be_null = false;
  std::vector<std::string> extents;  // each a dim's name, a number, or "" where it is computed from dims
  std::vector<std::string> strides;  // of a parameter that states them
};

struct Dimension {
  std::string name;
  std::optional<int64_t> fixed;  // by `where`: not an argument
};

struct Contract {
  std::string text, place;
};

// One way to run the function: code for a machine. Of several for one machine a call takes what it expects to take fewest clocks.
struct Variant {
  std::string machine;
  std::string instance = {}, clocks = {};  // where there are several: which, and a formula over dims and scalars
};

struct Export {
  std::string name;  // of the function, with --prefix
  std::string doc;
  std::string signature;  // as written, with what the export fixes
  std::string source;     // file:line:column
  std::vector<Parameter> parameters;
  std::vector<Dimension> dimensions;
  std::vector<Contract> contracts;
  std::vector<Variant> variants;
  bool has_workspace = false;
};

// What the object carries for a machine that is not its host's.
struct Image {
  std::string machine;
  size_t text_bytes = 0, code_bytes = 0;  // what the driver compiles; what has been compiled
  std::string by;                         // the program that compiled it
};

// One object's functions, and how its target passes a stream.
struct Library {
  std::string name;      // of the header, without folder and suffix
  std::string compiler;  // name and version
  std::string stream_struct;  // "CUstream_st": the stream is a pointer to it; empty: a void pointer
  std::vector<Export> exports;
  std::vector<Image> images;
};

// Parameters, dims, contracts and workspace of a kernel in any form. Names, texts and variants of the export are the
// caller's to add. `sources` gives contracts their places; none: places are empty.
Export export_of(const ir::Kernel& kernel, const SourceMap* sources);

}  // namespace tilec::host
