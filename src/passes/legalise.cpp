// Makes Thread form spellable: after it, floats of 8 and 16 bits, and tf32, are only moved, and no math function is left but those
// that the machine has.
//   in:  Thread
//   out: Thread; narrow floats appear only in constants, loads, stores, shuffles, vectors, selects, carried values and
//        conversions of mode Bits (and f16 <-> f32 where the machine has HalfConvert, f32 -> bf16 where it has BrainRound, and fma
//        of both where it has HalfFused)
//
// A narrow value has two forms: its bits, and the f32 that it stands for. Both are written down where the value is
// made; whoever computes reads the f32, whoever stores reads the bits; `cleanup` drops the form that nobody reads.
// An fma of any type is rounded once, in more operations where the machine has none for it.
//
// Memory may hold anything in the bits that tf32 has not, and copies move them: they are cut off where a register is filled. Matrix
// instructions read the upper bits alone, so that what only they read stays as it came.
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

#include "passes/math.h"
#include "passes/narrow.h"
#include "passes/passes.h"
#include "passes/rebuild.h"

namespace tilec::passes {

using namespace ir;

namespace {

// What runs beside the launches can do no more than the oldest CPU.
Machine host_of(const Kernel& kernel, const Machine& machine) {
  Machine host = machine;
  bool launches = false;
  for (OpId id : kernel.region(kernel.body).ops) launches |= kernel.op(id).is<op::Launch>();
  if (launches && !machine.has(Cap::TextFunctions)) host.caps = 0, host.adds = {};
  return host;
}

class Legaliser : public Rebuilder {
 public:
  Legaliser(Kernel& kernel, const Machine& machine)
      : Rebuilder(kernel), machine_(machine), host_(host_of(kernel, machine)), narrow_on_machine_(builder_, machine_), narrow_on_host_(builder_, host_) {
    find_fragments();
  }

 private:
  Builder& b_ = builder_;
  const Machine& machine_;
  const Machine host_;  // what computes extents, grids and contracts: any CPU
  Narrow narrow_on_machine_, narrow_on_host_;
  bool begins_launch_ = false;
  size_t launch_depth_ = 0;  // of regions, where a launch's is open
  std::unordered_map<uint32_t, ValueId> wide_;   // the f32 of a narrow value, where one is at hand
  std::vector<std::vector<uint32_t>> made_;      // for each open region the narrow values widened in it
  std::unordered_map<uint32_t, ValueId> uncut_;  // a tf32 as memory gave it
  std::set<ValueId> fragments_;                  // vectors of tf32 that only matrix instructions read

  void enter_region() override {
    if (made_.empty()) each_number([this](ValueId v) { bind(v, cut(v)); });
    made_.emplace_back();
    if (std::exchange(begins_launch_, false)) launch_depth_ = made_.size();
  }
  void leave_region() override {
    if (made_.size() == 1) each_number([this](ValueId v) { bind(v, v); });
    for (uint32_t v : made_.back()) wide_.erase(v);
    if (made_.size() == launch_depth_) launch_depth_ = 0;
    made_.pop_back();
  }
  const Machine& here() const { return launch_depth_ ? machine_ : host_; }
  Narrow& narrow() { return launch_depth_ ? narrow_on_machine_ : narrow_on_host_; }
  void remember(ValueId narrow, ValueId wide) {
    if (wide_.emplace(narrow.index, wide).second) made_.back().push_back(narrow.index);
  }

