#!/usr/bin/env python3
"""Random kernels against numpy, as native code, and against themselves after every pass: run.py TILEC FIRST COUNT [MACHINE...]

Every number names a program. What is written into a machine list is judged in the interpreter; `native` and `c` are judged
against numpy, to the bit.
"""
import ctypes
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

from kernels import Kernel
from program import INTEGERS, is_float

CC = ["gcc", "-std=c11", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fPIC", "-shared", "-fsanitize=undefined", "-fno-sanitize-recover"]
# Levels of the CPU, and what tells that it has them: code of the others would be refused.
FLAGS = {"x86-64": "sse4_2", "x86-64-v3": "avx2", "x86-64-v4": "avx512f"}
HERE = set(re.search(r"^flags\s*:(.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1].split())
LEVELS = [level for level, flag in FLAGS.items() if flag in HERE]
REFUSALS = ("T0404", "T0900")


def encoded(t, x):
    """Whole numbers as the bits of a type."""
    if t in INTEGERS:
        return x.astype(INTEGERS[t])
    if t in ("f32", "f64", "f16"):
        return x.astype({"f32": np.float32, "f64": np.float64, "f16": np.float16}[t])
    if t == "bf16":
        return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if t == "tf32":
        return x.astype(np.float32).view(np.uint32) | np.uint32(0x1555)  # what no kernel may see
    if t == "f8e5m2":
        return (x.astype(np.float16).view(np.uint16) >> 8).astype(np.uint8)
    half = x.astype(np.float16).view(np.uint16)     # f8e4m3: the exponent is 8 below that of f16
    magnitude = (half & 0x7fff) >> 7
    return np.where(magnitude == 0, 0, magnitude - 64 | half >> 8 & 0x80).astype(np.uint8)


def decoded(t, x):
    if t in INTEGERS:
        return x.astype(np.int64)
    if t == "bf16":
        return (x.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if t == "tf32":
        return (x & np.uint32(0xffffe000)).view(np.float32).astype(np.float64)
    if t == "f8e5m2":
        return (x.astype(np.uint16) << 8).view(np.float16).astype(np.float64)
    if t == "f8e4m3":
        bits = x.astype(np.int32)
        exponent, mantissa = bits >> 3 & 15, bits & 7
        value = np.where(exponent == 0, mantissa * 2.0 ** -9, (8 + mantissa) * 2.0 ** (exponent - 10.0))
        value = np.where((bits & 127) == 127, np.nan, value)
        return np.where(bits & 128, -value, value)
    return x.astype(np.float64)


def data(kernel, dims, seed):
    state = np.random.RandomState(seed)
    tensors = {}
    for t in kernel.tensors:
        shape = t.shape(dims)
        low = 0 if t.type[0] == "u" else -4
        x = state.randint(low, 5, size=shape) if t.access == "in" else np.full(shape, 5)
        tensors[t.name] = x.astype(np.float64 if is_float(t.type) else np.int64)
    return tensors


def judge(kernel, library, dims, seed):
    tensors = data(kernel, dims, seed)
    given = {t.name: np.ascontiguousarray(encoded(t.type, tensors[t.name])) for t in kernel.tensors}
    kernel.meaning(tensors, dims)
    function = getattr(library, kernel.name)
    arguments = [ctypes.c_void_p(given[t.name].ctypes.data or 64) for t in kernel.tensors]
    arguments += [ctypes.c_int64(dims[d]) for d in kernel.dims]
    status = function(*arguments, ctypes.c_void_p(None))
    if status != 0:
        library.tile1_last_message.restype = ctypes.c_char_p
        return f"status {status}: {library.tile1_last_message().decode()}"
    for t in kernel.tensors:
        got, want = decoded(t.type, given[t.name]), tensors[t.name]
        if not np.array_equal(got, want):
            at = tuple(int(x) for x in np.argwhere(got != want)[0])
            return f"{t.name}{list(at)} is {got[at]}, not {want[at]}; {int((got != want).sum())} of {got.size} differ"
    return ""


REDUCTION = re.compile(r"\.(sum|prod|max|min|absmax|any|all|argmax|argmin|cum\w+)\(")


def shapes(kernel, rng):
    rows = [1, kernel.block, 2 * kernel.block + 1, rng.randint(1, 3 * kernel.block)]
    columns = [1, 7, kernel.columns or 1, rng.randint(1, 100)]
    # What lies beyond an edge is no part of a reduction, and numpy's tiles are whole: tests/padding has those that hang over.
    if REDUCTION.search(kernel.text):
        rows = [n * kernel.block for n in (1, 1, 2, 3)]
        columns = [n * (kernel.columns or 1) for n in (1, 2, 1, 3)]
    return [{"M": m, "N": n, "K": k} for m, n, k in zip(rows, columns, rng.sample([0, 1, 31, 64, 100, 130, 200], 4))]


def tilec(arguments, folder):
    return subprocess.run(list(map(str, arguments)), capture_output=True, text=True, cwd=folder, timeout=300)


class Judge:
    def __init__(self, compiler, folder, engines):
        self.compiler, self.folder, self.engines = compiler, folder, engines
        self.failed, self.refused, self.ran = 0, {}, 0

    def fail(self, kernel, what):
        self.failed += 1
        print(f"{kernel.name}: {what}", flush=True)

    def program(self, number):
        rng = random.Random(number)
        kernel = Kernel(rng, f"k{number}")
        source = self.folder / f"{kernel.name}.tile"
        source.write_text(kernel.text)
        for engine in self.engines:
            try:
                if not getattr(self, engine if engine in ("native", "c") else "passes")(kernel, source, rng, engine):
                    return
            except subprocess.TimeoutExpired:
                self.fail(kernel, f"hangs, {engine}")
        self.ran += 1

    def is_refused(self, kernel, done):
        codes = set(re.findall(r"error: .*\[(T\d+)\]", done.stderr))
        if done.returncode == 1 and codes and codes <= set(REFUSALS):
            for code in codes:
                self.refused[code] = self.refused.get(code, 0) + 1
            return True
        self.fail(kernel, f"exit code {done.returncode}\n{done.stdout[-600:]}{done.stderr[:900]}")
        return True

    def call(self, kernel, path, rng, engine):
        library = ctypes.CDLL(str(path))
        for dims in shapes(kernel, rng):
            found = judge(kernel, library, dims, rng.randrange(1 << 30))
            if found:
                self.fail(kernel, f"{engine}, {dims}: {found}")
                break

    def native(self, kernel, source, rng, engine):
        done = tilec([self.compiler, source, "-w", f"--target={rng.choice(LEVELS)}", "-o", "k.o", "--header", "k.h"], self.folder)
        if done.returncode != 0:
            return not self.is_refused(kernel, done)
        shared = self.folder / f"{kernel.name}.so"
        subprocess.run(["cc", "-shared", "-o", shared, self.folder / "k.o", "-lpthread"], check=True)
        self.call(kernel, shared, rng, engine)
        return True

    def c(self, kernel, source, rng, engine):
        done = tilec([self.compiler, source, "-w", "--emit=c", "-o", "k.c", "--header", "k.h"], self.folder)
        if done.returncode != 0:
            return not self.is_refused(kernel, done)
        shared = self.folder / f"{kernel.name}_c.so"
        done = tilec([*CC, "-o", shared, "k.c", "-lm", "-lpthread"], self.folder)
        if done.returncode != 0:
            self.fail(kernel, "the C text: " + done.stderr[:800])
        else:
            self.call(kernel, shared, rng, engine)
        return True

    def passes(self, kernel, source, rng, machine):
        dims = rng.choice(shapes(kernel, rng)[:3])
        completion = rng.choice(["late", "early"])
        numeric = "wide" if not kernel.rounds else "typed"
        command = [self.compiler, "run", source, "-w", "--after-each", f"--numeric={numeric}", f"--target={machine}", f"--completion={completion}"]
        done = tilec(command + [f"--dim={d}={dims[d]}" for d in kernel.dims], self.folder)
        if done.returncode == 1:
            return not self.is_refused(kernel, done)
        if done.returncode != 0:
            lines = [x for x in done.stdout.splitlines() if "agrees" not in x]
            self.fail(kernel, f"{machine}, {completion}, {numeric}, {dims}: exit code {done.returncode}\n  " + "\n  ".join(lines[:3]) + done.stderr[:500])
        return True


def main():
    compiler, first, count = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        judge_ = Judge(compiler, pathlib.Path(folder), sys.argv[4:] or ["native"])
        for number in range(first, first + count):
            judge_.program(number)
    print(f"{count} programs: {judge_.ran} ran, refused {judge_.refused}, {judge_.failed} failed")
    sys.exit(judge_.failed != 0 or judge_.ran < count // 4)  # what refuses all is right about none


if __name__ == "__main__":
    main()
