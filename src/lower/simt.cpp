// Thread-level regions.
#include "lower/lowering.h"

namespace tilec::lower {

void Lowering::lower_simt(const ir::Op&, const ir::op::Simt&) { UNREACHABLE("simt regions are split at their barriers first"); }

}  // namespace tilec::lower
