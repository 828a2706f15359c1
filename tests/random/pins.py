#!/usr/bin/env python3
"""Random layouts, pinned to random places of small kernels: pins.py TILEC FIRST COUNT [MACHINE...]

Every number names a program. A machine keeps the layout and means what the Typed form means after every pass, or refuses it with
T0505; programs of which padding is refused (T0404) are counted; `native` is judged against numpy, to the bit.
"""
import collections
import ctypes
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

LANES = {"x86-64": 2, "x86-64-v3": 3, "x86-64-v4": 4, "model-lanes": 5}
NUMPY = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i32": np.int32}
NATIVE = "x86-64-v3"


def bits(axis, count):
    return [f"{axis}{i}" for i in range(count)]


class Layouts:
    def __init__(self, choice, lanes, warps):
        self.choice, self.lanes, self.warps = choice, lanes, warps

    def order(self, all_bits):
        """Any order, or one near to what the compiler would take."""
        if self.choice.random() < 0.4:
            return self.choice.sample(all_bits, len(all_bits))
        for _ in range(self.choice.randrange(4)):
            i, j = self.choice.randrange(len(all_bits)), self.choice.randrange(len(all_bits))
            all_bits[i], all_bits[j] = all_bits[j], all_bits[i]
        return all_bits

    def flipped(self, some, others, often):
        """Some bits flip others, too."""
        for i in range(len(some)):
            while others and some[i] != "_" and self.choice.random() < often:
                other = self.choice.choice(others)
                if other not in some[i].split("^"):
                    some[i] += "^" + other
        return some

    def fragment(self, *axes):
        c = self.choice
        order = self.order([b for axis, count in axes for b in bits(axis, count)])
        places = self.lanes + self.warps
        kept = max(0, len(order) - places) + (c.randrange(3) if c.random() < 0.3 else 0)
        reg, rest = order[:kept], order[kept:]
        rest += ["_"] * (places - len(rest))
        if c.random() < 0.4:
            c.shuffle(rest)
        way = c.random()
        if way < 0.35:  # flips among lanes and warps, along one axis
            for axis, _ in axes:
                mine = [b for b in rest if b[0] == axis]
                for i, b in enumerate(rest):
                    later = mine[mine.index(b) + 1:] if b in mine else []
                    rest[i] = self.flipped([b], later, 0.4)[0]
        elif way < 0.5:  # flips of anything
            reg, rest = self.flipped(reg, order, 0.1), self.flipped(rest, order, 0.1)
        if c.random() < 0.05:
            reg.append("_")
        text = f"reg({' '.join(reg)}) lane({' '.join(rest[:self.lanes])})"
        return text + (f" warp({' '.join(rest[self.lanes:])})" if self.warps else "")

    def accumulator(self, m, n):
        """Of fragments of 16 x 8, or of vectors, dealt anyhow."""
        if self.lanes != 5:
            return self.vectors(m, n)
        outer = [f"r{i}" for i in range(4, m)] + [f"c{i}" for i in range(3, n)]
        self.choice.shuffle(outer)
        warps, rest = outer[:self.warps], outer[self.warps:]
        warps += ["_"] * (self.warps - len(warps))
        if self.choice.random() < 0.3:
            warps = [self.flipped([b], [x for x in warps[i + 1:] if x[0] == b[0]], 0.5)[0] for i, b in enumerate(warps)]
        if self.choice.random() < 0.1:
            warps, rest = self.flipped(warps, outer, 0.2), self.flipped(rest, outer, 0.1)
        return f"reg({' '.join(['c0', 'r3'] + rest)}) lane(c1 c2 r0 r1 r2)" + (f" warp({' '.join(warps)})" if warps else "")

    def vectors(self, m, n):
        outer = bits("r", m) + bits("c", n)[self.lanes:]
        if self.choice.random() < 0.7:
            outer = bits("c", n)[self.lanes:][:1] + bits("r", 2) + self.order(bits("r", m)[2:] + bits("c", n)[self.lanes + 1:])
        else:
            self.choice.shuffle(outer)
        return f"reg({' '.join(outer)}) lane({' '.join(bits('c', self.lanes))})"

    def shared(self, *axes):
        c = self.choice
        order = [b for axis, count in reversed(axes) for b in bits(axis, count)]
        if c.random() < 0.2:
            order = [b for axis, count in axes for b in bits(axis, count)]
        order = self.order(order)
        often = c.choice([0, 0.15, 0.4])
        if c.random() < 0.2:  # a chain
            order = [b if i + 1 == len(order) else b + "^" + order[i + 1] for i, b in enumerate(order)]
        elif c.random() < 0.5:
            order = [self.flipped([b], order[i + 1:], often)[0] for i, b in enumerate(order)]
        else:
            order = [self.flipped([b], order[:i], often)[0] for i, b in enumerate(order)]
        if c.random() < 0.1:
            order.insert(c.randrange(len(order)), c.choice(["_", "*"]))
        text = f"addr({' '.join(order)})"
        if c.random() < 0.35:
            text += f" pad({c.choice([4, 8, 16, 32, 64, 48])} + {c.choice([1, 2, 4, 8, 3])})"
        return text


