// V010, V011 and V015: what may stand where, and the header.
#include "ir/verify_parts.h"

namespace tilec::ir::verifier {

namespace {

// Where the operations of a table may stand, by level: h(ost) b(lock) m(ap) s(imt) t(hread).
constexpr std::string_view kTableLevels[] = {"hbmst", "hbmst", "b", "t"};

// The operations that differ from their table.
struct LevelRow {
  OpKind kind;
  std::string_view levels;
};
constexpr LevelRow kLevels[] = {{OpKind::Launch, "h"},         {OpKind::Alloc, "hbst"},   {OpKind::ElementLoad, "bms"},
                                {OpKind::ElementStore, "bms"}, {OpKind::Atomic, "bms"},   {OpKind::ThreadIndex, "st"},
                                {OpKind::LaneIndex, "st"},     {OpKind::WarpIndex, "st"}, {OpKind::BlockBarrier, "st"},
                                {OpKind::Shuffle, "st"},       {OpKind::Vote, "st"},      {OpKind::WarpReduce, "st"},
                                {OpKind::IsAligned, "bt"},     {OpKind::HasBoxes, "bt"}};

constexpr OpKind kStagedOnly[] = {OpKind::RingAlloc, OpKind::Acquire,   OpKind::Commit,    OpKind::Wait,
                                  OpKind::Release,   OpKind::CopyAsync, OpKind::AwaitCopy, OpKind::GemmAsync,
                                  OpKind::AwaitGemm, OpKind::Roles,     OpKind::Barrier,   OpKind::BeginFlight,
                                  OpKind::Fence,     OpKind::OrderAlloc, OpKind::TakeTurn, OpKind::PassTurn,
                                  OpKind::IsAligned, OpKind::HasBoxes};

std::string_view levels_of(OpKind kind) {
  for (const LevelRow& row : kLevels)
    if (row.kind == kind) return row.levels;
  return kTableLevels[int(table(kind))];
}

Form first_form(OpKind kind) {
  if (kind == OpKind::ConvertLayout || kind == OpKind::VoteTile) return Form::Placed;
  if (std::ranges::find(kStagedOnly, kind) != std::end(kStagedOnly)) return Form::Staged;
  return table(kind) == OpTable::Thread ? Form::Thread : Form::Typed;
}

// What the tables above say of a kind; asked for every operation of every kernel behind every pass.
struct PlaceRow {
  std::string_view levels;
  Form first;
  bool is_of_tiles;
};
const PlaceRow& place_of(OpKind kind) {
  static const auto kRows = [] {
    std::array<PlaceRow, kOpKinds> rows;
    for (size_t i = 0; i < kOpKinds; ++i) {
      auto k = OpKind(i);
      rows[i] = {levels_of(k), first_form(k), table(k) == OpTable::Tile && k != OpKind::Alloc};
    }
    return rows;
  }();
  return kRows[size_t(kind)];
}

bool belongs(OpKind kind, Form form) {
  return form >= place_of(kind).first && (form != Form::Thread || !place_of(kind).is_of_tiles);
}

bool is_body_value(const Kernel& kernel, ValueId v) {
  const Value& value = kernel.value(v);
  if (value.region.valid()) return value.region == kernel.body;
  for (OpId op : kernel.region(kernel.body).ops)
    if (op == value.op) return true;
  return false;
}

void require_header(Check& check, ValueId v, Scalar element, std::string_view of, std::string_view what) {
  bool is_good = is_body_value(check.kernel, v) && check.type(v) == scalar_type(element);
  check.require(is_good, Code::V015, what, " ", v, " of ", of, " is not ", tilec::name(element), " of the body");
}

void check_param(Check& check, const Param& param) {
  const Type& type = check.type(param.value);
  bool is_argument = check.kernel.value(param.value).region == check.kernel.body;
  check.require(is_argument && (type.is_buffer() || type.is_scalar()), Code::V015, "parameter ", param.name,
                " is neither a buffer nor a scalar among the body's arguments");
  size_t rank = type.is_buffer() ? type.shape.size() : 0;
  check.require(param.extents.size() == rank, Code::V015, "parameter ", param.name, " has ", param.extents.size(),
                " extents and ", rank, " dimensions");
  check.require(param.strides.empty() || param.strides.size() == rank, Code::V015, "parameter ", param.name, " has ",
                param.strides.size(), " strides and ", rank, " dimensions");
  for (ValueId v : param.extents) require_header(check, v, Scalar::Index, param.name, "extent");
  for (ValueId v : param.strides) require_header(check, v, Scalar::Index, param.name, "stride");
}

}  // namespace

void check_place(Check& check, bool is_direct) {
  const Op& op = check.op();
  std::string_view text = name(op.kind());
  if (!check.require(belongs(op.kind(), check.form), Code::V010, "`", text, "` does not belong to form ",
                     name(check.form)))
    return;
  constexpr std::string_view kLevels[] = {"the host's part", "a block", "a map", "simt", "a thread"};
  bool is_here = place_of(op.kind()).levels.find("hbmst"[int(check.level)]) != std::string_view::npos;
  check.require(is_here, Code::V011, "`", text, "` stands in ", kLevels[int(check.level)]);
  if (op.is<op::Launch>() || (op.is<op::Alloc>() && check.level == Level::Host))
    check.require(is_direct, Code::V011, "`", text, "` stands inside other control of the host's part");
}

void check_header(Check& check) {
  for (const Dim& dim : check.kernel.dims) require_header(check, dim.value, Scalar::Index, dim.name, "value");
  for (const Param& param : check.kernel.params) check_param(check, param);
  for (const Requirement& r : check.kernel.requirements)
    require_header(check, r.condition, Scalar::Bool, "requires", "condition");
}

}  // namespace tilec::ir::verifier
