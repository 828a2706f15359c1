// What `@op("name")` functions of the library do. The library names them and gives their parameters; the operations of
// scalar_fn.def need no row here.
#pragma once
#include "sema/call.h"

namespace tilec::sema {

// Takes its arguments as written: places, shapes, options.
bool is_raw(std::string_view operation);
Value run_raw(Instance& in, std::string_view operation, const FnRef& fn, const CallSite& site);
// On arguments that are bound to the parameters of the open frame.
Value run_operation(Instance& in, std::string_view operation, const Invocation& call);

// The rows, by subject.
using RawHandler = Value (*)(Instance&, const FnRef&, const CallSite&, std::string_view rest);
struct RawRow {
  std::string_view name;  // "atomic_" stands for every name that begins so; `rest` is what follows
  RawHandler run;
};
std::span<const RawRow> tile_rows();    // intrinsic_tiles.cpp: tile, reshape, gemm, copy
std::span<const RawRow> number_rows();  // intrinsic_numbers.cpp: convert, wrap, bits, atomics
// The arguments of a raw call by the names of its parameters; null where none is given. Nothing after a mistake.
std::optional<std::vector<const ast::Expr*>> raw_arguments(Instance& in, const FnRef& fn, const CallSite& site);

}  // namespace tilec::sema
