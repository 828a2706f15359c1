// Matrix products, reductions and scans of tiles.
#include "interp/tile_math.h"

#include "interp/handlers.h"
#include "interp/rounding.h"

namespace tilec::interp {

using namespace ir;

namespace {

// acc[m, n] += a[m, k] * b[k, n], a's rows and b's rows contiguous.
template <class Round>
void multiply_floats(const Slot* a, const Slot* b, Slot* acc, const ProductShape& p) {
  for (int64_t r = 0; r < p.m; ++r)
    for (int64_t k = 0; k < p.k; ++k) {
      double x = a[r * p.k + k].f;
      const Slot* row = b + k * p.n;
      Slot* out = acc + r * p.n;
      for (int64_t c = 0; c < p.n; ++c) out[c].f = Round::apply(out[c].f + x * row[c].f);
    }
}

void multiply_integers(const Slot* a, const Slot* b, Slot* acc, const ProductShape& p, Scalar type) {
  for (int64_t r = 0; r < p.m; ++r)
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t c = 0; c < p.n; ++c) acc[r * p.n + c].u += a[r * p.k + k].u * b[k * p.n + c].u;
  for (int64_t k = 0; k < p.m * p.n; ++k) acc[k].i = wrap(type, acc[k].i);
}

// Integer operands of a float product, and the rows of a transposed operand as columns.
std::vector<Slot> arranged(const Slot* x, int64_t rows, int64_t columns, bool is_transposed, bool to_float) {
  std::vector<Slot> out(static_cast<size_t>(rows * columns));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      Slot v = is_transposed ? x[c * rows + r] : x[r * columns + c];
      if (to_float) v.f = double(v.i);
      out[size_t(r * columns + c)] = v;
    }
  return out;
}

}  // namespace

void multiply(const Slot* a, const Slot* b, Slot* acc, const ProductShape& p, Scalar type, bool is_wide) {
  if (!is_float(type)) return multiply_integers(a, b, acc, p, type);
  if (is_wide || type == Scalar::F64) return multiply_floats<KeepF64>(a, b, acc, p);
  multiply_floats<RoundF32>(a, b, acc, p);
  if (type != Scalar::F32)
    for (int64_t k = 0; k < p.m * p.n; ++k) acc[k].f = round_to(type, acc[k].f);
}

// Leading axes are a batch of products.
void product(const TileData& data, const Slot* a, const Slot* b, Slot* acc, bool is_wide) {
  size_t rank = data.shape.size();
  ProductShape p{.m = data.shape[rank - 2], .n = data.shape[rank - 1]};
  const std::vector<int64_t>& of_a = data.shapes[0];
  p.k = of_a[of_a.size() - (data.transpose_a ? 2 : 1)];
  int64_t batches = 1;
  for (size_t d = 0; d + 2 < rank; ++d) batches *= data.shape[d];
  bool floats = is_float(data.type);
  bool arrange_a = data.transpose_a || (floats && !is_float(data.types[0]));
  bool arrange_b = data.transpose_b || (floats && !is_float(data.types[1]));
  for (int64_t n = 0; n < batches; ++n) {
    std::vector<Slot> own_a, own_b;
    const Slot *left = a + n * p.m * p.k, *right = b + n * p.k * p.n;
    if (arrange_a)
      own_a = arranged(left, p.m, p.k, data.transpose_a, floats && !is_float(data.types[0])), left = own_a.data();
    if (arrange_b)
      own_b = arranged(right, p.k, p.n, data.transpose_b, floats && !is_float(data.types[1])), right = own_b.data();
    multiply(left, right, acc + n * p.m * p.n, p, data.type, is_wide);
  }
}

std::optional<Tile> operand(Strand& s, const Instr& i, const Location& place) {
  if (place.place == Place::Tile) return s.tiles[place.slot];
  Region region = whole(s.views[place.slot]);
  if (!touch_region(toucher(s, i), region, Touch::Read)) return std::nullopt;
  Tile tile(region.count());
  read_region(region, Slot{.i = 0}, tile.writable());
  s.run->counters().loaded[int(region.view.memory->space)] += uint64_t(bytes_inside(region));
  return tile;
}

Status do_gemm(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  auto a = operand(s, i, data.operands[0]), b = operand(s, i, data.operands[1]);
  if (!a || !b) return Status::Stop;
  Tile acc = s.tiles[data.operands[2].slot];
  if (data.steals[2]) s.tiles[data.operands[2].slot] = {};
  product(data, a->data(), b->data(), acc.writable(), i.fast);
  s.tiles[data.results[0].slot] = std::move(acc);
  return Status::Next;
}

