#include "target/c/spell.h"

#include "base/check.h"
#include "target/abi/descriptor.h"
#include "target/c/entry_text.h"
#include "target/c_family/speller.h"

namespace tilec::target::c {

namespace {

constexpr int kLevelAny = 1;  // TILE_LEVEL_ANY: any CPU runs C

std::string plan_text(const Export& exported, const Abi& abi, ScalarText& scalars) {
  std::string text = "static void " + plan_name(exported) + "(const int64_t *slots, int64_t *plan) {\n  (void)slots;\n";
  for (size_t index = 0; index < exported.instances.size(); ++index) {
    const Instance& instance = exported.instances[index];
    const ir::Kernel& kernel = *instance.kernel;
    std::vector<ir::ValueId> roots;
    for (const RequirementAbi& r : abi.requirements)
      if (r.instance == int(index)) roots.push_back(r.requirement->condition);
    for (const PlanEntry& entry : abi.plan) {
      if (entry.instance != int(index)) continue;
      if (entry.value.valid()) roots.push_back(entry.value);
      else for (ir::ValueId v : bytes_of(kernel, entry.alloc).factors) roots.push_back(v);
    }
    CSpeller speller({kernel, abi, int(index), instance.machine->lanes}, scalars, 1);
    if (index == 0) speller.line("plan[" + std::to_string(kPlanGuards) + "] = 0;");
    speller.open("");
    speller.open_body(roots);
    std::string failed = "-1", place = "plan[" + std::to_string(kPlanFailed) + "]";
    for (size_t r = abi.requirements.size(); r-- > 0;)
      if (abi.requirements[r].instance == int(index))
        failed = "!(" + speller.uniform(abi.requirements[r].requirement->condition) + ") ? " + std::to_string(r) + " : " + failed;
    if (index == 0) speller.line(place + " = " + failed + ";");
    else if (failed != "-1") speller.line("if (" + place + " < 0) " + place + " = " + failed + ";");
    INVARIANT(!instance.clocks, "machines of this target do not say how fast they are");
    speller.line("plan[" + std::to_string(kPlanGuards) + "] |= (int64_t)(UINT64_C(1) << " + std::to_string(index) + ");");
    for (size_t i = 0; i < abi.plan.size(); ++i) {
      const PlanEntry& entry = abi.plan[i];
      if (entry.instance != int(index)) continue;
      std::string value = entry.value.valid() ? speller.uniform(entry.value) : speller.size(bytes_of(kernel, entry.alloc));
      speller.line("plan[" + std::to_string(kPlanFirst + int(i)) + "] = " + value + ";");
    }
    speller.close();
    text += speller.take_text();
  }
  return text + "}\n";
}

// Runs the blocks begin to end; the first block index varies fastest.
std::string launch_text(const Export& exported, const Abi& abi, int index, int number, ScalarText& scalars, int64_t& scratch_bytes) {
  const Instance& instance = exported.instances[index];
  const ir::Kernel& kernel = *instance.kernel;
  const auto& launch = kernel.op(abi.instances[index].launches[number].launch).as<ir::op::Launch>();
  std::string text = "static void " + launch_name(exported, index, number) +
                     "(const int64_t *slots, const int64_t *plan, int64_t begin, int64_t end, void *scratch,\n"
                     "    int64_t *fault) {\n  (void)slots, (void)plan, (void)scratch, (void)fault;\n";
  std::vector<ir::ValueId> roots = captured_values(kernel, launch.body);
  if (launch.extents.size() > 1) roots.insert(roots.end(), launch.extents.begin(), launch.extents.end() - 1);
  CSpeller speller({kernel, abi, index, instance.machine->lanes}, scalars, 1);
  speller.open_body(roots);
  speller.open("for (int64_t block = begin; block < end; ++block)");
  speller.open_launch(launch);
  std::vector<std::string> indices;
  std::string rest = "block";
  for (size_t i = 0; i < launch.extents.size(); ++i) {
    std::string name = "block" + std::to_string(i), extent;
    bool is_last = i + 1 == launch.extents.size();
    if (!is_last) extent = speller.uniform(launch.extents[i]);
    speller.line("const int64_t " + name + " = " + rest + (is_last ? "" : " % " + extent) + ";");
    speller.line("(void)" + name + ";");
    if (!is_last) rest = "(" + rest + ") / " + extent;
    indices.push_back(name);
  }
  speller.spell_block(launch, indices);
  speller.close();
  scratch_bytes = speller.scratch_bytes();
  return text + speller.take_text() + "}\n";
}

std::string export_text(const Program& program, const Export& exported, ScalarText& scalars) {
  Abi abi = abi_of(exported);
  std::string text = plan_text(exported, abi, scalars);
  ScratchBytes scratch;
  for (size_t i = 0; i < exported.instances.size(); ++i) {
    scratch.emplace_back();
    for (size_t k = 0; k < abi.instances[i].launches.size(); ++k)
      text += "\n" + launch_text(exported, abi, int(i), int(k), scalars, scratch.back().emplace_back());
  }
  std::vector<int> levels(exported.instances.size(), kLevelAny);
  for (const Table& table : descriptor_of(program, exported, abi, scratch, levels)) text += "\n" + table_text(table);
  for (const EntryAbi& entry : entries_of(exported, abi)) text += "\n" + entry_text(exported, abi, entry);
  return text;
}

}  // namespace

// A product with a name of its own is rounded. Compilers fuse it with the sum behind it in their GNU dialects, and some in any; what is to be fused
// is written so.
constexpr std::string_view kNoContraction =
    "#if defined(__clang__) || !defined(__GNUC__)\n"
    "#pragma STDC FP_CONTRACT OFF\n"
    "#elif !defined(__STRICT_ANSI__)\n"
    "#pragma GCC optimize(\"fp-contract=off\")\n"
    "#endif\n";

std::string spell(const Program& program, std::string_view support) {
  ScalarText scalars("static inline __attribute__((unused))");
  std::string kernels;
  for (const Export& exported : program.exports) kernels += "\n" + export_text(program, exported, scalars);
  return std::string(kNoContraction) + std::string(support) + "\n#include <math.h>\n#include <stdbool.h>\n#include <string.h>\n\n" + scalars.helpers() + kernels;
}

}  // namespace tilec::target::c
