// A kernel: one monomorphic instance of an exported program, in any form, from the first typed tile to the program of one
// thread. Values, operations and regions live in tables and are named by ids; adding to a table moves nothing, so that a reference
// to an operation stays good while others are made. A copy of the struct is a copy of the kernel.
//
// The body region is the host's part: its arguments are the dims, strides and parameters; it holds scalar arithmetic,
// workspaces and `launch` operations. Inside a launch's region is the program of one block (or, in Form::Thread, of one
// thread). A region sees the values of the regions around it.
#pragma once
#include <deque>
#include <optional>

#include "ir/formula.h"
#include "ir/loop_times.h"
#include "ir/schedule.h"

namespace tilec::ir {

enum class Form : uint8_t {
  Typed,   // tiles without layouts
  Placed,  // every tile and shared buffer has a layout; conversions are operations
  Staged,  // rings, tokens, roles and barriers are explicit
  Thread,  // no tiles: the program of one thread
};
EnumNames names_of(Form);

struct Value {
  TypeId type;
  OpId op;          // its definition, or
  RegionId region;  // the region whose argument it is
  std::string hint; // the name in the source, if any
};

struct Region {
  std::vector<ValueId> args;
  std::vector<OpId> ops;
};

enum class Access : uint8_t { In, Out, InOut };
EnumNames names_of(Access);

struct Dim {
  std::string name;
  ValueId value;                 // an argument of the body, or the constant that `where` put in its place
  std::optional<int64_t> fixed;  // by `where`
  Span span;
};

struct Param {
  std::string name;
  Access access = Access::In;
  bool may_alias = false, may_be_null = false;
  ValueId value;                 // a buffer or a scalar argument of the body
  std::vector<ValueId> extents;  // of a buffer: values of the body
  std::vector<ValueId> strides;  // in elements; empty: dense, row-major
  std::string type_text;         // as written, for the header and messages
  std::string doc;
  Span span;
};

// A contract of the caller's: the host checks `condition` (a bool of the body) before anything is launched.
struct Requirement {
  ValueId condition;
  std::string text;
  Span span;
};

// Why a tile or buffer has the layout that it has: the line whose demand decided. Kept for people; not part of the text form.
struct LayoutNote {
  ValueId value;
  Span span;
  std::string reason;
};

// What the source says of the read in a load or copy: its text, and that of the value in `pad = value`, if any. Found by the
// span of the operation. Kept for messages; not part of the text form.
struct ReadNote {
  Span operation, read, pad;
};

// A call of a function of the library, which stands for all that was inlined there. Kept for messages; not part of the text form.
struct LibraryCall {
  Span call, function;
  std::string name;
};

// A tile by what it takes of the registers of a lane, and where it is made.
struct TileWeight {
  std::string name;
  Span span;
  int64_t registers = 0;
};

// The heaviest tile of a launch, and the heaviest that products in flight add up in (0 registers: none). Known in Staged form, and
// kept for what is said of a program without tiles.
struct HeavyTiles {
  TileWeight any, accumulator;
};

// What a launch is expected to take, in clocks; what each unit of the busiest core takes of them if nothing else takes longer.
struct Estimate {
  Formula clocks, products, caches, lanes, memory;
};

struct Kernel {
  std::string name, doc;
  Form form = Form::Typed;
  bool fast_math = false;
  TypeTable types;
  layout::LayoutTable layouts;
  std::deque<Value> values;
  std::deque<Op> ops;
  std::deque<Region> regions;
  RegionId body;
  std::vector<Dim> dims;
  std::vector<Param> params;
  std::vector<Requirement> requirements;
  Schedule schedule;
  std::vector<LayoutNote> layout_notes;
  std::vector<ReadNote> read_notes;
  std::vector<LibraryCall> library_calls;
  std::vector<Estimate> estimates;      // one a launch, where the machine says how fast it is; not part of the text form
  std::vector<ScheduledLoop> scheduled_loops;  // in the order of the program; not part of the text form
  std::vector<HeavyTiles> heavy_tiles;  // one a launch, in the order of the program; not part of the text form
  Span span;

  const Type& type(ValueId v) const { return types[values[v.index].type]; }
  Value& value(ValueId v) { return values[v.index]; }
  const Value& value(ValueId v) const { return values[v.index]; }
  Op& op(OpId o) { return ops[o.index]; }
  const Op& op(OpId o) const { return ops[o.index]; }
  Region& region(RegionId r) { return regions[r.index]; }
  const Region& region(RegionId r) const { return regions[r.index]; }
  // The operation that defines `v`, or null when it is an argument.
  const Op* definition(ValueId v) const { return value(v).op.valid() ? &op(value(v).op) : nullptr; }
  template <class T> const T* defined_by(ValueId v) const {
    const Op* d = definition(v);
    return d ? d->get<T>() : nullptr;
  }
  std::optional<Number> constant(ValueId v) const;  // its number, if it is one

  RegionId new_region() { regions.emplace_back(); return {uint32_t(regions.size() - 1)}; }
  ValueId new_arg(RegionId r, const Type& type, std::string hint = {});
  const Op& terminator(RegionId r) const;  // the yield
  // What is written about the read of the operation at `span`; where nothing is, the operation is the read.
  ReadNote read_note(Span span) const;
  // The parameter that a buffer value is, or null.
  const Param* param_of(ValueId buffer) const;
};

// Uses of each value, counted over the reachable operations of the body.
std::vector<int> use_counts(const Kernel& kernel);
// Calls f for every reachable operation, outer before inner, in program order.
void each_op(const Kernel& kernel, RegionId region, const std::function<void(OpId)>& f);
// Puts `to` in the place of `from` wherever a reachable operation of `region` uses it.
void replace_uses(Kernel& kernel, RegionId region, ValueId from, ValueId to);

}  // namespace tilec::ir
