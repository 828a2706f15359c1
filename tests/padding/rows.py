"""The rows of "Padding" in the reference, each with the kernels that show it: rows.py TILEC. A kernel gives the same with an edge as without,
or is refused."""
import pathlib
import sys
import tempfile

from judge import Function, compiled, judged


def read(tensor, pad=None):
    return f"{tensor}.tile[BM, BN](0, 0{'' if pad is None else f', pad = {pad}'})"


X, Y, N, LOW = read("x"), read("y"), read("n"), "x[0 +: BM, D +: BN]"
EARLY, LATE = "x[0 +: BM, 0 +: BN - S]", "x[0 +: BM, 3 +: BN - S]"  # end at N, and at N - 3


# ---- what a kernel does with tiles, and what comes of it: (body, type, axes)

def reduced(tile, fn="sum", axis=1, kind="f32"):
    kind, axes = "i32" if fn.startswith("arg") else kind, ("N", "M")[axis:axis + 1]
    return f"let t = {tile}; o.tile(0) = t.{fn}(axis = {axis});", kind, axes


def after(lines, row):
    return lines + " " + row[0], *row[1:]


def with_name(tile, value, fn="sum", kind="f32"):
    return after(f"let p = {tile};", reduced(value, fn, kind=kind))


def parallel(tile, value, fn="sum", kind="f32"):
    set_all = f"let p = {tile}; var u: fragment {kind}[BM, BN] = 0; for (r, c) in parallel(BM, BN) {{ u[r, c] = {value}; }}"
    return after(set_all, reduced("u", fn, kind=kind))


def carried(start, turn, fn="sum", pad=""):
    loop = f"for k in 0..ceildiv(N, BK) {{ let p = x.tile[BM, BK](0, k{pad}); u = {turn}; }}"
    return after(f"var u: fragment f32[BM, BK] = {start}; {loop}", reduced("u", fn))


def prefetched(fn):
    return (f"var a: fragment f32[BM] = 0; var t = x.tile[BM, BK](0, 0); for k in 0..ceildiv(N, BK) {{ a += t.{fn}(axis = 1); t = x.tile[BM, BK](0, k + 1); }} "
            "o.tile(0) = a;", "f32", ("M",))


def row(value, kind="f32"):
    return f"o.tile(0) = {value};", kind, ("M",)


def one(value, kind="f32"):
    return f"o[0] = {value};", kind, ("1",)


# Rows that end in -inf where they are computed, and hold the same number everywhere where they are not.
ROWS = f"u = {read('x', '-inf')}.max(axis = 1);"
NO_TURN, NEVER = f"for k in 0..M - M {{ {ROWS} }}", f"if N > 1000 {{ {ROWS} }}"


def not_reached(change, row, start="0"):
    return after(f"let p = {read('x', '-inf')}; var u: fragment f32[BM] = {start}; {change}", row)


