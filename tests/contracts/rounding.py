#!/usr/bin/env python3
"""floor, ceil, trunc and round in contracts, on the host, against numpy's: rounding.py TILEC

The object is linked without the C library's mathematics. `1 / x` tells the zeros apart.
"""
import ctypes
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

FUNCTIONS = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint}
TYPES = {"f32": (np.float32, np.uint32, ctypes.c_float, 23), "f64": (np.float64, np.uint64, ctypes.c_double, 52)}


def compiled(tilec, folder):
    text = "".join(f"export kernel {f}_{t}(x: {t}, w: {t}) requires {f}(x) == w && 1 / {f}(x) == 1 / w {{ launch (i in 1) {{ }} }}\n" for f in FUNCTIONS for t in TYPES)
    (folder / "k.tile").write_text(text)
    subprocess.run([tilec, "k.tile", "-w"], cwd=folder, check=True)
    subprocess.run(["gcc", "-shared", "-Wl,-z,defs", "-o", "k.so", "k.o", "-lpthread"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "k.so"))


def numbers(rng, real, bits, digits):
    any_bits = rng.randint(0, 1 << 63, 4000, dtype=np.uint64).astype(bits) * bits(2) + bits(1)
    ends = [s * (2.0**p + d) for s in (1, -1) for p in (digits - 2, digits - 1, digits, digits + 1, 62, 63) for d in (-1, -0.5, 0, 0.5, 1)]
    near = [s * x for s in (1, -1) for x in (0.0, 0.5, np.nextafter(real(0.5), real(0)), np.nextafter(real(1), real(0)), 1e-40, np.inf)]
    x = np.concatenate([any_bits.view(real), np.array(ends + near, real), (rng.randint(-40, 40, 500) / 2).astype(real), (rng.rand(4000) * 20 - 10).astype(real)])
    return x[~np.isnan(x)]


def main():
    rng, calls, wrong = np.random.RandomState(1), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        for t, (real, bits, c_type, digits) in TYPES.items():
            x = numbers(rng, real, bits, digits)
            for name, function in FUNCTIONS.items():
                entry = getattr(library, f"{name}_{t}")
                entry.argtypes = [c_type, c_type, ctypes.c_void_p]
                for given, wanted in zip(x, function(x)):
                    calls += 1
                    if entry(given, wanted, None):
                        wrong += 1
                        print(f"{name}({given!r}) of {t} is not {wanted!r}")
    print(f"{calls} calls, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
