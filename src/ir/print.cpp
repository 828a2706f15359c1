#include "ir/print.h"

#include "base/text.h"
#include "ir/attribute_text.h"
#include "ir/header_fields.h"
#include "ir/type_text.h"

namespace tilec::ir {

namespace {

// A broken kernel may hold a region inside itself.
constexpr int kDeepest = 200;

class Printer {
 public:
  Printer(const Kernel& kernel, PrintOptions options) : kernel_(kernel), options_(options) {}

  std::string whole();
  std::string head_of(const Op& op) const;

 private:
  template <class Struct>
  std::string fields(std::string_view keyword, const Struct& s) const;
  template <class Struct>
  void header_line(std::string_view indent, std::string_view keyword, const Struct& s, Span span = {});
  std::string value_list(const std::vector<ValueId>& values) const;
  std::string type_of(ValueId v) const;
  std::string span_text(Span span) const;
  void header();
  void region(RegionId id, int depth);
  void operation(OpId id, int depth);

  const Kernel& kernel_;
  PrintOptions options_;
  std::string out_;
};

std::string Printer::value_list(const std::vector<ValueId>& values) const {
  std::vector<std::string> names;
  for (ValueId v : values) names.push_back(value_name(kernel_, v));
  return "[" + join(names, ", ") + "]";
}

std::string Printer::type_of(ValueId v) const {
  if (v.index >= kernel_.values.size() || kernel_.value(v).type.index >= kernel_.types.size()) return "?";
  return type_text(kernel_.type(v), kernel_.layouts);
}

std::string Printer::span_text(Span span) const {
  if (!options_.spans || !span.valid()) return "";
  return " !" + std::to_string(span.file.index) + ":" + std::to_string(span.begin) + ":" + std::to_string(span.end);
}

template <class T>
constexpr bool kIsValueList = std::is_same_v<std::decay_t<T>, std::vector<ValueId>>;

// The texts of the attributes of `s`, in order; lists of values are only compared with the empty list.
template <class Struct>
std::vector<std::string> attribute_texts(const Struct& s) {
  std::vector<std::string> texts;
  each_field(s, [&](auto kind, const char*, const auto& value) {
    if constexpr (std::is_same_v<decltype(kind), field::Attribute>) {
      if constexpr (kIsValueList<decltype(value)>)
        texts.push_back("[]");
      else
        texts.push_back(attribute_text(value));
    }
  });
  return texts;
}

// Operands by position, then the attributes that differ from their defaults by name. Empty lists at the end of the
// operands are left out.
template <class Struct>
std::string Printer::fields(std::string_view keyword, const Struct& s) const {
  std::string head(keyword);
  std::vector<std::string> parts, named, usual = attribute_texts(Struct{});
  size_t attribute = 0;
  each_field(s, [&](auto kind, std::string_view name, const auto& value) {
    using Kind = decltype(kind);
    if constexpr (std::is_same_v<Kind, field::Value>) {
      parts.push_back(value_name(kernel_, value));
    } else if constexpr (std::is_same_v<Kind, field::Values>) {
      parts.push_back(value_list(value));
    } else if constexpr (std::is_same_v<Kind, field::Maybe>) {
      if (value.valid()) named.push_back(std::string(name) + "=" + value_name(kernel_, value));
    } else if constexpr (std::is_same_v<Kind, field::Subject>) {
      parts.push_back(attribute_text(value));
    } else if constexpr (std::is_same_v<Kind, field::Attribute>) {
      std::string text;
      if constexpr (kIsValueList<decltype(value)>)
        text = value_list(value);
      else
        text = attribute_text(value);
      if (is_suffix(name))
        head += "." + text;
      else if (is_subject(name))
        parts.push_back(text);
      else if (text != usual[attribute])
        named.push_back(std::string(name) + "=" + text);
      ++attribute;
    }
  });
  while (!parts.empty() && parts.back() == "[]") parts.pop_back();
  parts.insert(parts.end(), named.begin(), named.end());
  return parts.empty() ? head : head + " " + join(parts, ", ");
}

std::string Printer::head_of(const Op& op) const {
  std::vector<std::string> names, types;
  for (ValueId v : op.results) {
    names.push_back(value_name(kernel_, v));
    types.push_back(type_of(v));
  }
  std::string text = names.empty() ? "" : join(names, ", ") + " = ";
  if (op.kind() == kNoOp)
    text += "nothing";
  else
    text += visit(op.data, [&](const auto& data) { return fields(data.text_name, data); });
  if (!types.empty()) text += " : " + join(types, ", ");
  return text + span_text(op.span);
}

template <class Struct>
void Printer::header_line(std::string_view indent, std::string_view keyword, const Struct& s, Span span) {
  out_.append(indent).append(fields(keyword, s)).append(span_text(span)).append("\n");
}

void Printer::header() {
  header_line("", "kernel", kernel_, kernel_.span);
  for (const Dim& dim : kernel_.dims) header_line("  ", "dim", dim, dim.span);
  for (const Param& param : kernel_.params) header_line("  ", "param", param, param.span);
  for (const Requirement& r : kernel_.requirements) header_line("  ", "requires", r, r.span);
  const Schedule& schedule = kernel_.schedule;
  if (fields("", schedule) != "") header_line("  ", "schedule", schedule);
  for (const Role& role : schedule.roles) header_line("  ", "role", role);
  for (const Placement& placement : schedule.placements) header_line("  ", "place", placement);
  for (const Pipeline& pipeline : schedule.pipelines) header_line("  ", "pipeline", pipeline);
  for (const PinnedLayout& pinned : schedule.layouts) header_line("  ", "layout", pinned);
  for (const Required& required : schedule.required) header_line("  ", "need", required, required.span);
}

std::string Printer::whole() {
  header();
  region(kernel_.body, 0);
  return out_ + "\n";
}

void Printer::region(RegionId id, int depth) {
  if (id.index >= kernel_.regions.size() || depth > kDeepest) {
    out_ += "{ ... }";
    return;
  }
  const Region& region = kernel_.region(id);
  std::vector<std::string> args;
  for (ValueId v : region.args) args.push_back(value_name(kernel_, v) + ": " + type_of(v));
  out_ += args.empty() ? "{\n" : "{ (" + join(args, ", ") + ")\n";
  for (OpId op : region.ops) operation(op, depth + 1);
  out_.append(2 * depth, ' ').append("}");
}

void Printer::operation(OpId id, int depth) {
  out_.append(2 * depth, ' ');
  if (id.index >= kernel_.ops.size()) {
    out_ += "nothing\n";
    return;
  }
  const Op& op = kernel_.op(id);
  out_ += head_of(op);
  bool is_first = true;
  auto inner = [&](std::string_view label, RegionId r) {
    out_ += " ";
    if (!is_first && !label.empty()) out_.append(label).append(" ");
    region(r, depth);
  };
  if (op.kind() != kNoOp)
    visit(op.data, [&](const auto& data) {
      each_field(data, [&](auto kind, const char* name, const auto& value) {
        if constexpr (std::is_same_v<decltype(kind), field::Region>) {
          if (value.valid()) inner(name, value);
          is_first = false;
        }
        if constexpr (std::is_same_v<decltype(kind), field::Regions>)
          for (RegionId r : value) inner("", r);
      });
    });
  out_ += "\n";
}

}  // namespace

std::string value_name(const Kernel& kernel, ValueId value) {
  if (!value.valid()) return "%none";
  std::string number = std::to_string(value.index);
  if (value.index >= kernel.values.size() || kernel.value(value).hint.empty()) return "%" + number;
  std::string name = "%" + kernel.value(value).hint + "_" + number;
  for (char& c : name)
    if (!is_word_character(c) && &c != name.data()) c = '_';
  return name;
}

std::string print(const Kernel& kernel, PrintOptions options) { return Printer(kernel, options).whole(); }

std::string print_op(const Kernel& kernel, OpId op, PrintOptions options) {
  if (op.index >= kernel.ops.size()) return "nothing";
  return Printer(kernel, options).head_of(kernel.op(op));
}

}  // namespace tilec::ir