# (row, name, what it does)
AGREE = [
    ("read", "sum_of_zeros", reduced(X)),
    ("read", "greatest", reduced(X, "max")),
    ("read", "product_of_row", reduced(X, "prod")),
    ("read", "argmax", reduced(read("x", "-inf"), "argmax")),
    ("read", "argmin_of_nan", reduced(read("x", "nan"), "argmin")),
    ("read", "argmax_whole", reduced(N, "argmax")),
    ("read", "max_of_nan", reduced(read("x", "nan"), "max")),
    ("read", "absmax_of_nan", reduced(read("x", "nan"), "absmax")),
    ("read", "shared", (f"var h: shared f32[BM, BN] = {X}; o.tile(0) = h.min(axis = 1);", "f32", ("M",))),
    ("read", "before_the_start", reduced(LOW, "max")),
    ("read", "sum_before_the_start", reduced(f"{LOW} * s")),
    ("read", "argmax_before_the_start", (f"let t = {LOW}; let a = t.argmax(axis = 1); o.tile(0) = max(a + (D as i32), 0);", "i32", ("M",))),
    ("scan", "scan_before_the_start", reduced(f"{LOW}.cummin(axis = 1)", "min")),
    ("elementwise", "times_number", reduced(f"{X} * s")),
    ("elementwise", "times_row", reduced(f"{X} * w.tile[BM](0)[:, _]")),
    ("elementwise", "fused", reduced(f"fma({X}, s, 0)")),
    ("elementwise", "zero_by_zero", reduced(f"{X} / {Y}")),
    ("elementwise", "infinities", reduced(f"{read('x', 'inf')} - {read('y', 'inf')}")),
    ("elementwise", "power", reduced(f"pow({X}, s)")),
    ("elementwise", "moved", reduced(f"{read('x', '-inf')} + w.tile[BM](0)[:, _]", "max")),
    ("elementwise", "moved_maximum", reduced(f"{read('x', '-inf')} + s", "argmax")),
    ("elementwise", "exponentials", with_name(read("x", "-inf"), "exp(p - p.max(axis = 1)[:, _])")),
    ("elementwise", "narrowed", reduced(f"(({X} + 1) as f16) as f32")),
    ("elementwise", "ends_elsewhere", reduced(f"{EARLY} + ({LATE} + 1)")),
    ("elementwise", "sum_of_ends", reduced(f"{EARLY} + {LATE}")),
    ("elementwise", "scaled_ends", reduced(f"{EARLY} + {LATE} * s")),
    ("elementwise", "maximum_of_ends", reduced(f"max({EARLY}, {LATE})", "max")),
    ("elementwise", "difference_of_ends", reduced(f"abs({EARLY} - {LATE})", "min")),
    ("elementwise", "product_of_ends", reduced(f"({EARLY} - 1) * ({LATE} * s)")),
    ("elementwise", "cancelled", (f"let b = {read('x', '1.5')} + (w.tile[BM](0) * 0.5)[:, _] != 0; o.tile(0) = if b.all(axis = 1) {{ 1 }} else {{ 0 }};", "i32", ("M",))),
    ("elementwise", "in_parallel", parallel(X, "p[r, c] * s")),
    ("elementwise", "variance", with_name(f"{X}; let d = p - (p.sum(axis = 1) / (N as f32))[:, _]", "d * d")),
    ("select", "chosen", with_name(X, "select(p > s, p, 1)")),
    ("select", "chosen_by_padding", with_name(f"{LATE[:-1]}, pad = nan]; let q = {EARLY}", "select(p > q, p, q)")),
    ("select", "guarded_division", parallel(N, "if p[r, c] == 0 { -1 } else { 100 / p[r, c] }", kind="i32")),
    ("set", "masked", parallel(X, "if c < N { p[r, c] + 1 } else { 0 }")),
    ("carried", "scaled_sums", carried("0", "u + p * s")),
    ("carried", "sums_of_exponentials", carried("0", "u + exp(p)")),
    ("carried", "greatest_so_far", carried("-inf", "max(u, p)", "max")),
    ("carried", "greatest_with_padding", carried("-inf", "max(u, p + s)", "max", ", pad = -inf")),
    ("next turn", "prefetched", prefetched("sum")),
    ("no turn", "without_difference", not_reached(NO_TURN, reduced("(p - u[:, _]) * (p - u[:, _])", "argmax", 0))),
    ("no turn", "without_difference_of_some", not_reached(NEVER, reduced("abs(p - u[:, _])", "argmax", 0))),
    ("no turn", "without_moved", not_reached(NO_TURN, one("(u + w.tile[BM](0)).max(axis = 0)"), "s")),
    ("no turn", "without_product", not_reached(NEVER, (f"o.tile(0, 0) = (exp(u)[:, _] + {Y} * 0).T @ {Y};", "f32", ("N", "N")))),
    ("other axis", "both_axes", (f"let t = {X} * s; o.tile(0) = (t.sum(axis = 0) + 1).max(axis = 0) + w.tile[BM](0);", "f32", ("M",))),
    ("other axis", "columns_of_product", reduced(f"{X}.T @ {Y}", "min", 1)[:2] + (("N",),)),
    ("other axis", "zeros_of_both_signs", one(f"rsqrt(({X} * {read('y', '-0.0')}).sum(axis = 1)).max(axis = 0)")),
    ("other axis", "zeros_below_zero", one(f"(1 / ({X} * -1).absmax(axis = 1)).max(axis = 0)")),
    ("other axis", "any_of_all", (f"let t = {X} < 1; o[0] = if t.any(axis = 1).any(axis = 0) {{ 1 }} else {{ 0 }};", "i32", ("1",))),
    ("other axis", "all_of_all", (f"let t = {X} >= s; o[0] = if t.all(axis = 0).all(axis = 0) {{ 1 }} else {{ 0 }};", "i32", ("1",))),
    ("along the axis", "product", (f"o.tile(0, 0) = ({X} * s) @ ({Y} + 1).T;", "f32", ("M", "M"))),
    ("along the axis", "product_one_side", (f"let t = {X}; o.tile(0, 0) = (t * 0 + s) @ t.T;", "f32", ("M", "M"))),
    ("scan", "scan_of_maxima", reduced(f"{read('x', '-inf')}.cummax(axis = 1)", "max")),
    ("scan", "scan_of_sums", reduced(f"{X}.cumsum(axis = 0)")),
    ("scan", "scanned_and_summed", reduced(f"({X} + 1).cumsum(axis = 1)")),
    ("shape", "turned", row(f"({X} - 1).T.sum(axis = 0)")),
    ("shape", "reshaped", row(f"{X}.reshape[BM, 1, BN].sum(axis = 2).reshape[BM]")),
    ("shape", "joined_axes", after("let p = w.tile[BM](0) + 1; var h: fragment f32[BM, 4] = 0; for (r, c) in parallel(BM, 4) { h[r, c] = p[r] * (c as f32 + 1); }",
                                   one("h.reshape[BM * 4].sum(axis = 0)"))),
    ("parts", "parts_of_one_end", after("let p = w.tile[BM](0) * s; var h: shared f32[BM, 2] = 0; h[:, 0] = p; h[:, 1] = p + 1;", one("h.reshape[BM * 2].sum(axis = 0)"))),
    ("scan", "scanned_to_the_end", one(f"({X} + 1).cumsum(axis = 1)[:, BN - 1].max(axis = 0)")),
    ("store", "stored", (f"o.tile(0, 0) = {X} + 1;", "f32", ("M", "N"))),
    ("division", "divided", reduced(f"{N} / {N}", kind="i32")),
    ("division", "remainders", reduced(f"7 % {N}", kind="i32")),
]
REFUSE = [
    ("read", "whole_before_the_start", reduced("n[0 +: BM, D +: BN]", "argmax")),
    ("written", "written", reduced(read("x", "1"))),
    ("set", "set_otherwise", parallel(X, "if c < N { p[r, c] } else { 5 }")),
    ("parts", "among_elements", after("var h: shared f32[BM, BN] = 5; h[0 +: BM, 0 +: BN / 2] = x[0 +: BM, 0 +: BN / 2];", reduced("h", "max"))),
    ("parts", "among_rows", after("var h: fragment f32[BM, BN] = 5; h[0 +: BM / 2, 0 +: BN / 2] = x[0 +: BM / 2, 0 +: BN / 2];", one("h.sum(axis = 0).sum(axis = 0)"))),
    ("shape", "divided_axis", row(f"({X}.reshape[BM * 2, BN / 2].max(axis = 1)).reshape[BM, 2].max(axis = 1)")),
]


