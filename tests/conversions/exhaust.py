#!/usr/bin/env python3
"""Conversions between all types, fma and integer arithmetic against exact integers: exhaust.py TILEC [ENGINE...] [options]

Engines are levels of the CPU (x86-64, x86-64-v3, x86-64-v4: those that run here), `gcc` and `clang-19` for C text, and `sm_80`,
`sm_89`, `sm_90a` for a GPU of this machine, and the interpreter, `run:typed` or `run:thread:MACHINE`, which is asked less. Left out:
levels, C text and `run:typed`.
  --full            every step of the narrow floats between wider ones, and more of everything
  --build FOLDER    only compiles, for a machine that has no compiler: FOLDER goes there together with this one
  --run FOLDER      runs what was compiled (TILEC may be anything)
  --tell            prints the greatest error of each function (of functions.py), though it is allowed
"""
import argparse
import ctypes
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import kernels
from memory import Device, Host
from arguments import pairs, sources, triples
from formats import FLOATS, INFINITE, INTEGERS, NAN, TYPES, U, bits_of, converted, differing, fused, is_nan, is_signed, parts, rounded, special, word
from interpreter import Interpreter, words_of

LEVELS = {"x86-64": "sse4_2", "x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}
TEXTS = ("gcc", "clang-19")
FLAGS = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fPIC", "-shared"]
BOUNDS = 11  # TILE_BOUNDS


def build(compiler, engine, folder, text):
    source = folder / "numbers.tile"
    shared, is_text = folder / f"{engine}.so", engine in TEXTS
    source.write_text(text(8 if is_text else 64))  # of C text, one vector: compilers of C take long for more
    made = folder / (f"{engine}.c" if is_text else f"{engine}.o")
    target = "c" if is_text else f"x86-64-v3,{engine}" if engine.startswith("sm_") else engine
    subprocess.run([compiler, source, "-w", f"--target={target}", "-o", made, "--header", folder / "k.h"], check=True)
    command = [engine, *FLAGS, "-o", shared, made, "-lm", "-lpthread"] if is_text else ["cc", "-shared", "-o", shared, made, "-lpthread"]
    subprocess.run(list(map(str, command)), check=True)


class Library:
    """The functions of an object."""
    def __init__(self, path, memory):
        self.library, self.memory = ctypes.CDLL(str(path)), memory
        self.library.tile1_last_message.restype = ctypes.c_char_p

    def call(self, name, inputs, types):
        n = max(len(inputs[0]), len(inputs[0].T))
        placed = [self.memory.place(np.ascontiguousarray(x)) for x in inputs] + [self.memory.place(np.full(n, 1, word(t))) for t in types]
        status = getattr(self.library, name)(*[ctypes.c_void_p(at) for at, _ in placed], ctypes.c_int64(n), ctypes.c_void_p(None))
        results = [self.memory.fetch(p) for p in placed[len(inputs):]]
        if isinstance(self.memory, Device) and not status:
            status = getattr(self.library, f"{name}_check")(ctypes.c_void_p(None))
        for p in placed:
            self.memory.free(p)
        if status not in (0, BOUNDS):
            print(f"{name}: status {status}: {self.library.tile1_last_message().decode()}")
        return status, results


class Judge:
    def __init__(self, engine, functions, most, most_alone, tells):
        self.engine, self.functions, self.tells, self.failed, self.asked = engine, functions, tells, 0, 0
        self.most, self.most_alone = most, most_alone

    def call(self, name, inputs, types):
        return self.functions.call(name, inputs, types)

    def compare(self, name, got, want, inputs, wrong):
        self.asked += len(got)
        if not wrong.any():
            return
        self.failed += 1
        at = int(np.argmax(wrong))
        print(f"{self.engine}: {name}({', '.join(hex(int(x[at])) for x in inputs)}) is {hex(int(got[at]))}, not {hex(int(want[at]))}; "
              f"{int(wrong.sum())} of {len(got)} differ")

    def run(self, name, inputs, outputs, allowed=(0,)):
        """outputs: (name, type, the words wanted)."""
        for form, most in ((name, self.most), (f"{name}_alone", min(self.most, self.most_alone))):
            if len(inputs[0]) > most:
                chosen = np.sort(np.random.choice(len(inputs[0]), most, replace=False))
                inputs, outputs = [x[chosen] for x in inputs], [(y, t, want[chosen]) for y, t, want in outputs]
            status, results = self.call(form, inputs, [t for _, t, _ in outputs])
            if status not in allowed:
                self.failed += 1
                print(f"{self.engine}: {form}: status {status}")
                continue
            for (y, t, want), got in zip(outputs, results):
                self.compare(f"{form}.{y}", got, want, inputs, differing(t, got, want))

    def conversions(self, stride):
        for s in TYPES:
            words = sources(s, stride)
            if isinstance(self.functions, Interpreter) and s in FLOATS:
                words = words[~is_nan(s, words) | (words == words_of(s, ["nan"])[0])]  # JSON knows one NaN
            rows = [(y, t, converted(s, t, words, how)) for y, t, how, _ in kernels.conversions(s)]
            self.run(f"of_{s}", [words], rows)

    def fma(self, count):
        for t in FLOATS:
            inputs = triples(t, count)
            found = [fused(t, int(a), int(b), int(c)) for a, b, c in zip(*inputs)]
            nan = int(np.array([2 ** (bits_of(t) - 1) - 1]).astype(U)[0])
            want = np.array([nan if x is None else x for x in found], U).astype(word(t))
            self.run(f"fma_{t}", inputs, [("d", t, want)])

    def integers(self):
        for t in INTEGERS:
            a, b = pairs(t)
            for keep, allowed in ((b != 0, (0,)), (b == 0, (BOUNDS,))):
                if allowed != (0,) and isinstance(self.functions, Interpreter):
                    continue  # which stops there
                rows = [(y, of, meaning(t, y, a[keep], b[keep])) for y, of, _ in kernels.arithmetic(t)]
                self.run(f"int_{t}", [a[keep], b[keep]], rows, allowed)

    def lines(self):
        for t in TYPES:
            for width in (4, 37) if t != "bool" else ():
                words = some_lines(t, width)
                wanted = [[of_line(t, y, line) for line in words.tolist()] for y, _ in kernels.LINES]
                for axis, inputs in ((1, words), (0, np.ascontiguousarray(words.T))):
                    name = f"lines{width}_{axis}_{t}"
                    types = ["i32" if is_index else t for _, is_index in kernels.LINES]
                    status, results = self.call(name, [inputs], types)
                    self.failed += status != 0
                    if status:
                        continue
                    for (y, _), of, got, want in zip(kernels.LINES, types, results, wanted):
                        want = np.array(want, U).astype(word(of))
                        wrong = differing(of, got, want) if of in INTEGERS else value_differs(of, got, want)
                        self.compare(f"{name}.{y}", got, want, list(words.T), wrong)


def value_differs(t, got, want):
    """Zeros of either sign are one."""
    sign = word(t).type(2 ** (bits_of(t) - 1))
    return differing(t, got, want) & ~((got & ~sign == 0) & (want & ~sign == 0))


def some_lines(t, width):
    """Lines of few different numbers, of ends and of NaN."""
    bits = bits_of(t)
    ends = [0, 1, 2, 2 ** bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1, 2 ** (bits - 1) + 1, 2 ** bits - 2]
    if t in FLOATS:
        nan, infinity = 2 ** (bits - 1) - 1, special(t, 0)
        ends = [0, 2 ** (bits - 1), nan, nan | 2 ** (bits - 1), infinity, special(t, 1), 1 << FLOATS[t][2], rounded(t, 0, 3, 0), rounded(t, 1, 3, 0), rounded(t, 1, 4, 0), nan, nan]
    made = [[random.choice(ends) for _ in range(width)] for _ in range(1500)]
    return np.array(made + [[x] * width for x in ends], U).astype(word(t))


def of_line(t, what, line):
    """What the reference says of a line that has no number, or has some."""
    bits = bits_of(t)
    if t in INTEGERS:
        numbers = [(k, x - 2 ** bits if is_signed(t) and x >> (bits - 1) else x) for k, x in enumerate(line)]
        encode = lambda x: x & (2 ** bits - 1)
        greatest = 2 ** (bits - is_signed(t)) - 1
    else:
        keys = [(k, parts(t, x)) for k, x in enumerate(line)]
        numbers = [(k, 2 ** 5000 * (1 - 2 * s) if kind == INFINITE else (1 - 2 * s) * (m << (e + 1200))) for k, (s, m, e, kind) in keys if kind != NAN]
        by_value = {x: line[k] for k, x in numbers}
        sign = 2 ** (bits - 1)
        if what == "absmax":
            by_value |= {abs(x): line[k] & (sign - 1) for k, x in numbers}
        encode, greatest = lambda x: by_value[x], 2 ** 5000
        if not numbers:
            return {"max": special(t, 1), "min": special(t, 0), "absmax": 0, "argmax": 0, "argmin": 0}[what]
    if what.startswith("arg"):
        best = (max if what == "argmax" else min)(x for _, x in numbers)
        return next(k for k, x in numbers if x == best)
    values = [x for _, x in numbers]
    return encode({"max": lambda: max(values), "min": lambda: min(values), "absmax": lambda: min(max(map(abs, values)), greatest)}[what]())


def meaning(t, what, a, b):
    """What the reference says of integers, one pair at a time with Python's."""
    bits = bits_of(t)
    mask, sign = 2 ** bits - 1, 2 ** (bits - 1) if is_signed(t) else 0
    functions = {
        "div": lambda x, y: x // y if y else 0, "rem": lambda x, y: x % y if y else 0,
        "shl": lambda x, y: x << y if 0 <= y < bits else 0, "shr": lambda x, y: x >> (y if 0 <= y < bits else bits),
        "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "least": min, "most": max,
        "negated": lambda x, y: -x, "magnitude": lambda x, y: abs(x), "inverted": lambda x, y: ~x,
        "ones": lambda x, y: (x & mask).bit_count(), "zeros": lambda x, y: bits - (x & mask).bit_length(),
        "less": lambda x, y: x < y, "same": lambda x, y: x == y}
    f = functions[what]
    xs, ys = ([(int(v) ^ sign) - sign for v in w] for w in (a, b))
    out = [int(f(x, y)) & mask for x, y in zip(xs, ys)]
    return np.array(out, U).astype(word("bool" if what in ("less", "same") else t))


def engines_here():
    flags = set(re.search(r"^flags\s*:(.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1].split())
    return [level for level, flag in LEVELS.items() if flag in flags] + list(TEXTS) + ["run:typed"]


def ask_all(judge, full):
    judge.conversions(1 if full else 61)
    judge.fma(200000 if full else 6000)
    judge.integers()
    judge.lines()


def main(text, ask):
    parser = argparse.ArgumentParser()
    parser.add_argument("compiler")
    parser.add_argument("engines", nargs="*")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--run", type=pathlib.Path)
    parser.add_argument("--tell", action="store_true")
    given = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.run or given.build or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for engine in given.engines or engines_here():
            random.seed(1)
            np.random.seed(1)
            if engine.startswith("run:"):
                functions, most = Interpreter(given.compiler, engine, folder.resolve(), text(64)), 300
            elif not given.run:
                build(given.compiler, engine, folder.resolve(), text)
            if given.build:
                continue
            if not engine.startswith("run:"):
                functions, most = Library(folder.resolve() / f"{engine}.so", Device() if engine.startswith("sm_") else Host()), 1 << 40
            judge = Judge(engine, functions, most, most if given.full else 10000, given.tell)
            ask(judge, given.full)
            print(f"{engine}: {judge.asked} results, {judge.failed} outputs wrong")
            failed += judge.failed
    sys.exit(failed != 0)


if __name__ == "__main__":
    main(kernels.text, ask_all)
