#include "sema/kernel.h"

#include "base/text.h"
#include "sema/call.h"
#include "sema/dims.h"
#include "sema/names.h"
#include "sema/stmt.h"
#include "sema/types.h"
#include "sema/view.h"

namespace tilec::sema {
namespace {

constexpr size_t kMostDimensions = 8;  // of a tensor: what a launcher's tables hold

struct Lowering {
  Instance& in;
  const Request& request;
  const ast::Kernel& kernel = *request.decl->as<ast::Kernel>();
  const ast::Signature& signature = kernel.signature;
  std::map<std::string_view, int64_t> fixed = {};
  std::vector<Value> generics = {};

  // Compile-time parameters from the export's brackets and the defaults.
  bool bind_generics() {
    std::vector<std::optional<Value>> values(signature.generics.size());
    Instance outside(in.session, *request.asking);
    for (size_t k = 0; k < request.generics.size(); ++k) {
      const ast::Argument& a = request.generics[k];
      size_t i = k;
      if (a.is_named())
        for (i = 0; i < values.size() && signature.generics[i].name.text != a.name.text; ++i) {}
      if (i >= values.size()) return report_unknown(a), false;
      if (values[i]) return in.at(a.span).error(diag::GivenTwice, signature.generics[i].name.text), false;
      values[i] = evaluate(outside, *a.value);
      if (values[i]->is_poison() || !meets_kind(in, signature.generics[i], *values[i], a.span)) return false;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const ast::GenericParameter& p = signature.generics[i];
      if (!values[i] && p.default_value) {
        values[i] = evaluate(in, *p.default_value);
        if (values[i]->is_poison() || !meets_kind(in, p, *values[i], p.default_value->span)) return false;
      }
      if (!values[i]) {
        in.at(request.span).error(diag::MissingGeneric, signature.name.text, p.name.text)
            .note(p.name.span, diag::DeclaredHere, p.name.text)
            .help("give it a default, or a value where the kernel is exported; a dim that the caller passes stands in the parameters' types only");
        return false;
      }
      in.declare(p.name, *values[i], "a compile-time parameter");
      generics.push_back(*values[i]);
    }
    return true;
  }

  void report_unknown(const ast::Argument& a) {
    if (!a.is_named()) {
      in.at(a.span).error(diag::ArgumentCount, signature.name.text, int64_t(signature.generics.size()),
                          int64_t(request.generics.size()));
      return;
    }
    std::vector<std::string_view> names;
    for (const auto& g : signature.generics) names.push_back(g.name.text);
    auto report = in.at(a.name.span).error(diag::UnknownParameter, signature.name.text, a.name.text);
    if (auto near = nearest(a.name.text, names); !near.empty())
      report.fix(a.name.span, near, "did you mean `" + std::string(near) + "`?");
  }

  bool bind_where(const std::vector<DimName>& dims) {
    for (const ast::Argument& a : request.where) {
      bool is_dim = std::any_of(dims.begin(), dims.end(), [&](const DimName& d) { return d.name.text == a.name.text; });
      if (!is_dim) return in.at(a.name.span).error(diag::UnknownParameter, signature.name.text, a.name.text), false;
      auto n = known_int(in, operand(in, *a.value), "the value of a dim");
      if (!n) return false;
      if (*n < 0) return in.at(a.value->span).error(diag::BadExtent, *n), false;
      if (*n > kMostExtent) return not_allowed(in, a.value->span, "an extent above 2147483647", "here"), false;
      if (!fixed.emplace(a.name.text, *n).second) return in.at(a.name.span).error(diag::GivenTwice, a.name.text), false;
    }
    return true;
  }

  bool bind_dims() {
    auto dims = dim_names(in, signature);
    if (!dims || !bind_where(*dims)) return false;
    for (const DimName& dim : *dims) {
      ir::Dim d{.name = std::string(dim.name.text), .value = {}, .fixed = {}, .span = dim.name.span};
      Value value;
      if (auto it = fixed.find(dim.name.text); it != fixed.end()) {
        d.fixed = it->second;
        d.value = in.builder.index(it->second);
        value = int_const(it->second);
      } else {
        d.value = in.kernel.new_arg(in.kernel.body, ir::scalar_type(Scalar::Index), d.name);
        value = Dynamic{d.value};
      }
      in.kernel.dims.push_back(d);
      in.declare(dim.name, value, "a dim");
    }
    return true;
  }

  static ir::Access access(ast::Direction direction) {
    return direction == ast::Direction::In ? ir::Access::In : direction == ast::Direction::Out ? ir::Access::Out
        : ir::Access::InOut;
  }

  bool bind_scalar(const ast::Parameter& p, const ResolvedType& type, ir::Param param) {
    if (p.direction != ast::Direction::In)
      return not_allowed(in, p.span, "a number as an `out` parameter", "of a kernel; use a tensor of one element"),
          false;
    param.value = in.kernel.new_arg(in.kernel.body, ir::scalar_type(type.element), param.name);
    in.kernel.params.push_back(std::move(param));
    in.declare(p.name, Dynamic{in.kernel.params.back().value}, "a parameter");
    return true;
  }