class Program:
    """Text, and what each output is in numpy; `dims` of a run; `shapes` of the tensors."""

    def __init__(self, number, lanes):
        self.c = random.Random(number)
        self.warps = self.c.choice([0, 1, 2, 2, 3]) if lanes == 5 else 0
        self.l = Layouts(self.c, lanes, self.warps)
        self.lanes = lanes
        self.threads = f" threads {32 << self.warps}" if lanes == 5 else ""
        self.text = getattr(self, self.c.choice(["elements", "both", "line", "sums", "added", "turned", "parts", "cut", "product", "product", "chained"]))()

    def schedule(self, **pins):
        some = [name for name in pins if self.c.random() < 0.65] or list(pins)[:1]
        return "schedule p { " + " ".join(f"layout {name}: {pins[name]};" for name in some) + " }\n"

    def tile(self):
        m, n = self.c.choice([(4, 5), (5, 6), (3, 7), (6, 4), (5, 5)])
        return m, n, 1 << m, 1 << n, self.c.choice(["f32", "f16", "i8", "f64", "i32"])

    def elements(self):
        m, n, R, C, T = self.tile()
        self.meaning = lambda A: {"C": A * 2 + 1}
        self.outs = {"C": (T, "MN")}
        self.ins = {"A": (T, "MN")}
        return f"""export kernel p(A: {T}[M, N], out C: {T}[M, N]) {{
    launch (i in ceildiv(M, {R}), j in ceildiv(N, {C})){self.threads} {{
        var f: fragment {T}[{R}, {C}] = A.tile(i, j);
        C.tile(i, j) = f * 2 + 1;
    }}
}}
""" + self.schedule(f=self.l.fragment(("r", m), ("c", n)))

    def both(self):
        m, n, R, C, T = self.tile()
        self.meaning = lambda A: {"C": A * 2, "S": (A + 1).T}
        self.outs = {"C": (T, "MN"), "S": (T, "NM")}
        self.ins = {"A": (T, "MN")}
        return f"""export kernel p(A: {T}[M, N], out C: {T}[M, N], out S: {T}[N, M]) {{
    launch (i in ceildiv(M, {R}), j in ceildiv(N, {C})){self.threads} {{
        var s: shared {T}[{R}, {C}] = A.tile(i, j);
        var f: fragment {T}[{R}, {C}] = s;
        var t: shared {T}[{R}, {C}] = f * 2;
        var g: fragment {T}[{R}, {C}] = t;
        C.tile(i, j) = g;
        t = f + 1;
        S.tile(j, i) = t.T;
    }}
}}
""" + self.schedule(s=self.l.shared(("r", m), ("c", n)), t=self.l.shared(("r", m), ("c", n)), f=self.l.fragment(("r", m), ("c", n)),
                    g=self.l.fragment(("r", m), ("c", n)))

    def line(self):
        n = self.c.choice([5, 7, 9])
        T, C = self.c.choice(["f32", "f16", "i8"]), 1 << n
        self.meaning = lambda A: {"C": A + 3}
        self.outs = {"C": (T, "N")}
        self.ins = {"A": (T, "N")}
        return f"""export kernel p(A: {T}[N], out C: {T}[N]) {{
    launch (j in ceildiv(N, {C})){self.threads} {{
        var s: shared {T}[{C}] = A.tile(j);
        var f: fragment {T}[{C}] = s;
        s = f + 3;
        C.tile(j) = s;
    }}
}}
""" + self.schedule(s=self.l.shared(("c", n)), f=self.l.fragment(("c", n)))

    def sums(self):
        m, n, R, C, T = self.tile()
        T, W = self.c.choice(["f32", "i32"]), C - self.c.choice([0, 0, 3])
        most = "max" if W == C else "sum"
        column_sums = lambda A: np.array([A[i:i + R].sum(axis=0) if i % R == 0 else [77] * W for i in range(len(A))])
        self.meaning = lambda A: {"R": A.sum(axis=1), "D": A - getattr(A, most)(axis=1, keepdims=True), "K": column_sums(A)}
        self.outs = {"R": (T, "M"), "K": (T, ("M", W)), "D": (T, ("M", W))}
        self.ins = {"A": (T, ("M", W))}
        return f"""export kernel p(A: {T}[M, {W}], out R: {T}[M], out K: {T}[M, {W}], out D: {T}[M, {W}]) {{
    launch (i in ceildiv(M, {R})){self.threads} {{
        var s: shared {T}[{R}, {C}] = A.tile(i, 0);
        var f: fragment {T}[{R}, {C}] = s;
        var g: fragment {T}[{R}, {C}] = 0;
        for (r, c) in parallel({R}, {C}) {{ g[r, c] = if c < {W} {{ f[r, c] }} else {{ 0 }}; }}
        R.tile(i) = f.sum(axis = 1);
        K[i * {R}].tile(0) = f.sum(axis = 0);
        let most = g.{most}(axis = 1);
        var h: fragment {T}[{R}, {C}] = 0;
        for (r, c) in parallel({R}, {C}) {{ h[r, c] = f[r, c] - most[r]; }}
        D.tile(i, 0) = h;
    }}
}}
""" + self.schedule(s=self.l.shared(("r", m), ("c", n)), **{self.c.choice("fgh"): self.l.fragment(("r", m), ("c", n))})

    def added(self):
        """Sums along a line of columns, and what each element's owner alone may add."""
        m, n, R, C, T = self.tile()
        T = self.c.choice(["f32", "i32"])
        self.meaning = lambda A: {"B": np.full(A.shape, 77) + A, "S": np.concatenate([A[:, j:j + C].cumsum(axis=1) for j in range(0, A.shape[1], C)], axis=1)}
        self.outs = {"B": (T, "MN"), "S": (T, "MN")}
        self.ins = {"A": (T, "MN")}
        return f"""export kernel p(A: {T}[M, N], inout B: {T}[M, N], out S: {T}[M, N]) {{
    launch (i in ceildiv(M, {R}), j in ceildiv(N, {C})){self.threads} {{
        var f: fragment {T}[{R}, {C}] = A.tile(i, j);
        for (r, c) in parallel({R}, {C}) {{
            if i * {R} + r < M && j * {C} + c < N {{ atomic_add(B[i * {R} + r, j * {C} + c], f[r, c]); }}
        }}
        var s: shared {T}[{R}, {C}] = f;
        var g: fragment {T}[{R}, {C}] = s;
        var h: fragment {T}[{R}, {C}] = g.cumsum(axis = 1);
        S.tile(i, j) = h;
    }}
}}
""" + self.schedule(f=self.l.fragment(("r", m), ("c", n)), g=self.l.fragment(("r", m), ("c", n)), h=self.l.fragment(("r", m), ("c", n)),
                    s=self.l.shared(("r", m), ("c", n)))

    def turned(self):
        m, n, R, C, T = self.tile()
        self.meaning = lambda A: {"S": A.T, "C": A + 1}
        self.outs = {"S": (T, "NM"), "C": (T, "MN")}
        self.ins = {"A": (T, "MN")}
        return f"""export kernel p(A: {T}[M, N], out S: {T}[N, M], out C: {T}[M, N]) {{
    launch (i in ceildiv(M, {R}), j in ceildiv(N, {C})){self.threads} {{
        var f: fragment {T}[{R}, {C}] = A.tile(i, j);
        var g: fragment {T}[{C}, {R}] = f.T;
        var s: shared {T}[{C}, {R}] = g;
        S.tile(j, i) = s;
        var h: fragment {T}[{R}, {C}] = f + 1;
        C.tile(i, j) = h;
    }}
}}
""" + self.schedule(f=self.l.fragment(("r", m), ("c", n)), g=self.l.fragment(("r", n), ("c", m)), s=self.l.shared(("r", n), ("c", m)),
                    h=self.l.fragment(("r", m), ("c", n)))

    def parts(self):
        m, n, R, C, T = self.tile()
        h, w = R // self.c.choice([1, 2, 4]), C // self.c.choice([1, 2, 4])
        self.meaning = None  # in numpy
        y, x = self.c.randrange(R - h + 1), self.c.randrange(C - w + 1)
        unit = self.c.choice([1, 4, 32])
        y, x = (y // h * h, x // w * w) if self.c.random() < 0.4 else (y // unit * unit, x // unit * unit)
        self.outs = {"C": (T, "MN"), "S": (T, "NM")}
        self.ins = {"A": (T, "MN")}
        steps = [max([step for step in (8, 16, 32, extent) if at + step + extent <= whole], default=0) for at, extent, whole in ((y, h, R), (x, w, C))]
        rows, columns = f"{y} + k * {steps[0]} +: {h}", f"{x} + k * {steps[1]} +: {w}"
        return f"""export kernel p(A: {T}[M, N], out C: {T}[M, N], out S: {T}[N, M]) {{
    launch (i in ceildiv(M, {R}), j in ceildiv(N, {C})){self.threads} {{
        var s: shared {T}[{R}, {C}] = A.tile(i, j);
        let f: fragment {T}[{h}, {w}] = s[{y} +: {h}, {x} +: {w}];
        s[{y} +: {h}, {x} +: {w}] = f * 2;
        for k in 0..2 {{
            var g: fragment {T}[{h}, {w}] = s[{rows}, {columns}];
            s[{rows}, {columns}] = g + 1;
        }}
        C.tile(i, j) = s;
        S.tile(j, i) = s.T;
    }}
}}
""" + self.schedule(s=self.l.shared(("r", m), ("c", n)), g=self.l.fragment(*self.shape_bits(h, w)), f=self.l.fragment(*self.shape_bits(h, w)))

    def cut(self):
        m, n, R, C, T = self.tile()
        self.meaning = None  # in numpy
        self.outs, self.ins = {"C": (T, "MN")}, {"A": (T, "MN")}
        h, w, at = R // 2, C // 4, self.c.randrange(C // 2)
        return f"""export kernel p(A: {T}[M, N], shift: i32[2], out C: {T}[M, N]) {{
    launch (i in ceildiv(M, {R}), j in ceildiv(N, {C})){self.threads} {{
        var f: fragment {T}[{R}, {C}] = A.tile(i, j);
        f[0 +: {h}, :] = f[{h} +: {h}, :] * 2;
        for k in 0..4 {{ f[:, k * {w} +: {w}] += 1; }}
        let g: fragment {T}[{R}, {w}] = f[:, {at} +: {w}];
        f[:, clamp(shift[0] as int, 0, {C - w}) +: {w}] += g;
        C.tile(i, j) = f;
    }}
}}
""" + self.schedule(f=self.l.fragment(("r", m), ("c", n)), g=self.l.fragment(*self.shape_bits(R, w)))

    @staticmethod
    def shape_bits(h, w):
        return ("r", h.bit_length() - 1), ("c", w.bit_length() - 1)

    def product(self):
        c = self.c
        T, m, n, k = c.choice([("f16", 6, 6, 5), ("bf16", 5, 6, 4), ("f16", 7, 6, 5), ("f16", 6, 7, 4), ("i8", 6, 6, 6), ("tf32", 6, 5, 4), ("f32", 6, 6, 4), ("f16", 4, 6, 4), ("f16", 6, 3, 4)])
        S = "i32" if T == "i8" else "f32"
        left, right = c.random() < 0.25, c.random() < 0.25
        A, B = ("K, M", "k, j") if left else ("M, K", "j, k"), ("N, K", "i, k") if right else ("K, N", "k, i")
        a, b = (1 << k, 1 << m) if left else (1 << m, 1 << k), (1 << n, 1 << k) if right else (1 << k, 1 << n)
        kind = "fragment" if c.random() < 0.25 and T != "f32" and not left else "shared"
        self.meaning = lambda A, B: {"C": (A.T if left else A) @ (B.T if right else B)}
        self.outs = {"C": (S, "MN")}
        self.ins = {"A": (T, A[0].replace(", ", "")), "B": (T, B[0].replace(", ", ""))}
        acc = self.l.accumulator(m, n) if T != "f32" or self.lanes != 5 else self.l.fragment(("r", m), ("c", n))
        swizzle = lambda other: c.choice([other, other, f"swizzle({c.choice([32, 64, 128])})"])
        pins = {"acc": acc, "b": swizzle(self.l.shared(*self.shape_bits(*b)))}
        if kind == "shared":
            pins["a"] = swizzle(self.l.shared(*self.shape_bits(*a)))
        loop = f"for k in pipelined(ceildiv(K, {1 << k}), stages = 2)" if c.random() < 0.3 else f"for k in 0..ceildiv(K, {1 << k})"
        return f"""export kernel p(A: {T}[{A[0]}], B: {T}[{B[0]}], out C: {S}[M, N]) {{
    launch (i in ceildiv(N, {1 << n}), j in ceildiv(M, {1 << m})){self.threads} {{
        var a: {kind} {T}[{a[0]}, {a[1]}];
        var b: shared {T}[{b[0]}, {b[1]}];
        var acc: fragment {S}[{1 << m}, {1 << n}] = 0;
        {loop} {{ a = A.tile({A[1]}); b = B.tile({B[1]}); acc += {"a.T" if left else "a"} @ {"b.T" if right else "b"}; }}
        C.tile(j, i) = acc;
    }}
}}
""" + self.schedule(**pins)

    def chained(self):
        """A product of a product, and sums of its rows."""
        self.meaning = None
        self.outs = {"C": ("f32", "MN"), "R": ("f32", "M")}
        self.ins = {"A": ("f16", "MN"), "B": ("f16", "NN")}
        return f"""export kernel p(A: f16[M, 32], B: f16[32, 64], D: f16[64, N], out C: f32[M, N], out R: f32[M]) {{
    launch (j in ceildiv(M, 64)){self.threads} {{
        var a: shared f16[64, 32] = A.tile(j, 0);
        var b: shared f16[32, 64] = B.tile(0, 0);
        var d: shared f16[64, 32] = D.tile(0, 0);
        var s: fragment f32[64, 64] = 0;
        s += a @ b;
        R.tile(j) = s.sum(axis = 1);
        var h: fragment f16[64, 64] = s as f16;
        var o: fragment f32[64, 32] = 0;
        o += h @ d;
        C.tile(j, 0) = o;
    }}
}}
""" + self.schedule(s=self.l.accumulator(6, 6), o=self.l.accumulator(6, 5), h=self.l.fragment(("r", 6), ("c", 6)), d=self.l.shared(("r", 6), ("c", 5)))

    def dims(self):
        whole = self.c.random() < 0.4
        some = {"M": 128 if whole else self.c.randint(1, 90), "N": 128 if whole else self.c.randint(1, 150), "K": self.c.choice([64, 75, 17])}
        names = dict.fromkeys(re.findall(r"[MNK](?=[],])", self.text.split("{")[0]))
        return {name: some[name] for name in names}


def is_kept_out(tilec, path):
    """Padding that moved nobody knows where, and would be added: refused whatever the layout."""
    done = subprocess.run([tilec, "check", "-w", str(path)], capture_output=True, text=True)
    errors = [line for line in done.stderr.splitlines() if ": error:" in line]
    return bool(errors) and all("[T0404]" in line for line in errors)


def interpreted(tilec, path, machine, dims):
    words = [tilec, "run", str(path), "--target", machine, "--after-each", "--numeric", "typed", "--dim", ",".join(f"{d}={v}" for d, v in dims.items())]
    done = subprocess.run(["timeout", "100"] + words, capture_output=True, text=True)
    out = done.stdout + done.stderr
    if "[T0505]" in out:
        reason = [l.split("layout: ")[1][:70] for l in out.splitlines() if "[T0505]" in l][0]
        return "refused", reason
    bad = [l for l in out.splitlines() if l.strip() and "agrees" not in l and "warning" not in l]
    errors = [l for l in out.splitlines() if "error:" in l or "DIFFERS" in l or "fault:" in l or "internal" in l]
    if done.returncode == 0 and "agrees" in out and not errors:
        return "right", ""
    return "WRONG", (errors or bad or [f"exit {done.returncode}"])[0]


def native(tilec, program, path, folder, dims):
    if program.meaning is None or any(t in ("bf16", "tf32") for t, _ in program.ins.values()):
        return "skipped", ""
    base = folder / "p"
    done = subprocess.run(["timeout", "100", tilec, str(path), "--target", NATIVE, "-o", f"{base}.o"], capture_output=True, text=True)
    if done.returncode:
        if "[T0505]" in done.stderr:
            return "refused", [l.split("layout: ")[1][:70] for l in done.stderr.splitlines() if "[T0505]" in l][0]
        return "WRONG", (done.stderr.splitlines() or ["?"])[0]
    so = folder / f"p{random.random()}.so"
    subprocess.run(["cc", "-shared", "-o", str(so), f"{base}.o", "-pthread"], check=True)
    library = ctypes.CDLL(str(so))
    state = np.random.RandomState(5)
    ins = {name: state.randint(-4, 5, size=[dims.get(d, d) for d in shape]).astype(NUMPY[t]) for name, (t, shape) in program.ins.items()}
    outs = {name: np.full([dims.get(d, d) for d in shape], 77).astype(NUMPY[t]) for name, (t, shape) in program.outs.items()}
    wide = {name: x.astype(np.int64 if x.dtype.kind == "i" else np.float64) for name, x in ins.items()}
    want = program.meaning(**wide)
    arrays = list(ins.values()) + list(outs.values())
    status = library.p(*[ctypes.c_void_p(x.ctypes.data) for x in arrays], *[ctypes.c_int64(dims[d]) for d in dims], ctypes.c_void_p(None))
    so.unlink()
    if status:
        return "WRONG", f"status {status}"
    for name, x in outs.items():
        if not np.array_equal(x, want[name].astype(x.dtype)):
            return "WRONG", f"{name}: {np.sum(x != want[name].astype(x.dtype))} of {x.size} elements"
    return "right", ""


def main():
    tilec, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    machines = sys.argv[4:] or ["model", "model-sync", "sm_80", "sm_90a", "x86-64-v3", "native"]
    counts, reasons, failed = collections.Counter(), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number in range(first, first + count):
            for machine in machines:
                program = Program(number, LANES.get(NATIVE if machine == "native" else machine, 5))
                dims = program.dims()
                path = folder / "p.tile"
                path.write_text(program.text)
                if is_kept_out(tilec, path):
                    counts[machine, "refused"] += 1
                    reasons["padding that moved where it is not known would be added [T0404]"] += 1
                    continue
                result, why = native(tilec, program, path, folder, dims) if machine == "native" else interpreted(tilec, path, machine, dims)
                counts[machine, result] += 1
                if result == "refused":
                    reasons[why] += 1
                if result == "WRONG":
                    failed += 1
                    print(f"{number} on {machine} with {dims}: {why}\n{program.text}", flush=True)
    for (machine, result), n in sorted(counts.items()):
        print(f"{machine}: {result} {n}")
    for why, n in reasons.most_common():
        print(f"    {n} {why}")
    sys.exit(failed > 0)


main()