  Scalar element(ValueId v) const { return kernel_.type(v).element; }
  bool is_narrow(ValueId v) const { return is_storage_only(here(), element(v)); }
  bool is_tf32(ValueId v) const { return element(v) == Scalar::TF32; }
  // The numbers that callers give, for which the interface keeps the values as they come.
  void each_number(const std::function<void(ValueId)>& f) {
    for (const Param& p : kernel_.params)
      if (kernel_.type(p.value).is_scalar() && is_tf32(p.value)) f(p.value);
  }
  void find_fragments() {
    std::set<ValueId> others;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      const Op& op = kernel_.op(id);
      std::set<ValueId>& readers = op.is<op::Atom>() || op.is<op::GroupProduct>() ? fragments_ : others;
      each_operand(op.data, [&](ValueId v) {
        if (kernel_.type(v).kind == TypeKind::Vector && is_tf32(v)) readers.insert(v);
      });
    });
    for (ValueId v : others) fragments_.erase(v);
  }
  ValueId cut(ValueId v) {
    ValueId number = narrow().cut(v);
    if (number != v) uncut_[number.index] = v;
    return number;
  }
  // What stays, but for the bits that a tf32 has not.
  bool fill(OpId id, ValueId result) {
    kernel_.region(builder_.region()).ops.push_back(id);
    const Type type = kernel_.type(result);
    if (type.kind != TypeKind::Vector) return bind_value(result, cut(result));
    std::vector<ValueId> elements;
    for (int64_t i = 0; i < type.shape[0]; ++i) elements.push_back(cut(b_.value(op::VectorElement{result, i}, scalar_type(type.element, type.varying))));
    return bind_value(result, b_.value(op::VectorMake{elements}, type));
  }
  bool fragment(const op::VectorMake& o, ValueId result) {
    if (!fragments_.contains(result)) return false;
    std::vector<ValueId> elements = o.elements;
    for (ValueId& v : elements)
      if (auto found = uncut_.find(v.index); found != uncut_.end()) v = found->second;
    return bind_value(result, b_.value(op::VectorMake{elements}, kernel_.type(result)));
  }
  // An element of a vector that was made here is at hand.
  bool vector_element(const op::VectorElement& o, ValueId result) {
    const auto* made = is_tf32(result) ? kernel_.defined_by<op::VectorMake>(o.vector) : nullptr;
    return made && bind_value(result, made->elements[size_t(o.index)]);
  }

  // The number to compute with: narrow floats as f32.
  ValueId wide(ValueId v) {
    if (!is_narrow(v)) return v;
    if (auto found = wide_.find(v.index); found != wide_.end()) return found->second;
    ValueId f32 = narrow().widen(v);
    remember(v, f32);
    return f32;
  }
  // Binds a result that was computed in f32, rounded to its type.
  bool round(ValueId result, ValueId computed) {
    if (!is_narrow(result)) {
      bind(result, b_.convert(computed, element(result)));
      return true;
    }
    bind(result, narrow().narrow(computed, element(result)));
    return true;
  }
  // Binds a result that is one of the operands, known in both forms.
  bool both(ValueId result, ValueId bits, ValueId f32) {
    bind(result, bits);
    remember(bits, f32);
    return true;
  }

  // The type that a math function is expanded in; narrow types with arithmetic of their own have no math either.
  Math math(Scalar type) { return Math(b_, here(), type == Scalar::F64 ? Scalar::F64 : Scalar::F32); }
  ValueId math_operand(ValueId v) { return element(v) == Scalar::F64 ? v : b_.convert(wide(v), Scalar::F32); }

  bool rewrite(OpId id) override {
    OpData data = kernel_.op(id).data;
    std::vector<ValueId> results = kernel_.op(id).results;
    begins_launch_ = data.is<op::Launch>();
    if (const auto* o = data.get<op::Unary>()) return unary(*o, results[0]);
    if (const auto* o = data.get<op::Binary>()) return binary(*o, results[0]);
    if (const auto* o = data.get<op::Fma>()) return fma(*o, results[0]);
    if (const auto* o = data.get<op::Compare>()) return compare(*o, results[0]);
    if (const auto* o = data.get<op::Convert>()) return convert(*o, results[0]);
    if (const auto* o = data.get<op::WarpReduce>()) return warp_reduce(*o, results[0]);
    if (const auto* o = data.get<op::MemAtomic>(); o && atomic(*o, results)) return true;
    if (const auto* o = data.get<op::VectorMake>()) return fragment(*o, results[0]);
    if (const auto* o = data.get<op::VectorElement>()) return vector_element(*o, results[0]);
    const auto* load = data.get<op::MemLoad>();  // of what others write, too
    bool reads_memory = (load && kernel_.type(load->buffer).space != Space::Private) || data.is<op::MemAtomic>() || data.is<op::LoadMatrices>();
    return reads_memory && !results.empty() && is_tf32(results[0]) && fill(id, results[0]);
  }

