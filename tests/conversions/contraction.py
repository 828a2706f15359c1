#!/usr/bin/env python3
"""A product with a name is rounded, whatever dialect C text is compiled in: contraction.py TILEC

Sums lie so near to the negative product that its rounding is most of the result; a compiler that fuses gives another one for nearly every element.
"""
import ctypes
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

COUNT = 1000
TEXT = """
export kernel named(x: f32[N], z: f32[N], w: f32[N], out y: f32[N]) { launch (i in N) { let p = x[i] * z[i]; y[i] = p + w[i]; } }
export kernel tiles(x: f32[N], z: f32[N], w: f32[N], out y: f32[N]) { launch (i in ceildiv(N, 64)) { let p = x.tile[64](i) * z.tile[64](i); y.tile(i) = p + w.tile(i); } }
export kernel variable(x: f32[N], z: f32[N], w: f32[N], out y: f32[N]) { launch (i in ceildiv(N, 64)) { var p = x.tile[64](i); p *= z.tile(i); p += w.tile(i); y.tile(i) = p; } }
export kernel fused(x: f32[N], z: f32[N], w: f32[N], out y: f32[N]) { launch (i in N) { y[i] = fma(x[i], z[i], w[i]); } }
"""
DIALECTS = [["-O2"], ["-O3", "-std=gnu17"], ["-O2", "-std=c11"], ["-O2", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]]


def has_fma():
    try:
        return " fma " in pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def differing(library, x, z, w):
    wrong = []
    product = (x * z).astype(np.float32)
    exact = (x.astype(np.float64) * z + w).astype(np.float32)  # in f64 neither the product nor the sum, which nearly cancel, is rounded
    for name, wanted in {"named": product + w, "tiles": product + w, "variable": product + w, "fused": exact}.items():
        y = np.zeros(COUNT, np.float32)
        status = getattr(library, name)(*[ctypes.c_void_p(a.ctypes.data) for a in (x, z, w, y)], ctypes.c_int64(COUNT), None)
        count = int((y != wanted).sum())
        if status or count:
            wrong.append(f"{name}: status {status}, {count} of {COUNT} differ")
    return wrong


def main():
    if not has_fma():
        return print("skipped: the processor has no FMA") or 0
    rng = np.random.RandomState(1)
    x, z = rng.rand(2, COUNT).astype(np.float32) + 1
    w = (-(x * z) * (1 + 1e-6 * rng.rand(COUNT))).astype(np.float32)
    wrong, ran = [], 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "k.tile").write_text(TEXT)
        subprocess.run([pathlib.Path(sys.argv[1]).resolve(), "k.tile", "-w", "--target=c", "-o", "k.c"], cwd=folder, check=True)
        for compiler in filter(shutil.which, ("gcc", "clang-19")):
            for k, dialect in enumerate(DIALECTS):
                made = folder / f"{compiler}{k}.so"
                subprocess.run([compiler, *dialect, "-mfma", "-fPIC", "-shared", "-o", made, "k.c", "-lm", "-lpthread"], cwd=folder, check=True)
                ran += 1
                wrong += [f"{compiler} {' '.join(dialect)}: {w}" for w in differing(ctypes.CDLL(str(made)), x, z, w)]
    print("\n".join(wrong + [f"{ran} builds, {len(wrong)} wrong"]))
    return 1 if wrong or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
