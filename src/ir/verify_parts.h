// What the parts of the verifier (verify_*.cpp) share: the operation under examination, and how a violation is
// reported.
#pragma once
#include <concepts>

#include "ir/print.h"
#include "ir/type_text.h"
#include "ir/verify.h"

namespace tilec::ir::verifier {

enum class Code : uint8_t {
#define LAW(code, text) code,
#include "ir/verify_laws.def"
};

// Where an operation stands.
enum class Level : uint8_t { Host, Block, Map, Simt, Thread };

struct Check {
  const Kernel& kernel;
  Form form;
  std::vector<Violation>& found;
  OpId id{};  // the operation under examination
  Level level = Level::Host;

  const Op& op() const { return kernel.op(id); }
  const Type& type(ValueId v) const { return kernel.type(v); }
  ValueId result() const { return op().result(); }
  const Type& result_type() const { return type(op().results[0]); }
  bool has(TypeKind kind, ValueId v) const { return type(v).kind == kind; }
  // In Thread form an index may have been narrowed.
  bool is_index(const Type& type) const;
  bool is_index(ValueId v) const { return is_index(type(v)); }

  void report_text(Code code, std::string text);
  // The parts are texts, numbers, values (their names) and types.
  template <class... Parts>
  bool report(Code code, const Parts&... parts) {
    std::string text;
    (append(text, parts), ...);
    report_text(code, std::move(text));
    return false;
  }
  template <class... Parts>
  bool require(bool holds, Code code, const Parts&... parts) {
    return holds || report(code, parts...);
  }
  // Operands of a kind (V018).
  bool require_kind(TypeKind kind, ValueId v);
  bool require_scalar(ValueId v, Scalar element);

 private:
  void append(std::string& text, std::string_view part) const { text += part; }
  void append(std::string& text, ValueId v) const { text += value_name(kernel, v); }
  void append(std::string& text, const Type& type) const { text += type_text(type, kernel.layouts); }
  template <std::integral N>
  void append(std::string& text, N number) const {
    text += std::to_string(number);
  }
};

// May a value of type `from` stand where `to` is declared? A uniform one may stand for a varying one.
bool accepts(const Type& to, const Type& from);
// The same type, but for uniformity.
bool equal_but_varying(const Type& a, const Type& b);

// The parts. The first looks at ids, order and visibility, and gives false where nothing else may be looked at.
bool check_ids(Check& check);
bool check_order(Check& check);
void check_header(Check& check);
// By type: a bit for each level that values of it were found at, and one for its layout.
using CheckedTypes = std::vector<uint8_t>;
inline constexpr uint8_t kCheckedLayout = 1 << 7;
void check_type(Check& check, ValueId v, CheckedTypes& checked);
void check_place(Check& check, bool is_direct);
void check_results_and_regions(Check& check);
void check_control(Check& check);
void check_scalar(Check& check);
void check_tile(Check& check);
void check_thread(Check& check);
void check_linear(Check& check);    // flights and tokens, whole kernel
void check_rings(Check& check);     // whole kernel
void check_barriers(Check& check);  // whole kernel

}  // namespace tilec::ir::verifier
