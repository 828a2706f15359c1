// Walks a kernel and asks each part of the verifier about each operation. The invariants and their codes are listed in
// verify_laws.def:
//   V001-V018 structure   verify_structure.cpp, verify_order.cpp, verify_types.cpp, verify_regions.cpp
//   V020-V026 scalars     verify_scalar.cpp
//   V030-V043 tiles       verify_tile.cpp, verify_map.cpp
//   V050-V055 staged      verify_staged.cpp, verify_rings.cpp
//   V060-V070 thread      verify_thread.cpp, verify_uniform.cpp
#include "ir/verify.h"

#include "ir/verify_parts.h"

namespace tilec::ir {

namespace verifier {

bool Check::is_index(const Type& t) const {
  if (!t.is_scalar()) return false;
  bool is_narrow = t.element == Scalar::I32 || t.element == Scalar::I64;
  return t.element == Scalar::Index || (form == Form::Thread && is_narrow);
}

void Check::report_text(Code code, std::string text) {
  Span span = id.valid() && id.index < kernel.ops.size() ? op().span : kernel.span;
  found.push_back({laws()[size_t(code)].code, std::move(text), id, span});
}

bool Check::require_kind(TypeKind kind, ValueId v) {
  constexpr std::string_view kKinds[] = {"scalar", "vector", "tile", "buffer", "token", "flight", "ring"};
  return require(has(kind, v), Code::V018, v, " is ", type(v), ", not a ", kKinds[int(kind)]);
}

bool Check::require_scalar(ValueId v, Scalar element) {
  bool is_one = type(v).is_scalar() && (type(v).element == element || (element == Scalar::Index && is_index(v)));
  return require(is_one, Code::V018, v, " is ", type(v), ", not ", tilec::name(element));
}

bool equal_but_varying(const Type& a, const Type& b) {
  if (a.varying == b.varying) return a == b;
  Type other = b;
  other.varying = a.varying;
  return a == other;
}

bool accepts(const Type& to, const Type& from) { return equal_but_varying(to, from) && (to.varying || !from.varying); }

namespace {

class Walk {
 public:
  explicit Walk(Check& check) : check_(check) {}

  void region(RegionId id, Level level, bool is_direct) {
    for (ValueId v : check_.kernel.region(id).args) {
      check_.level = level;
      check_type(check_, v, checked_);
    }
    for (OpId op : check_.kernel.region(id).ops) operation(op, level, is_direct);
  }

 private:
  void operation(OpId id, Level level, bool is_direct) {
    const Op& op = check_.kernel.op(id);
    check_.id = id;
    check_.level = level;
    size_t before = check_.found.size();
    for (ValueId v : op.results) check_type(check_, v, checked_);
    check_place(check_, is_direct);
    check_results_and_regions(check_);
    // The rules of an operation count on its place, results and regions.
    if (check_.found.size() == before) {
      check_control(check_);
      check_scalar(check_);
      check_tile(check_);
      check_thread(check_);
    }
    each_region(op.data, [&](RegionId r) { region(r, inner_level(op, level), false); });
  }

  Level inner_level(const Op& op, Level level) const {
    if (op.is<op::Launch>()) return check_.form == Form::Thread ? Level::Thread : Level::Block;
    if (op.is<op::Map>()) return Level::Map;
    return op.is<op::Simt>() ? Level::Simt : level;
  }

  Check& check_;
  CheckedTypes checked_;
};

}  // namespace
}  // namespace verifier

std::vector<Violation> verify(const Kernel& kernel, Form form) {
  using namespace verifier;
  std::vector<Violation> found;
  Check check{kernel, form, found};
  if (!check_ids(check) || !check_order(check)) return found;
  check.id = {};
  check_header(check);
  check.require(kernel.form == form, Code::V010, "the kernel says that its form is ", name(kernel.form), ", not ",
                name(form));
  Walk(check).region(kernel.body, Level::Host, true);
  check.id = {};
  if (!found.empty()) return found;
  check_linear(check);
  check_rings(check);
  check_barriers(check);
  return found;
}

std::string internal_error(const Violation& violation, std::string_view pass) {
  return "internal error after pass '" + std::string(pass) + "': " + violation.text + " [" +
         std::string(violation.code) + "]";
}

std::span<const Law> laws() {
  static constexpr Law kLaws[] = {
#define LAW(code, text) {#code, text},
#include "ir/verify_laws.def"
  };
  return kLaws;
}

}  // namespace tilec::ir
