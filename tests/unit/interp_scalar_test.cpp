#include "interp/handlers.h"
#include "interp/rounding.h"
#include "interp_fixture.h"

using namespace tilec;
using namespace tilec::interp;
using namespace tilec::ir;

namespace {

constexpr Scalar kTypes[] = {Scalar::Index, Scalar::I8,     Scalar::I16,    Scalar::I32, Scalar::I64,  Scalar::U8,
                             Scalar::U16,   Scalar::U32,    Scalar::U64,    Scalar::F16, Scalar::BF16, Scalar::F32,
                             Scalar::F64,   Scalar::F8E4M3, Scalar::F8E5M2, Scalar::Bool};

// Bits of every kind: small, large, special.
Number example(Scalar type, uint64_t k) {
  uint64_t x = (k + 1) * 0x9e3779b97f4a7c15ull;
  x ^= x >> 29;
  if (k % 5 == 0)
    return is_float(type) ? Number::real(round_to(type, double(int64_t(k % 23) - 11) / 4))
                          : Number::integer(wrap(type, int64_t(k % 23) - 11));
  if (k % 7 == 0 && is_float(type)) return from_bits(type, to_bits(type, Number::real(k % 2 ? NAN : INFINITY)));
  if (k % 11 == 0 && is_integer(type))  // at a tie of f32 or bf16, or just above
    return Number::integer(wrap(type, (1ll << 60) + (1ll << (k % 2 ? 36 : 52)) + int64_t(x & 1)));
  return from_bits(type, bit_width(type) == 64 ? x : x & ((1ull << bit_width(type)) - 1));
}

bool same(Scalar type, Number a, Slot b) {
  if (is_float(type) && std::isnan(a.f) && std::isnan(b.f)) return true;
  if (is_float(type) && a.f == 0 && b.f == 0) return true;
  return to_slot(a).u == b.u;
}

// One strand of 64 lanes with three operands and a result.
struct Lanes {
  Kernel kernel;
  Program program;
  RunOptions options;
  Run run{.program = program, .kernel = kernel, .options = options};
  Function code{.kind = FunctionKind::Map, .width = 64};
  Strand strand;
  Lanes() {
    kernel.ops.emplace_back();
    strand.run = &run;
    strand.code = &code;
    strand.width = 64;
    strand.mask = strand.full = ~0ull;
    strand.storage.resize(256);
    strand.regs = strand.storage.data();
  }
  Instr instruction(Handler handler, Scalar type) {
    Instr i{.run = handler,
            .dst = 192,
            .a = 0,
            .b = 64,
            .c = 128,
            .imm = 64 - bit_width(type),
            .op = 0,
            .lanes = 64,
            .type = type};
    return i;
  }
  Slot* slots(int operand) { return strand.regs + 64 * operand; }
};

}  // namespace

TEST_CASE("interp: fast rounding and formats mean what base means") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    double half = decode(Scalar::F16, bits), brain = decode(Scalar::BF16, bits);
    bool is_same = std::isnan(half) ? std::isnan(decode_f16(uint16_t(bits))) : decode_f16(uint16_t(bits)) == half;
    is_same &= std::isnan(brain) ? std::isnan(decode_bf16(uint16_t(bits))) : decode_bf16(uint16_t(bits)) == brain;
    if (!std::isnan(half)) is_same &= encode_f16(half) == bits;
    if (!std::isnan(brain)) is_same &= encode_bf16(brain) == bits;
    if (!is_same) FAIL(bits);
  }
  for (uint32_t bits = 0, step = 4099; bits <= UINT32_MAX - step; bits += step) {
    double value = decode(Scalar::TF32, bits);
    bool is_same = std::isnan(value) ? std::isnan(decode_tf32(bits)) : decode_tf32(bits) == value && encode_tf32(value) == encode(Scalar::TF32, value);
    if (!is_same) FAIL(bits);
  }
  uint64_t x = 1;
  for (int k = 0; k < 300'000; ++k) {
    x = x * 6364136223846793005ull + 1442695040888963407ull;
    // Exponents around both formats' ranges.
    double value = std::ldexp(double(int64_t(x >> 11)) / 9007199254740992.0, int(x % 320) - 160) * (x & 1024 ? 1 : -1);
    if (k % 3 == 0) value = std::ldexp(double((x >> 40) * 2 + 1), int(x % 40) - 40);  // ties
    if (round_f16(value) != round_to(Scalar::F16, value) || round_bf16(value) != round_to(Scalar::BF16, value))
      FAIL(value);
  }
}