  bool unary(const op::Unary& o, ValueId result) {
    bool is_native = here().has(Cap::NativeMath) || (o.fn == UnaryFn::Exp2 && element(o.x) != Scalar::F64 && here().has(Cap::NativeExp2));
    if (is_math(o.fn) && !is_native)
      return round(result, math(element(o.x)).unary(o.fn, math_operand(o.x)));
    if (!is_narrow(o.x)) return false;
    ValueId x = wide(o.x);
    if (o.fn == UnaryFn::IsNan) return bind_value(result, b_.unary(o.fn, x));
    if (o.fn == UnaryFn::Neg || o.fn == UnaryFn::Abs) {
      ValueId changed = b_.unary(o.fn, x);
      return both(result, sign_changed(o, changed), changed);
    }
    return round(result, b_.unary(o.fn, x));
  }

  // The bits of a narrow float negated, or without their sign.
  ValueId sign_changed(const op::Unary& o, ValueId f32) {
    Scalar type = element(o.x), word = word_of(type);
    int64_t sign = int64_t(1) << (bit_width(type) - 1);
    ValueId bits = b_.convert(o.x, word, ConvertMode::Bits);
    ValueId changed = o.fn == UnaryFn::Neg
                          ? b_.binary(BinaryFn::Xor, bits, b_.constant(word, Number::integer(sign)))
                          : b_.binary(BinaryFn::And, bits, b_.constant(word, Number::integer(sign - 1)));
    return narrow().same(changed, type, f32);
  }

  bool binary(const op::Binary& o, ValueId result) {
    if (is_math(o.fn, element(o.a)) && (o.fn == BinaryFn::Rem || !here().has(Cap::NativeMath)))
      return round(result, math(element(o.a)).binary(o.fn, math_operand(o.a), math_operand(o.b)));
    if (!is_narrow(o.a)) return false;
    ValueId a = wide(o.a), b = wide(o.b);
    switch (o.fn) {
      case BinaryFn::Min: case BinaryFn::Max: case BinaryFn::Minimum: case BinaryFn::Maximum: {
        bool is_least = o.fn == BinaryFn::Min || o.fn == BinaryFn::Minimum;
        bool passes_nan = o.fn == BinaryFn::Minimum || o.fn == BinaryFn::Maximum;
        ValueId is_first = b_.compare(is_least ? CompareFn::Lt : CompareFn::Gt, a, b);
        ValueId nan = passes_nan ? a : b;  // whose being a NaN means that `a` is the answer
        ValueId takes_a = b_.logical_or(is_first, b_.compare(CompareFn::Ne, nan, nan));
        return both(result, b_.select(takes_a, o.a, o.b), b_.select(takes_a, a, b));
      }
      default: return round(result, b_.binary(o.fn, a, b));
    }
  }

  bool fma(const op::Fma& o, ValueId result) {
    const Scalar type = element(o.a);
    const bool is_half = type == Scalar::F16 || type == Scalar::BF16;
    bool is_native = is_narrow(o.a) ? is_half && here().has(Cap::HalfFused) : here().has(Cap::FusedMultiplyAdd) || here().has(Cap::TextFunctions);
    if (!is_float(type) || is_native) return false;
    return bind_value(result, narrow().fma(wide(o.a), wide(o.b), wide(o.c), type));
  }

  bool compare(const op::Compare& o, ValueId result) {
    return is_narrow(o.a) && bind_value(result, b_.compare(o.fn, wide(o.a), wide(o.b)));
  }

  bool convert(const op::Convert& o, ValueId result) {
    Scalar from = element(o.x), to = element(result);
    if (from == to || !kernel_.type(result).is_scalar()) return false;
    if (o.mode == ConvertMode::Bits) return to == Scalar::TF32 && bind_value(result, narrow().cut(b_.convert(o.x, to, o.mode)));
    if (o.mode == ConvertMode::TowardZero && is_float(to)) return bind_value(result, narrow().toward_zero(is_narrow(o.x) ? wide(o.x) : o.x, to));
    if (is_narrow(o.x)) {
      if (auto bits = is_narrow(result) ? narrow().lengthened(o.x, to) : std::nullopt) return bind_value(result, *bits);
      ValueId x = wide(o.x);
      return bind_value(result, is_narrow(result) ? narrow().convert(x, to, o.mode) : b_.convert(x, to, o.mode));
    }
    return is_narrow(result) && bind_value(result, narrow().convert(o.x, to, o.mode));
  }

  bool warp_reduce(const op::WarpReduce& o, ValueId result) {
    if (!is_narrow(o.x)) return false;
    ValueId x = wide(o.x);
    return round(result, b_.value(op::WarpReduce{o.fn, x}, scalar_type(Scalar::F32, kernel_.type(result).varying)));
  }

