"""The rows of "Padding" in the reference, each with the kernels that show it: rows.py TILEC. A kernel gives the same with an edge as without,
or is refused."""
import pathlib
import sys
import tempfile

from generate import judge, refused

HEAD = "[BM: int = 8, BN: int = 32, BK: int = 8, D: int = -3](x: f32[M, N], y: f32[M, N], n: i32[M, N], w: f32[M], v: f32[N], s: f32"
X, Y, N, SUM = "x.tile[BM, BN](0, 0)", "y.tile[BM, BN](0, 0)", "n.tile[BM, BN](0, 0)", "o.tile(0) = t.sum(axis = 1);"
ROW, COLUMN, SQUARE, INDEX, WHOLE = ("f32", ("M",)), ("f32", ("N",)), ("f32", ("M", "M")), ("i32", ("M",)), ("f32", ("M", "N"))
LOOP = "for k in 0..ceildiv(N, BK) {{ let p = x.tile[BM, BK](0, k{}); {} }}"

# (row, name, body, result)
AGREE = [
    ("read", "sum_of_zeros", f"let t = {X}; {SUM}", ROW),
    ("read", "greatest", f"let t = {X}; o.tile(0) = t.max(axis = 1);", ROW),
    ("read", "product_of_row", f"let t = {X}; o.tile(0) = t.prod(axis = 1);", ROW),
    ("read", "argmax", "let t = x.tile[BM, BN](0, 0, pad = -inf); o.tile(0) = t.argmax(axis = 1);", INDEX),
    ("read", "argmin_of_nan", "let t = x.tile[BM, BN](0, 0, pad = nan); o.tile(0) = t.argmin(axis = 1);", INDEX),
    ("read", "argmax_whole", f"let t = {N}; o.tile(0) = t.argmax(axis = 1);", INDEX),
    ("read", "max_of_nan", "let t = x.tile[BM, BN](0, 0, pad = nan); o.tile(0) = t.max(axis = 1);", ROW),
    ("read", "absmax_of_nan", "let t = x.tile[BM, BN](0, 0, pad = nan); o.tile(0) = t.absmax(axis = 1);", ROW),
    ("read", "shared", f"var h: shared f32[BM, BN] = {X}; o.tile(0) = h.min(axis = 1);", ROW),
    ("read", "before_the_start", f"let t = x[0 +: BM, D +: BN]; o.tile(0) = t.max(axis = 1);", ROW),
    ("read", "sum_before_the_start", f"let t = x[0 +: BM, D +: BN] * s; {SUM}", ROW),
    ("read", "argmax_before_the_start", f"let t = x[0 +: BM, D +: BN]; let a = t.argmax(axis = 1); o.tile(0) = max(a + (D as i32), 0);", INDEX),
    ("scan", "scan_before_the_start", f"let t = x[0 +: BM, D +: BN].cummin(axis = 1); o.tile(0) = t.min(axis = 1);", ROW),
    ("elementwise", "times_number", f"let t = {X} * s; {SUM}", ROW),
    ("elementwise", "times_row", f"let t = {X} * w.tile[BM](0)[:, _]; {SUM}", ROW),
    ("elementwise", "fused", f"let t = fma({X}, s, 0); {SUM}", ROW),
    ("elementwise", "zero_by_zero", f"let t = {X} / {Y}; {SUM}", ROW),
    ("elementwise", "infinities", "let p = x.tile[BM, BN](0, 0, pad = inf); let t = p - y.tile[BM, BN](0, 0, pad = inf); " + SUM, ROW),
    ("elementwise", "power", f"let t = pow({X}, s); {SUM}", ROW),
    ("elementwise", "moved", "let t = x.tile[BM, BN](0, 0, pad = -inf) + w.tile[BM](0)[:, _]; o.tile(0) = t.max(axis = 1);", ROW),
    ("elementwise", "moved_maximum", "let t = x.tile[BM, BN](0, 0, pad = -inf) + s; o.tile(0) = t.argmax(axis = 1);", INDEX),
    ("elementwise", "exponentials", "let p = x.tile[BM, BN](0, 0, pad = -inf); let t = exp(p - p.max(axis = 1)[:, _]); " + SUM, ROW),
    ("elementwise", "narrowed", f"let t = (({X} + 1) as f16) as f32; {SUM}", ROW),
    ("elementwise", "in_parallel", f"let p = {X}; var t: fragment f32[BM, BN] = 0; for (r, c) in parallel(BM, BN) {{ t[r, c] = p[r, c] * s; }} {SUM}", ROW),
    ("elementwise", "variance", f"let p = {X}; let d = p - (p.sum(axis = 1) / (N as f32))[:, _]; o.tile(0) = (d * d).sum(axis = 1);", ROW),
    ("select", "chosen", f"let p = {X}; let t = select(p > s, p, 1); {SUM}", ROW),
    ("select", "guarded_division", f"let p = {N}; var t: fragment i32[BM, BN] = 0; for (r, c) in parallel(BM, BN) {{ t[r, c] = if p[r, c] == 0 {{ -1 }} else {{ 100 / p[r, c] }}; }} {SUM}", INDEX),
    ("set", "masked", f"let p = {X}; var t: fragment f32[BM, BN] = 0; for (r, c) in parallel(BM, BN) {{ t[r, c] = if c < N {{ p[r, c] + 1 }} else {{ 0 }}; }} {SUM}", ROW),
    ("carried", "scaled_sums", "var t: fragment f32[BM, BK] = 0; " + LOOP.format("", "t += p * s;") + SUM, ROW),
    ("carried", "sums_of_exponentials", "var t: fragment f32[BM, BK] = 0; " + LOOP.format("", "t += exp(p);") + SUM, ROW),
    ("carried", "greatest_so_far", "var t: fragment f32[BM, BK] = -inf; " + LOOP.format("", "t = max(t, p);") + " o.tile(0) = t.max(axis = 1);", ROW),
    ("carried", "greatest_with_padding", "var t: fragment f32[BM, BK] = -inf; " + LOOP.format(", pad = -inf", "t = max(t, p + s);") + " o.tile(0) = t.max(axis = 1);", ROW),
    ("next turn", "prefetched", "var a: fragment f32[BM] = 0; var t = x.tile[BM, BK](0, 0); for k in 0..ceildiv(N, BK) { a += t.sum(axis = 1); t = x.tile[BM, BK](0, k + 1); } o.tile(0) = a;", ROW),
    ("other axis", "both_axes", f"let t = {X} * s; o.tile(0) = (t.sum(axis = 0) + 1).max(axis = 0) + w.tile[BM](0);", ROW),
    ("other axis", "columns_of_product", f"let t = {X}.T @ {Y}; o.tile(0) = t.min(axis = 1);", COLUMN),
    ("along the axis", "product", f"o.tile(0, 0) = ({X} * s) @ ({Y} + 1).T;", SQUARE),
    ("along the axis", "product_one_side", f"let t = {X}; o.tile(0, 0) = (t * 0 + s) @ t.T;", SQUARE),
    ("scan", "scan_of_maxima", "o.tile(0) = x.tile[BM, BN](0, 0, pad = -inf).cummax(axis = 1).max(axis = 1);", ROW),
    ("scan", "scan_of_sums", f"o.tile(0) = {X}.cumsum(axis = 0).sum(axis = 1);", ROW),
    ("scan", "scanned_and_summed", f"o.tile(0) = ({X} + 1).cumsum(axis = 1).sum(axis = 1);", ROW),
    ("shape", "turned", f"o.tile(0) = ({X} - 1).T.sum(axis = 0);", ROW),
    ("shape", "reshaped", f"o.tile(0) = {X}.reshape[BM, 1, BN].sum(axis = 2).reshape[BM];", ROW),
    ("store", "stored", f"o.tile(0, 0) = {X} + 1;", WHOLE),
    ("division", "divided", f"let t = {N} / {N}; {SUM}", INDEX),
    ("division", "remainders", f"let t = 7 % {N}; {SUM}", INDEX),
]
REFUSE = [
    ("read", "whole_before_the_start", "let t = n[0 +: BM, D +: BN]; o.tile(0) = t.argmax(axis = 1);", INDEX),
    ("written", "written", "let t = x.tile[BM, BN](0, 0, pad = 1); " + SUM, ROW),
    ("set", "set_otherwise", f"let p = {X}; var t: fragment f32[BM, BN] = 0; for (r, c) in parallel(BM, BN) {{ t[r, c] = if c < N {{ p[r, c] }} else {{ 5 }}; }} {SUM}", ROW),
    ("next turn", "prefetched_maximum", "var a: fragment f32[BM] = 0; var t = x.tile[BM, BK](0, 0); for k in 0..ceildiv(N, BK) { a += t.max(axis = 1); t = x.tile[BM, BK](0, k + 1); } o.tile(0) = a;", ROW),
    ("shape", "divided_axis", f"o.tile(0) = ({X}.reshape[BM * 2, BN / 2].max(axis = 1)).reshape[BM, 2].max(axis = 1);", ROW),
]