TEST_CASE("interp: binary instructions mean what scalar_eval means") {
  for (Numeric numeric : {Numeric::Typed, Numeric::Wide})
    for (Scalar type : kTypes)
      for (size_t fn = 0; fn < names_of(BinaryFn{}).size(); ++fn)
        for (uint64_t round = 0; round < 3; ++round) {
          CAPTURE(name(type));
          CAPTURE(names_of(BinaryFn{})[fn]);
          bool is_bitwise = fn >= size_t(BinaryFn::And);
          if (is_float(type) && is_bitwise) continue;
          Lanes l;
          Instr i = l.instruction(binary_handler(BinaryFn(fn), type, numeric), type);
          i.fn = uint8_t(fn);
          std::vector<std::optional<Number>> expected(64);
          for (uint64_t k = 0; k < 64; ++k) {
            Number a = example(type, k + 64 * round), b = example(type, 3 * k + 1000 + round);
            l.slots(0)[k] = to_slot(a);
            l.slots(1)[k] = to_slot(b);
            expected[k] = evaluate(BinaryFn(fn), type, a, b, numeric);
            if (!expected[k]) l.strand.mask &= ~(1ull << k);  // it would fault
          }
          CHECK(i.run(l.strand, i) == Status::Next);
          for (uint64_t k = 0; k < 64; ++k)
            if (expected[k]) CHECK_MESSAGE(same(type, *expected[k], l.slots(3)[k]), k);
        }
}

TEST_CASE("interp: unary, fused, comparing and converting instructions mean what scalar_eval means") {
  for (Numeric numeric : {Numeric::Typed, Numeric::Wide})
    for (Scalar type : kTypes) {
      Lanes l;
      CAPTURE(name(type));
      for (uint64_t k = 0; k < 64; ++k)
        for (int operand = 0; operand < 3; ++operand)
          l.slots(operand)[k] = to_slot(example(type, k * 3 + uint64_t(operand) * 501));
      auto number = [&](int operand, uint64_t k) { return to_number(type, l.slots(operand)[k]); };
      for (size_t fn = 0; fn < names_of(UnaryFn{}).size(); ++fn) {
        CAPTURE(names_of(UnaryFn{})[fn]);
        l.strand.mask = 0;
        for (uint64_t k = 0; k < 64; ++k)
          if (evaluate(UnaryFn(fn), type, number(0, k), numeric)) l.strand.mask |= 1ull << k;
        Instr i = l.instruction(unary_handler(UnaryFn(fn), type, numeric), type);
        i.fn = uint8_t(fn);
        if (l.strand.mask) CHECK(i.run(l.strand, i) == Status::Next);
        Scalar gives = UnaryFn(fn) == UnaryFn::IsNan ? Scalar::Bool : type;
        for (uint64_t k = 0; k < 64; ++k)
          if (l.strand.mask >> k & 1)
            CHECK(same(gives, *evaluate(UnaryFn(fn), type, number(0, k), numeric), l.slots(3)[k]));
      }
      l.strand.mask = ~0ull;
      Instr fma = l.instruction(fma_handler(type, numeric), type);
      fma.run(l.strand, fma);
      for (uint64_t k = 0; k < 64; ++k)
        CHECK(same(type, evaluate_fma(type, number(0, k), number(1, k), number(2, k), numeric), l.slots(3)[k]));
      for (size_t fn = 0; fn < names_of(CompareFn{}).size(); ++fn) {
        Instr i = l.instruction(compare_handler(CompareFn(fn), type), type);
        i.run(l.strand, i);
        for (uint64_t k = 0; k < 64; ++k)
          CHECK(evaluate(CompareFn(fn), type, number(0, k), number(1, k)) == bool(l.slots(3)[k].i));
      }
      for (Scalar to : kTypes)
        for (size_t mode = 0; mode < names_of(ConvertMode{}).size(); ++mode) {
          CAPTURE(name(to));
          if (ConvertMode(mode) == ConvertMode::Bits && bit_width(type) != bit_width(to)) continue;
          Instr i = l.instruction(convert_handler(type, to, ConvertMode(mode)), to);
          i.from = type;
          i.fn = uint8_t(mode);
          i.run(l.strand, i);
          for (uint64_t k = 0; k < 64; ++k)
            CHECK(same(to, evaluate_convert(type, to, ConvertMode(mode), number(0, k), numeric), l.slots(3)[k]));
        }
    }
}

TEST_CASE("interp: memory keeps every element") {
  for (Scalar type : kTypes)
    for (uint64_t k = 0; k < 64; ++k) {
      uint8_t bytes[8] = {};
      Number n = example(type, k);
      store_element(type, bytes, to_slot(n));
      CHECK(same(type, from_bits(type, to_bits(type, n)), load_element(type, bytes)));
    }
}
