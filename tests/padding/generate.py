#!/usr/bin/env python3
"""Padding never counts: generate.py TILEC FIRST COUNT. Every number names a program; see README.md."""
import ctypes
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

from programs import Program

PER_OBJECT = 25
CALLS = 4
SPECIAL = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-42]
TYPES = {"f32": np.float32, "i32": np.int32}


def numbers(rng, shape, how):
    """Small whole numbers, and, by chance, some that are special."""
    x = rng.randint(-3, 4, size=shape).astype(np.float32)
    if how == 1:
        mask = rng.random_sample(shape) < 0.15
        x[mask] = rng.choice(np.float32(SPECIAL[:-1]), size=int(mask.sum()))
    if how == 2:  # lines of one special number
        x[rng.randint(x.shape[0])] = rng.choice(np.float32(SPECIAL))
    if how == 3:
        x[...] = rng.choice(np.float32(SPECIAL))
    return x


def call(function, program, given, extents, m, n):
    results = []
    for _, kind, axes in program.outs:
        shape = tuple({"M": m, "N": n, "1": 1}[a] for a in axes)
        results.append(np.full(shape, 77, TYPES[kind]))
    arguments = [ctypes.c_void_p(given[k].ctypes.data) for k in "xynwv"] + [ctypes.c_float(given["s"])]
    arguments += [ctypes.c_void_p(r.ctypes.data) for r in results] + [ctypes.c_int64(e) for e in extents] + [None]
    return function(*arguments), results


def agree(a, b):
    if a.dtype != np.float32:
        return np.array_equal(a, b)
    with np.errstate(all="ignore"):
        both = np.isfinite(a) & np.isfinite(b)
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (both & (np.abs(a - b) <= 1e-4 * np.maximum(1, np.abs(a))))
    return bool(same.all())


def instances(program, m, n):
    start = ", D = 0" if "D: int" in program.text else ""  # of regions that hang over the other end
    return (f"export {program.name} as {program.name}_over;\n"
            f"export {program.name}[BM = {m}, BN = {n}, BK = {n}{start}] as {program.name}_exact where M = {m}, N = {n};\n")


def refused(tilec, folder, programs, sizes):
    """Compiles what is not refused: the library, the programs in it, and how many were refused, by diagnostic."""
    counts = {}
    programs = list(programs)
    while programs:
        text, ends = "", []
        for p in programs:
            text += p.text + instances(p, *sizes[p.name])
            ends.append(text.count("\n"))
        (folder / "k.tile").write_text(text)
        ran = subprocess.run([tilec, "k.tile", "--target", "x86-64-v3", "--no-verify", "-o", "k.o", "-w", "--error-limit", "0"], cwd=folder, capture_output=True, text=True)
        if ran.returncode == 0:
            subprocess.run(["gcc", "-shared", "-o", "k.so", "k.o", "-pthread", "-lm"], cwd=folder, check=True)
            return ctypes.CDLL(str(folder / "k.so")), programs, counts
        bad = {}
        for line, code in re.findall(r"^k\.tile:(\d+):.*error.*\[(T\d+)\]", ran.stdout + ran.stderr, re.M):
            index = next(i for i, end in enumerate(ends) if int(line) <= end)
            bad.setdefault(index, code)
            if code != "T0404":
                print(f"{programs[index].name}: {code}")
        if not bad:
            raise SystemExit(f"tilec failed: {ran.returncode}\n{ran.stdout}{ran.stderr}\n{text}")
        for code in bad.values():
            counts[code] = counts.get(code, 0) + 1
        programs = [p for i, p in enumerate(programs) if i not in bad]
    return None, [], counts


def judge(library, program, m, n):
    """The first call whose results tell where the edge is, or None."""
    rng = np.random.RandomState(sum(map(ord, program.name)) if program.name[1:2].isalpha() else int(program.name[1:]))
    over, exact = getattr(library, program.name + "_over"), getattr(library, program.name + "_exact")
    for how in range(CALLS):
        given = {"x": numbers(rng, (m, n), how), "y": numbers(rng, (m, n), how), "w": numbers(rng, (m,), how), "v": numbers(rng, (n,), how),
                 "n": rng.randint(-3, 4, size=(m, n)).astype(np.int32)}
        given["s"] = float(rng.choice([1, -2, 0.5, np.inf, np.nan, 0])) if how else 2.0
        if how == 3:
            given["n"][...] = -2147483648 if rng.randint(2) else 2147483647
        first, a = call(over, program, given, (m, n), m, n)
        second, b = call(exact, program, given, (), m, n)
        if first != second:
            return f"call {how}: status {first}, without an edge {second}"
        for (name, *_), left, right in zip(program.outs, a, b):
            if not agree(left, right):
                return f"call {how}, s = {given['s']}, {name}:\n{left}\nwithout an edge:\n{right}\n" + "\n".join(f"{k} = {v}" for k, v in given.items())
    return None


def main():
    tilec, first, count = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]), int(sys.argv[3])
    failures, ran, refusals = 0, 0, {}
    for start in range(first, first + count, PER_OBJECT):
        programs, sizes = [], {}
        for number in range(start, min(start + PER_OBJECT, first + count)):
            rng = random.Random(number)
            programs.append(Program(number, rng))
            sizes[f"k{number}"] = (rng.choice([1, 5, 7]), rng.choice([1, 5, 20, 31]))
        with tempfile.TemporaryDirectory() as folder:
            library, compiled, counts = refused(tilec, pathlib.Path(folder), programs, sizes)
            for code, n in counts.items():
                refusals[code] = refusals.get(code, 0) + n
            for program in compiled:
                ran += 1
                wrong = judge(library, program, *sizes[program.name])
                if wrong:
                    failures += 1
                    print(f"--- {program.name} M, N = {sizes[program.name]}\n{program.text}{wrong}", flush=True)
    print(f"{ran} programs, {failures} wrong, refused: {refusals}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
