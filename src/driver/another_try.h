// Another try for kernels that an assembler has too few registers for: other schedules, the best of which stays. Without an assembler
// nothing of this happens, and with one it costs nothing where registers suffice.
#pragma once
#include <map>
#include <tuple>

#include "driver/session.h"

namespace tilec {

// Texts, and what an assembler made of them.
using AssembledTexts = std::map<std::string, target::Assembled>;

// Schedules anew, for the machine, those kernels among `slow` for whose sake that is worth it, and tells what came of it. None: nothing has
// changed. Else the text of the machine is to be made again, and may be one that has been assembled on the way.
std::optional<AssembledTexts> try_again(Session& session, Compiled& compiled, const target::MachineChoice& of, const std::vector<target::AssembledFunction>& slow);

// The schedules that another try has found for the export of this name, or for all where it is empty; by name, number of the instance and
// machine.
using Retaken = std::map<std::tuple<std::string, size_t, const Machine*>, ir::Schedule>;
Retaken retaken_schedules(Session& session, const Chosen& chosen, const std::string& name);
// The kernel for the passes, with what was found for it.
ir::Kernel kernel_for(const ExportInstance& exported, const Machine& machine, const Retaken& retaken);

}  // namespace tilec
