// The constant data that describes an export to the launcher: rows of the structs of launch_support/support.h, in the order
// of their fields, for any writer. The table of structs here and that header change together.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "target/abi/abi.h"

namespace tilec::target {

namespace datum {
struct I32 { int64_t value; };
struct I64 { int64_t value; };
struct Text { std::string value; };
struct Address { std::string name; };   // of another table; "": null
struct Bytes { std::string value; };    // as Text, at an address that suits any data; "": null
struct Function { std::string name; };  // the address of a generated function
struct Foreign { std::string name; };   // the address of data of the launcher
struct Open {};                         // a struct inside of the row begins
struct Close {};                        // and ends
}  // namespace datum
using Datum = std::variant<datum::I32, datum::I64, datum::Text, datum::Bytes, datum::Address, datum::Function,
                           datum::Foreign, datum::Open, datum::Close>;

struct Table {
  std::string name, type;                 // `type` as C writes it: "struct tile_param", "int32_t", "char *const"
  std::vector<std::vector<Datum>> rows;
  bool is_constant = true;
};

// What only a speller knows: bytes of scratch of each launch, by instance; of an image's, shared memory of a block.
using ScratchBytes = std::vector<std::vector<int64_t>>;

// The tables of the program's images, which those of exports name.
std::vector<Table> image_tables(const Program& program);
// Every table after those that it names; the last is the kernel's own, with one row. `levels`: of each instance.
std::vector<Table> descriptor_of(const Program& program, const Export& exported, const Abi& abi,
                                 const ScratchBytes& scratch, const std::vector<int>& levels);
std::string descriptor_name(const Export& exported);

// The functions that callers see, all but the first with a suffix to the export's name.
enum class Argument : uint8_t { Pointer, Scalar, Dim, Workspace, WorkspaceBytes, Stream, ArgsStruct, SizeOut };
struct ArgumentAbi {
  Argument kind;
  std::string name;
  Scalar element = Scalar::Index;  // of scalars
  int slot = -1;
};
struct EntryAbi {
  std::string name;      // of the exported function
  std::string support;   // of the launcher's function behind it; "": it returns the address of the descriptor's info
  std::vector<ArgumentAbi> arguments;
  bool fills_slots = false;
};
std::vector<EntryAbi> entries_of(const Export& exported, const Abi& abi);

}  // namespace tilec::target
