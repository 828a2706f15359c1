// V035 to V038 and V043: operations whose result is a shape made from the shapes of their operands.
#pragma once
#include "ir/verify_parts.h"

namespace tilec::ir::verifier {

// A tile of that element and shape, whatever its layout.
bool is_tile_like(const Type& type, Scalar element, const std::vector<int64_t>& shape);

void check_shapes(Check& check, const op::Gemm& o);
void check_shapes(Check& check, const op::GemmAsync& o);
void check_shapes(Check& check, const op::BeginFlight& o);
void check_shapes(Check& check, const op::AwaitGemm& o);
void check_shapes(Check& check, const op::Reduce& o);
void check_shapes(Check& check, const op::VoteTile& o);
void check_shapes(Check& check, const op::Scan& o);
void check_shapes(Check& check, const op::Permute& o);
void check_shapes(Check& check, const op::Reshape& o);
void check_shapes(Check& check, const op::ConvertLayout& o);

}  // namespace tilec::ir::verifier