class Row:
    def __init__(self, name, body, result):
        self.name, self.outs = name, [("o",) + result]
        self.text = f"kernel {name}{HEAD}, out o: {result[0]}[{', '.join(result[1])}]) {{\n    launch (i in 1) {{ {body} }}\n}}\n"


def main():
    tilec, failures = str(pathlib.Path(sys.argv[1]).resolve()), 0
    agree = [Row(name, body, result) for _, name, body, result in AGREE]
    for m, n in [(5, 20), (7, 5), (1, 29)]:
        with tempfile.TemporaryDirectory() as folder:
            library, compiled, _ = refused(tilec, pathlib.Path(folder), agree, {row.name: (m, n) for row in agree})
            for row in agree:
                wrong = judge(library, row, m, n) if row in compiled else "refused"
                if wrong:
                    failures += 1
                    print(f"--- {row.name}, M, N = {m, n}\n{row.text}{wrong}")
    for _, name, body, result in REFUSE:
        row = Row(name, body, result)
        with tempfile.TemporaryDirectory() as folder:
            _, compiled, counts = refused(tilec, pathlib.Path(folder), [row], {name: (5, 20)})
            if compiled or counts != {"T0404": 1}:
                failures += 1
                print(f"--- {name}: not refused by T0404, but {counts}\n{row.text}")
    print(f"{len(agree)} kernels of rows, {len(REFUSE)} refused, {failures} wrong")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