  // Narrow floats are added, and compared, by exchanging the element for what it should become until nobody came between.
  // The first guess of what stands there is zero: memory is touched by nothing but exchanges. A tf32 may be there in several patterns,
  // so that an exchange for a certain one tries again with the pattern that it met.
  bool atomic(const op::MemAtomic& o, const std::vector<ValueId>& results) {
    const Scalar type = element(o.buffer);
    const bool compares = o.fn == AtomicFn::CompareExchange && type == Scalar::TF32;
    bool computes = o.fn == AtomicFn::Add || o.fn == AtomicFn::Max || o.fn == AtomicFn::Min;
    if (!compares && (!computes || !is_storage_only(here(), type) || adds_itself(o))) return false;
    std::vector<ValueId> asked{o.index, o.buffer};
    asked.insert(asked.end(), o.operands.begin(), o.operands.end());
    if (o.mask.valid()) asked.push_back(o.mask);
    asked.insert(asked.end(), results.begin(), results.end());
    const bool varies = std::any_of(asked.begin(), asked.end(), [&](ValueId v) { return kernel_.type(v).varying; });
    const std::vector<Type> types{scalar_type(type, varies), scalar_type(Scalar::Bool, varies)};
    const ValueId operand = wide(o.operands[0]);
    auto spread = [&](ValueId v) { return varies && !kernel_.type(v).varying ? b_.value(op::Convert{v}, scalar_type(element(v), true)) : v; };
    std::vector<ValueId> inits{spread(compares ? o.operands[0] : b_.real(type, 0)), spread(o.mask.valid() ? o.mask : b_.boolean(true))};
    const RegionId outer = b_.region();
    auto open = [&] {
      b_.set_region(kernel_.new_region());
      return std::pair{kernel_.new_arg(b_.region(), types[0]), kernel_.new_arg(b_.region(), types[1])};
    };
    auto [tested, waits] = open();
    RegionId condition = b_.region();
    b_.yield({varies ? b_.value(op::Vote{VoteKind::Any, waits}, scalar_type(Scalar::Bool)) : waits, tested, waits});
    auto [expected, active] = open();
    RegionId body = b_.region();
    auto found = [&](ValueId v) { return is_tf32(v) ? narrow().cut(v) : v; };
    ValueId next = compares ? o.operands[1] : narrow().narrow(b_.binary(step_of(o.fn), narrow().widen(found(expected)), operand), type);
    ValueId old = b_.value(op::MemAtomic{AtomicFn::CompareExchange, o.order, o.buffer, o.index, {expected, next}, active}, types[0]);
    Scalar word = word_of(type);
    auto same = [&](CompareFn fn, ValueId x, ValueId y) { return b_.compare(fn, b_.convert(x, word, ConvertMode::Bits), b_.convert(y, word, ConvertMode::Bits)); };
    ValueId is_other = same(CompareFn::Ne, old, expected);
    if (compares) is_other = b_.logical_and(is_other, same(CompareFn::Eq, found(old), o.operands[0]));
    b_.yield({b_.select(active, old, expected), b_.logical_and(active, is_other)});
    b_.set_region(outer);
    OpId loop = b_.add(op::While{inits, condition, body}, types);
    if (results.empty()) return true;
    return bind_value(results[0], found(kernel_.op(loop).results[0]));
  }

  bool adds_itself(const op::MemAtomic& o) const {
    const Type& memory = kernel_.type(o.buffer);
    return here().adds.narrow && o.fn == AtomicFn::Add && memory.space != Space::Shared && (memory.element == Scalar::F16 || memory.element == Scalar::BF16);
  }

  static BinaryFn step_of(AtomicFn fn) {
    return fn == AtomicFn::Add ? BinaryFn::Add : fn == AtomicFn::Max ? BinaryFn::Max : BinaryFn::Min;
  }

  bool bind_value(ValueId result, ValueId value) {
    bind(result, value);
    return true;
  }
};

}  // namespace

void legalise(Kernel& kernel, const Machine& machine, Diagnostics&) {
  INVARIANT(kernel.form == Form::Thread, "legalise works on the program of one thread");
  Legaliser(kernel, machine).run();
}

}  // namespace tilec::passes