  bool bind_tensor(const ast::Parameter& p, const ast::ShapedType& shaped, const ResolvedType& type, ir::Param param) {
    if (type.space != ast::Space::None)
      return not_allowed(in, p.type->span, "a `" +
                         std::string(spelling(type.space)) + "` tile", "as a parameter of a kernel"), false;
    if (type.extents.size() > kMostDimensions)
      return not_allowed(in, p.type->span, "a tensor of more than " + std::to_string(kMostDimensions) + " dimensions", "here"), false;
    Shape shape;
    for (const Extent& e : type.extents) shape.push_back(e.fixed);
    param.may_be_null = shaped.is_nullable;
    param.value = in.kernel.new_arg(in.kernel.body, ir::buffer_type(ir::Space::Global, type.element, shape),
                                    param.name);
    for (const Extent& e : type.extents) param.extents.push_back(extent_value(in, e));
    if (!shaped.strides.empty() && shaped.strides.size() != type.extents.size()) {
      in.at(p.type->span).error(diag::RankMismatch, p.name.text, int64_t(type.extents.size()),
                                int64_t(shaped.strides.size()));
      return false;
    }
    for (const ast::Expr* stride : shaped.strides) {
      ir::ValueId value = index_value(in, operand(in, *stride));
      if (!value.valid()) return false;
      param.strides.push_back(value);
    }
    MemoryId memory = in.new_memory({.name = param.name, .span = p.span, .space = ir::Space::Global,
        .access = param.access,
                                     .may_be_null = param.may_be_null, .param = int(in.kernel.params.size())});
    View view = whole(in, param.value, memory, type.extents);
    in.kernel.params.push_back(std::move(param));
    in.declare(p.name, Value(view), "a parameter");
    return true;
  }

  // A type as written, but for what this instance knows: its compile-time parameters and the dims after `where`.
  std::string instance_text(Span span) const {
    std::string_view text = in.text(span);
    std::string out;
    auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (size_t i = 0, end; i < text.size(); i = end) {
      for (end = i; end < text.size() && is_letter(text[end]);) ++end;
      if (end == i) out += text[end++];
      else out += known_text(text.substr(i, end - i));
    }
    return out;
  }
  std::string known_text(std::string_view word) const {
    const Binding* binding = in.find(word);
    auto* value = binding ? std::get_if<Value>(&binding->what) : nullptr;
    if (!value) return std::string(word);
    if (auto* type = value->as<TypeValue>()) return std::string(name(type->scalar));
    auto* known = value->as<Const>();
    auto* dynamic = value->as<Dynamic>();
    auto n = known ? std::optional(known->number) : dynamic ? in.kernel.constant(dynamic->id) : std::nullopt;
    return n && !n->is_float ? std::to_string(n->i) : std::string(word);
  }

  void const_parameter(const ast::Parameter& p, bool is_tensor) {
    if (!is_tensor) return void(not_supported(in, p.span, "a `const` parameter of a kernel; write it in the brackets"));
    size_t word = in.text(p.span).find("const"), end = in.text(p.span).find_first_not_of(" \n", word + 5);
    auto said = in.at(p.span).error(diag::NotAllowedHere, "`const`", "on a tensor");
    if (word == 0) said.fix({p.span.file, p.span.begin, p.span.begin + uint32_t(end)}, "", "what is no `out` is not changed: leave `const` away");
  }

  bool bind_parameter(const ast::Parameter& p) {
    auto type = resolve(in, *p.type);
    auto* shaped = p.type->as<ast::ShapedType>();
    if (!type || !shaped) return false;
    if (p.default_value) return not_supported(in, p.default_value->span, "a default of a kernel's parameter"), false;
    if (p.is_const) return const_parameter(p, !type->is_scalar()), false;
    ir::Param param{.name = std::string(p.name.text), .access = access(p.direction), .may_alias = p.is_alias,
        .value = {}, .extents = {},
                    .strides = {}, .type_text = instance_text(p.type->span), .doc = p.doc, .span = p.span};
    if (type->is_scalar() && shaped->is_nullable) return not_allowed(in, p.type->span, "`?`", "on a number: only a tensor may be null"), false;
    return type->is_scalar() ? bind_scalar(p, *type, std::move(param))
        : bind_tensor(p, *shaped, *type, std::move(param));
  }

  // Numbers first: extents may speak of them.
  bool bind_parameters() {
    bool is_fine = true;
    for (const ast::Parameter& p : signature.parameters) is_fine &= bind_parameter(p);
    return is_fine;
  }

  void bind_requirements() {
    for (const ast::Expr* expr : signature.requirements) {
      Value test = condition(in, *expr);
      if (test.is_poison()) continue;
      auto* c = test.as<Const>();
      if (c && !c->number.i) {
        in.at(expr->span).error(diag::StaticAssertFailed, "this contract never holds: " +
                                std::string(in.text(expr->span)));
        continue;
      }
      if (!c) in.kernel.requirements.push_back({emit(in, test), std::string(in.text(expr->span)), expr->span});
    }
  }

  bool run() {
    in.kernel.name = std::string(signature.name.text);
    in.kernel.doc = request.decl->doc;
    in.kernel.span = request.decl->span;
    for (const ast::Attribute& a : request.decl->attributes) {
      if (a.name.text == "fast_math") in.kernel.fast_math = true;
      else if (request.module != request.asking) not_supported(in, a.span, "the attribute `@" + std::string(a.name.text) + "`");
    }
    if (!bind_generics()) return false;
    in.level = Level::Host;
    if (!bind_dims() || !bind_parameters()) return false;
    bind_requirements();
    run_scoped(in, kernel.body);
    in.builder.set_span(request.decl->span);
    in.builder.yield({});
    return true;
  }
};

}  // namespace

std::optional<LoweredKernel> lower_kernel(Session& session, const Request& request) {
  int errors_before = session.diagnostics.error_count();
  Instance in(session, *request.module);
  in.frames.back().decl = request.decl;
  bool is_chosen = !request.generics.empty() || !request.where.empty();
  if (is_chosen) in.frames.back().call = request.span;
  Lowering lowering{in, request};
  bool is_done = lowering.run();
  if (!is_done || session.diagnostics.error_count() != errors_before) return std::nullopt;
  return LoweredKernel{std::move(in.kernel), std::move(lowering.generics)};
}

}  // namespace tilec::sema