namespace {

// A tile as `outer` x `length` x `inner` around the axis.
struct AroundAxis {
  int64_t outer = 1, length = 1, inner = 1;
};
AroundAxis around(std::span<const int64_t> shape, int64_t axis) {
  AroundAxis at;
  for (size_t d = 0; d < shape.size(); ++d)
    (int64_t(d) < axis ? at.outer : int64_t(d) == axis ? at.length : at.inner) *= shape[d];
  return at;
}

// What partial results are kept in: sums and products of narrow floats in f32, rounded once at the end.
Scalar partial_type(ReduceFn fn, Scalar type) {
  bool adds = fn == ReduceFn::Sum || fn == ReduceFn::Prod;
  return adds && is_narrow_float(type) ? Scalar::F32 : type;
}

Slot widened(Scalar from, Scalar to, Slot v) {
  return from == to || (is_float(from) && is_float(to))
             ? v
             : to_slot(evaluate_convert(from, to, ConvertMode::Nearest, to_number(from, v)));
}

bool is_arg(ReduceFn fn) { return fn == ReduceFn::ArgMax || fn == ReduceFn::ArgMin; }

// The lowest index of the greatest (least) element; a NaN never wins.
int64_t best_index(const TileData& data, ReduceFn fn, const Slot* x, int64_t length, int64_t step) {
  Scalar type = data.types[0];
  int64_t best = -1;
  for (int64_t k = 0; k < length; ++k) {
    if (is_float(type) && std::isnan(x[k * step].f)) continue;
    CompareFn better = fn == ReduceFn::ArgMax ? CompareFn::Gt : CompareFn::Lt;
    if (best < 0 || evaluate(better, type, to_number(type, x[k * step]), to_number(type, x[best * step]))) best = k;
  }
  return std::max<int64_t>(best, 0);
}

Slot rounded(Scalar type, Slot v, Numeric numeric) {
  if (is_float(type) && numeric == Numeric::Typed) v.f = round_to(type, v.f);
  return v;
}

}  // namespace

Status do_reduce(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  ReduceFn fn = ReduceFn(i.fn);
  Numeric numeric = s.run->options.numeric;
  AroundAxis at = around(data.shape, data.axes[0]);
  Tile x = s.tiles[i.a], to(at.outer * at.inner);
  Slot* out = to.writable();
  Scalar type = partial_type(fn, data.type);
  for (int64_t o = 0; o < at.outer; ++o)
    for (int64_t n = 0; n < at.inner; ++n) {
      const Slot* first = x.data() + o * at.length * at.inner + n;
      Slot& result = out[o * at.inner + n];
      if (is_arg(fn)) {
        result.i = best_index(data, fn, first, at.length, at.inner);
        continue;
      }
      Number sum = identity(fn, type);
      for (int64_t k = 0; k < at.length; ++k)
        sum = combine(fn, type, sum, to_number(type, widened(data.types[0], type, first[k * at.inner])), numeric);
      result = rounded(data.type, to_slot(sum), numeric);
    }
  const Location& place = data.results[0];
  if (place.place == Place::Register)
    s.regs[place.slot] = out[0];
  else
    s.tiles[place.slot] = std::move(to);
  return Status::Next;
}

// Warps of one role follow each other in whole-tile operations anyway: nothing to wait for.
Status do_vote_tile(Strand& s, const Instr& i) {
  const Tile& x = s.tiles[i.a];
  auto is_true = [](const Slot& v) { return v.i != 0; };
  std::span<const Slot> elements{x.data(), size_t(x.size())};
  bool is_so = VoteKind(i.fn) == VoteKind::Any ? std::ranges::any_of(elements, is_true) : std::ranges::all_of(elements, is_true);
  s.regs[i.dst] = Slot{.i = is_so};
  return Status::Next;
}

Status do_scan(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  ReduceFn fn = ReduceFn(i.fn);
  Numeric numeric = s.run->options.numeric;
  AroundAxis at = around(data.shape, data.axes[0]);
  Tile x = s.tiles[i.a], to(x.size());
  Slot* out = to.writable();
  Scalar type = partial_type(fn, data.type);
  for (int64_t o = 0; o < at.outer; ++o)
    for (int64_t n = 0; n < at.inner; ++n) {
      int64_t first = o * at.length * at.inner + n;
      Number sum = identity(fn, type);
      for (int64_t k = 0; k < at.length; ++k) {
        int64_t place = first + (data.transpose_a ? at.length - 1 - k : k) * at.inner;
        sum = combine(fn, type, sum, to_number(type, widened(data.types[0], type, x.data()[place])), numeric);
        out[place] = rounded(data.type, to_slot(sum), numeric);
      }
    }
  s.tiles[data.results[0].slot] = std::move(to);
  return Status::Next;
}

}  // namespace tilec::interp
