#!/usr/bin/env python3
"""Sums of `int`s, scans and sums of a warp are exact, or the call reports that they leave 64 bits: int_sums.py TILEC

Numbers lie near the ends, so that parts leave 64 bits where the whole does not, against Python's integers, natively and as C text.
"""
import ctypes
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np

LENGTH, CALLS, BOUNDS = 32, 400, 11  # TILE_BOUNDS; a warp has four lanes at least
TEXT = """
export kernel sums(x: int[32], out y: int[1]) { launch (i in 1) { y[0] = x.tile[32](0).sum(axis = 0); } }
export kernel scans(x: int[32], out y: int[32]) { launch (i in 1) { y.tile(0) = x.tile[32](0).cumsum(axis = 0); } }
export kernel warps(x: int[32], out y: int[1]) { launch (i in 1) threads 32 { simt (t) { var n: int = 0; if t < 4 { n = x[t]; } let s = warp_sum(n); if t == 0 { y[0] = s; } } } }
export kernel counted(x: int[32], out y: int[1]) { launch (i in 1) { y[0] = (x.tile[32](0) > 0).convert[int]().sum(axis = 0); } }
"""
ENDS = [-(2**63), -(2**63) + 1, -(2**62), -(2**32), -1, 0, 1, 2**32 - 1, 2**32, 2**62, 2**63 - 2, 2**63 - 1]


def running(x):
    total, all_of_them = 0, []
    for n in x:
        total += n
        all_of_them.append(total)
    return all_of_them


WANTED = {"sums": lambda x: [sum(x)], "scans": running, "warps": lambda x: [sum(x[:4])], "counted": lambda x: [sum(n > 0 for n in x)]}


def numbers(rng):
    """By chance all of them, or the first four, sum to an end of 64 bits or to a number beside it."""
    x = [rng.choice(ENDS) + rng.choice((0, 0, -1, 1)) if rng.random() < 0.3 else rng.choice((0, rng.randint(-9, 9))) for _ in range(LENGTH)]
    x = [min(max(n, ENDS[0]), ENDS[-1]) for n in x]
    count = rng.choice((0, 4, LENGTH))
    if count:
        rest = rng.choice((ENDS[0], ENDS[-1])) + rng.choice((-1, 0, 0, 1)) - sum(x[: count - 1])
        x[count - 1] = min(max(rest, ENDS[0]), ENDS[-1])
    return x


def built(tilec, folder):
    (folder / "k.tile").write_text(TEXT)
    for options, made in ([], "k.o"), (["--target=c"], "k.c"):
        subprocess.run([tilec, "k.tile", "-w", *options, "-o", made, "--header", "k.h"], cwd=folder, check=True)
        subprocess.run(["gcc", "-std=c11", "-O1", "-fPIC", "-shared", "-o", f"{made}.so", made, "-lm", "-lpthread"], cwd=folder, check=True)
        yield made, ctypes.CDLL(str(folder / f"{made}.so"))


def main():
    wrong, counts = [], {0: 0, BOUNDS: 0}
    with tempfile.TemporaryDirectory() as folder:
        for engine, library in built(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder)):
            rng = random.Random(1)
            for _ in range(CALLS):
                x = numbers(rng)
                for name, function in WANTED.items():
                    wanted = function(x)
                    status = BOUNDS if any(not ENDS[0] <= n <= ENDS[-1] for n in wanted) else 0
                    given, y = np.array(x, np.int64), np.zeros(len(wanted), np.int64)
                    got = getattr(library, name)(ctypes.c_void_p(given.ctypes.data), ctypes.c_void_p(y.ctypes.data), None)
                    counts[status] += 1
                    if got != status or (status == 0 and y.tolist() != wanted):
                        wrong.append(f"{engine}, {name}: status {got}, not {status}; {y.tolist()}, not {wanted}, of {x}")
    print("\n".join(wrong[:5] + [f"{counts[0]} calls fit, {counts[BOUNDS]} leave 64 bits, {len(wrong)} wrong"]))
    return 1 if wrong or not all(counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
