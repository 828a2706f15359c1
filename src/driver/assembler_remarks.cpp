#include "driver/assembler_remarks.h"

#include <algorithm>

#include "base/text.h"
#include "diag/diag.h"
#include "target/abi/abi.h"

namespace tilec {

namespace {

// A function with what it was made of.
struct Origin {
  const target::AssembledFunction* function;
  Span span;  // of the export
  ir::HeavyTiles tiles;
  const ir::Kernel* kernel;
  const Machine* machine;
};

std::string words_for(const ir::TileWeight& tile) {
  if (tile.registers == 0) return "not one with a name";
  return "`" + tile.name + "`, " + std::to_string(tile.registers) + (tile.registers == 1 ? " register" : " registers") + " of each lane";
}

// Launches are numbered as `heavy_tiles` lists them.
void add_origins(const Session& session, const target::Export& exported, const target::AssembledFunction& slow, std::vector<Origin>& out) {
  auto is_source = [&](const ExportInstance& e) { return session.options.prefix + e.name == exported.name; };
  auto source = std::ranges::find_if(session.program.exports, is_source);
  for (size_t i = 0; i < exported.instances.size(); ++i) {
    const std::vector<ir::HeavyTiles>& heavy = exported.instances[i].kernel->heavy_tiles;
    for (size_t launch = 0; launch < heavy.size(); ++launch)
      if (target::launch_name(exported, int(i), int(launch)) == slow.name) out.push_back({&slow, source->span, heavy[launch], exported.instances[i].kernel, exported.instances[i].machine});
  }
}

std::string reasons_of(const Origin& of) { return join(of.function->held_up, "; "); }

void remark_products(Diagnostics& diagnostics, std::span<const Origin> origins) {
  std::vector<Origin> held_up;
  std::ranges::copy_if(origins, std::back_inserter(held_up), [](const Origin& of) { return !of.function->held_up.empty(); });
  if (held_up.empty()) return;
  const Origin& first = held_up.front();
  const ir::TileWeight& tile = first.tiles.accumulator;
  Report report = diagnostics.at(first.span).remark(diag::ProductsHeldUp, first.function->name, words_for(tile), reasons_of(first));
  if (tile.registers) report.mark(tile.span, "`" + tile.name + "`");
  for (const Origin& of : std::span(held_up).subspan(1)) report.note({}, diag::HeldUpToo, of.function->name, reasons_of(of));
}

void remark_stack(Diagnostics& diagnostics, std::span<const Origin> origins) {
  std::vector<Origin> worst_first;
  std::ranges::copy_if(origins, std::back_inserter(worst_first), [](const Origin& of) { return of.function->stack + of.function->stored + of.function->loaded > 0; });
  std::ranges::stable_sort(worst_first, std::greater{}, [](const Origin& of) { return of.function->stack; });
  if (worst_first.empty()) return;
  const auto& [worst, span, tiles, kernel, machine] = worst_first.front();
  Report report = diagnostics.at(span).remark(diag::StackUsed, worst->name, worst->stack, worst->stored, worst->loaded, words_for(tiles.any));
  if (tiles.any.registers) report.mark(tiles.any.span, "`" + tiles.any.name + "`");
  for (const Origin& of : std::span(worst_first).subspan(1))
    report.note({}, diag::StackUsedToo, of.function->name, of.function->stack, of.function->stored, of.function->loaded);
}

// Of what a schedule requires this is what the assembler alone knows.
void check_spills(Diagnostics& diagnostics, std::span<const Origin> origins) {
  for (const Origin& of : origins)
    for (const ir::Required& required : of.kernel->schedule.required) {
      if (required.need != ir::Need::NoSpill || of.function->stored + of.function->loaded == 0) continue;
      std::string why = "the assembler has too few registers for `" + of.function->name + "`: " + std::to_string(of.function->stored) + " bytes are stored and " +
                        std::to_string(of.function->loaded) + " loaded; its heaviest tile is " + words_for(of.tiles.any);
      Report report = diagnostics.at(required.span).error(diag::RequirementMissed, name(required.need), of.machine->name, why);
      if (of.tiles.any.registers) report.mark(of.tiles.any.span, "`" + of.tiles.any.name + "`");
    }
}

}  // namespace

void remark_assembled(Session& session, const Compiled& compiled, const std::vector<target::AssembledFunction>& slow) {
  for (const target::Export& exported : compiled.program.exports) {
    std::vector<Origin> origins;
    for (const target::AssembledFunction& function : slow) add_origins(session, exported, function, origins);
    remark_products(session.diagnostics, origins);
    remark_stack(session.diagnostics, origins);
    check_spills(session.diagnostics, origins);
  }
}

}  // namespace tilec
