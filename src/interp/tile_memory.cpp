#include "interp/tile_memory.h"

namespace tilec::interp {

using namespace ir;

int64_t Region::count() const {
  int64_t n = 1;
  for (int a = 0; a < rank; ++a) n *= shape[a];
  return n;
}

std::vector<int64_t> offsets_of(const Strand& s, const RegionAccess& access) {
  std::vector<int64_t> offsets;
  for (uint32_t reg : access.offsets) offsets.push_back(s.regs[reg].i);
  return offsets;
}

namespace {

std::string where(const View& view, int64_t d) {
  return " along axis " + std::to_string(d) + " of " + (view.memory ? name_of(*view.memory) : "an absent tensor") +
         ", whose extent is " + std::to_string(view.extents[d]);
}

// Where nothing of a region lies inside, it is some number that nobody uses.
int64_t moved(int64_t base, int64_t offset, int64_t stride) { return int64_t(uint64_t(base) + uint64_t(offset) * uint64_t(stride)); }

// A dimension that no tile axis runs along is an element access; 0 when it may go on.
bool resolve_element(Run& run, Span span, Region& r, int64_t d, int64_t offset, Bounds bounds) {
  r.base = moved(r.base, offset, r.view.strides[d]);
  if (offset >= 0 && offset < r.view.extents[d]) return true;
  if (bounds != Bounds::Guarded) {
    fail_at(run, FaultKind::OutOfBounds, span, "index " + std::to_string(offset) + " leaves its tensor" + where(r.view, d));
    return false;
  }
  if (!run.result.guard) run.result.guard = GuardHit{span, 0, offset};
  r.is_empty = true;
  return true;
}

bool resolve_axis(Run& run, Span span, Region& r, int axis, int64_t d, int64_t offset, int64_t extent,
                  Bounds bounds) {
  r.base = moved(r.base, offset, r.view.strides[d]);
  r.shape[axis] = extent;
  r.stride[axis] = r.view.strides[d];
  r.low[axis] = offset >= 0 ? 0 : offset <= -extent ? extent : -offset;
  r.high[axis] = r.low[axis] == extent ? extent : std::clamp<int64_t>(r.view.extents[d] - offset, r.low[axis], extent);
  bool leaves = r.low[axis] > 0 || r.high[axis] < extent;
  if (!leaves || bounds != Bounds::Inside) return true;
  fail_at(run, FaultKind::OutOfBounds, span,
          "a region proved inside covers " + std::to_string(offset) + " to " + std::to_string(offset + extent) + where(r.view, d));
  return false;
}

}  // namespace

std::optional<Region> resolve(Run& run, uint32_t op, const RegionAccess& access, const View& view,
                              std::span<const int64_t> offsets) {
  Region r{.view = view, .rank = int(access.shape.size()), .base = view.base};
  const Span span = access.span.valid() ? access.span : run.kernel.ops[op].span;
  if (!view.memory) {
    fail_at(run, FaultKind::OutOfBounds, span, "an absent tensor is touched");
    return std::nullopt;
  }
  for (int64_t d = 0; d < int64_t(offsets.size()); ++d) {
    auto axis = std::find(access.axes.begin(), access.axes.end(), d) - access.axes.begin();
    bool is_fine = axis == std::ssize(access.axes)
                       ? resolve_element(run, span, r, d, offsets[size_t(d)], access.bounds[size_t(d)])
                       : resolve_axis(run, span, r, int(axis), d, offsets[size_t(d)], access.shape[size_t(axis)],
                                      access.bounds[size_t(d)]);
    if (!is_fine) return std::nullopt;
  }
  return r;
}

Region whole(const View& view) {
  Region r{.view = view, .rank = view.rank, .base = view.base};
  for (int d = 0; d < view.rank; ++d) {
    r.shape[d] = r.high[d] = view.extents[d];
    r.stride[d] = view.strides[d];
    r.low[d] = 0;
  }
  return r;
}

void read_region(const Region& r, Slot pad, Slot* out) {
  int width = byte_width(r.view.element), last = r.rank - 1;
  int64_t length = r.rank ? r.shape[last] : 1, low = r.rank ? r.low[last] : 0, high = r.rank ? r.high[last] : 1;
  int64_t step = r.rank ? r.stride[last] : 1;
  each_row(r, [&](int64_t at, int64_t place, bool is_inside) {
    if (!is_inside || low > 0 || high < length) std::fill_n(out + at, length, pad);
    if (!is_inside) return true;
    if (step == 1) {
      if (high > low)
        load_elements(r.view.element, r.view.memory->data + (place + low) * width, high - low, out + at + low);
    } else {
      for (int64_t k = low; k < high; ++k)
        out[at + k] = load_element(r.view.element, r.view.memory->data + (place + k * step) * width);
    }
    return true;
  });
}

void write_region(const Region& r, const Slot* values) {
  int width = byte_width(r.view.element), last = r.rank - 1;
  int64_t low = r.rank ? r.low[last] : 0, high = r.rank ? r.high[last] : 1, step = r.rank ? r.stride[last] : 1;
  each_row(r, [&](int64_t at, int64_t place, bool is_inside) {
    if (!is_inside) return true;
    if (step == 1) {
      if (high > low)
        store_elements(r.view.element, r.view.memory->data + (place + low) * width, high - low, values + at + low);
    } else {
      for (int64_t k = low; k < high; ++k)
        store_element(r.view.element, r.view.memory->data + (place + k * step) * width, values[at + k]);
    }
    return true;
  });
}

bool touch_region(const Toucher& who, const Region& r, Touch how) {
  if (r.view.memory->is_plain()) return true;
  int width = byte_width(r.view.element), last = r.rank - 1;
  int64_t low = r.rank ? r.low[last] : 0, high = r.rank ? r.high[last] : 1, step = r.rank ? r.stride[last] : 1;
  return each_row(r, [&](int64_t, int64_t place, bool is_inside) {
    for (int64_t k = low; is_inside && k < high; ++k)
      if (!touch_bytes(who, *r.view.memory, (place + k * step) * width, width, 0, how)) return false;
    return true;
  });
}

int64_t bytes_inside(const Region& r) {
  int64_t count = r.is_empty ? 0 : 1;
  for (int a = 0; a < r.rank; ++a) count *= r.high[a] - r.low[a];
  return count * byte_width(r.view.element);
}

}  // namespace tilec::interp
