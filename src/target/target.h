// A target: the machines that it stands for and the words that their programs are written in. Rows of `targets.def`; the
// command line, the header, `doctor` and the tests go over `targets()` and know no target by name.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"
#include "target/abi/export.h"

namespace tilec::target {

// What an assembler says of a function that runs slower than it is written.
struct AssembledFunction {
  std::string name;
  std::vector<std::string> held_up;                // why its matrix products do not overlap, in the assembler's words
  int64_t stack = 0, stored = 0, loaded = 0;       // bytes of a lane; the last two: of registers that ran out
  std::optional<int64_t> in_loops = {};            // instructions that load from the stack or store to it in a loop, where that is known
};

// What came of assembling: an image and the program that made it ("ptxas 13.0"), or what was in the way, for people.
struct Assembled {
  std::string image, problem, by;
  bool is_missing = false;  // there is no such program
  std::vector<AssembledFunction> slow = {};
};

struct Target {
  std::string_view name;
  std::span<const Machine> (*machines)();          // the plainest first
  std::span<const std::string_view> emits;         // what `spell` can be asked for; the first is the usual output
  std::string_view stream_struct;                  // the last parameter is a pointer to it; empty: any pointer
  std::string_view triple;                         // of a host: `obj` is the object that holds everything, images of other targets too
  std::string (*spell)(const Program& program, std::string_view emit);
  // Text (the first of `emits`) to `image`, another of them, by a program of others: `assembler` or, where that is empty, one that
  // is looked for. Null: `spell` gives every form.
  Assembled (*assemble)(std::string_view text, const Machine& machine, const std::string& assembler) = nullptr;
  std::string_view image = {}, assembler = {};     // the kind, and the program's usual name
  // What a host's object carries for one of the machines (text alone), and the code that launches it on that host; null: nothing.
  Image (*image_of)(const Program& program, const Machine& machine) = nullptr;
  std::span<const uint8_t> (*launcher)(std::string_view triple) = nullptr;
  std::string_view (*launch)() = nullptr;          // C text of what launches it; null: there is none
  std::string (*probe)() = nullptr;                // what of it this computer has, for people; "" where nothing
};

std::span<const Target* const> targets();
const Target* target_named(std::string_view name);
// Is this the name of a machine that is not there yet?
bool is_planned(std::string_view name);
// What targets that are not there yet will emit.
std::span<const std::string_view> planned_emits();
// The machine of that name and its target, over all targets.
struct MachineChoice {
  const Target* target = nullptr;
  const Machine* machine = nullptr;
  bool is_text = false;  // named as text that is not to be compiled further: "ptx:sm_80"
};
std::optional<MachineChoice> machine_named(std::string_view name);

}  // namespace tilec::target
