#include "target/c/machine.h"

namespace tilec::target::c {

namespace {

// The atoms of a CPU of eight lanes and sixteen registers.
constexpr MatrixAtom atom(std::string_view name, Scalar input, Scalar accumulator) {
  bool is_wide = accumulator == Scalar::F64 || accumulator == Scalar::I64;
  return {.name = name, .kind = AtomKind::OuterProduct, .m = 4, .n = is_wide ? 8 : 16, .k = 1, .a = input, .b = input,
          .c = accumulator, .a_layout = "reg(m0 m1) lane(_ _ _)",
          .b_layout = is_wide ? "lane(n0 n1 n2)" : "reg(n3) lane(n0 n1 n2)",
          .c_layout = is_wide ? "reg(m0 m1) lane(n0 n1 n2)" : "reg(n3 m0 m1) lane(n0 n1 n2)",
          .cycles = {.issue = 4, .latency = 8}};
}
constexpr MatrixAtom kAtoms[] = {
    atom("outer.f32", Scalar::F32, Scalar::F32),       atom("outer.f16", Scalar::F16, Scalar::F32),
    atom("outer.bf16", Scalar::BF16, Scalar::F32),     atom("outer.f8e4m3", Scalar::F8E4M3, Scalar::F32),
    atom("outer.f8e5m2", Scalar::F8E5M2, Scalar::F32), atom("outer.f64", Scalar::F64, Scalar::F64),
    atom("outer.i8", Scalar::I8, Scalar::I32),         atom("outer.u8", Scalar::U8, Scalar::I32),
    atom("outer.i16", Scalar::I16, Scalar::I32),       atom("outer.u16", Scalar::U16, Scalar::I32),
    atom("outer.i32", Scalar::I32, Scalar::I64),       atom("outer.u32", Scalar::U32, Scalar::I64),
    atom("outer.i64", Scalar::I64, Scalar::I64),       atom("outer.u64", Scalar::U64, Scalar::I64),
};
constexpr Machine kMachines[] = {{.name = "c", .target = "c", .lanes = 8, .max_warps = 1, .default_warps = 1, .role_warps = 1,
                                  .registers_per_lane = 16, .shared_bytes = 512 << 10, .banks = 0, .vector_bytes = 1,
                                  .simd_bytes = 32, .caps = cap_set({Cap::Shuffles, Cap::TextFunctions}), .matrix_atoms = kAtoms}};

}  // namespace

std::span<const Machine> machines() { return kMachines; }

}  // namespace tilec::target::c