class Frame:
    """Tiles of 8 by 32, and of m by n; regions begin 3 columns before the start, or at it; they go 3 columns beyond the end, or end there."""
    is_exact, float, whole, exact_text = True, "f32", "i32", ", D = 0, S = 3"
    text = "[BM: int = 8, BN: int = 32, BK: int = 8, D: int = -3, S: int = 0]"

    def __init__(self, m, n):
        self.m, self.n = m, n

    def typed(self, text):
        return text.replace(": F", ": f32").replace(": I", ": i32")


class Row:
    def __init__(self, name, does):
        body, kind, axes = does
        self.name, self.has_places, self.outs = name, True, [(f"{name}_o", kind, axes, False, None)]
        self.over = "    launch (i in 1) { " + body.replace("o.tile(0", f"{name}_o.tile(0").replace("o[0]", f"{name}_o[0]") + " }\n"


def wrong_rows(tilec, m, n):
    functions = [Function(f"of_{name}", Frame(m, n), [Row(name, does)]) for _, name, does in AGREE]
    with tempfile.TemporaryDirectory() as folder:
        library, left, refused = compiled(tilec, pathlib.Path(folder), functions)
        yield from (f"--- {row.name}, M, N = {m, n}: refused by {code}\n{row.over}" for row, code in refused)
        for function in left:
            yield from judged(library, function, None)


def accepted_rows(tilec):
    for _, name, does in REFUSE:
        with tempfile.TemporaryDirectory() as folder:
            _, _, refused = compiled(tilec, pathlib.Path(folder), [Function(f"of_{name}", Frame(5, 20), [Row(name, does)])])
            if [code for _, code in refused] != ["T0404"]:
                yield f"--- {name}: not refused by T0404\n{does[0]}"


def main():
    tilec = str(pathlib.Path(sys.argv[1]).resolve())
    failures = [wrong for size in [(5, 20), (7, 5), (1, 29)] for wrong in wrong_rows(tilec, *size)] + list(accepted_rows(tilec))
    print("\n".join(failures))
    print(f"{len(AGREE)} kernels of rows, {len(REFUSE)} refused, {len(failures)} wrong")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
