#!/usr/bin/env python3
"""Random maps from blocks to elements against all small numbers: fuzz.py TILEC SEED COUNT

A kernel that `tilec check` lets pass without T0700 or T0401 has no two blocks on one element, for any numbers that its contract allows.
"""
import collections
import pathlib
import random
import re
import subprocess
import sys
import tempfile

BATCH = 100
SMALL = range(1, 6)
DIVISORS = ["a", "b", "s", "(a * s)", "(a * b)", "(s * s)", "2", "4", "8", "min(a, s)", "min(a - p / (s * b) * s, s)"]
FIRSTS = ["p / (s * b) * s", "p / (4 * b) * 4", "p / a * b", "q * s", "0"]
# What kernels make of their index: {d}, {e} and {f} are divisors, {g} is where a group begins.
SHAPES = [
    "p", "p % {f}", "p / {d}", "p / {d} % {e}", "p % {d} / {f}", "p % {d} * {e} + p / {d}", "p / {d} * {e} + p % {d} % {f}",
    "{g} + p % {d} % {f}", "{g} + p % {f}", "p / {d} * {d} + ({d} - 1 - p % {d})", "q * {d} + p % {e}", "q * {d} + p", "p * {d} + q",
    "p / {d} * {e} + min(p % {e}, {f})",
]
GRIDS = ["a * b", "a * s", "a * b * s", "b * s * s", "8 * b"]
SECONDS = ["1", "1", "s", "b", "4"]
CONTRACTS = ["", ", a % s == 0", ", b <= s", ", a == 4"]


def random_tree(rng, depth):
    if depth == 0 or rng.random() < 0.25:
        return rng.choice(["p", "q", "a", "b", "s", "1", "2", "3", "8"])
    operation = rng.choice(["+", "*", "-", "min", "/", "/", "%", "%"])
    left = random_tree(rng, depth - 1)
    right = rng.choice(DIVISORS) if operation in "/%" else random_tree(rng, depth - 1)
    return f"min({left}, {right})" if operation == "min" else f"({left} {operation} {right})"


def random_index(rng):
    if rng.random() < 0.25:
        return random_tree(rng, 3)
    d, e, f = (rng.choice(DIVISORS) for _ in range(3))
    return rng.choice(SHAPES).format(d=d, e=e, f=f, g=rng.choice(FIRSTS))


class Kernel:
    def __init__(self, rng, name):
        self.name = name
        self.indices = [random_index(rng) for _ in range(rng.choice([1, 2, 2, 3]))]
        self.grid, self.second = rng.choice(GRIDS), rng.choice(SECONDS)
        self.contract = "a >= 1, b >= 1, s >= 1" + rng.choice(CONTRACTS)

    def text(self):
        rank = range(len(self.indices))
        lets = " ".join(f"let i{d} = {index};" for d, index in enumerate(self.indices))
        inside = " && ".join(f"i{d} >= 0 && i{d} < D{d}" for d in rank)
        dims, place = ", ".join(f"D{d}" for d in rank), ", ".join(f"i{d}" for d in rank)
        return (f"export kernel {self.name}(out y: f32[{dims}], a: int, b: int, s: int) requires {self.contract} "
                f"{{ launch (q in {self.second}, p in {self.grid}) {{ {lets} if {inside} {{ y[{place}] = 1; }} }} }}")

    def meeting(self):
        """Numbers for which two blocks have one element, or None."""
        python = {text: compile(text.replace("/", "//"), "index", "eval") for text in [*self.indices, self.grid, self.second]}
        allowed = compile(self.contract.replace(",", " and "), "contract", "eval")
        for a in SMALL:
            for b in SMALL:
                for s in SMALL:
                    numbers = {"a": a, "b": b, "s": s, "min": min}
                    if eval(allowed, numbers) and self.meets(python, numbers):
                        return f"a = {a}, b = {b}, s = {s}"
        return None

    def meets(self, python, numbers):
        seen = set()
        for q in range(eval(python[self.second], numbers)):
            for p in range(eval(python[self.grid], numbers)):
                numbers.update(p=p, q=q)
                try:
                    element = tuple(eval(python[index], numbers) for index in self.indices)
                except ZeroDivisionError:
                    continue
                if element in seen:
                    return True
                if min(element) >= 0:
                    seen.add(element)
        return False


def told(compiler, kernels, folder):
    """The codes of diagnostics, by kernel."""
    path = pathlib.Path(folder) / "k.tile"
    path.write_text("".join(kernel.text() + "\n" for kernel in kernels))
    done = subprocess.run([compiler, "check", path, "--error-limit", "0"], capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 1):
        sys.exit(f"tilec ends with {done.returncode}: {done.stderr[:2000]}")
    codes = collections.defaultdict(set)
    for line, code in re.findall(r"^[^\n]*k\.tile:(\d+):\d+: (?:error|warning): [^\n]*\[(T\d+)", done.stderr, re.M):
        codes[kernels[int(line) - 1].name].add(code)
    return codes


def main(compiler, seed, count):
    counts, failures = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for batch in range(-(-count // BATCH)):
            rng = random.Random(seed + batch)
            kernels = [Kernel(rng, f"k{i}") for i in range(min(BATCH, count - batch * BATCH))]
            # What analysis refuses, a division by a constant 0, hides what proofs say of the others.
            refused = {name for name, codes in told(compiler, kernels, folder).items() if any(code < "T0400" for code in codes)}
            kernels = [kernel for kernel in kernels if kernel.name not in refused]
            codes = told(compiler, kernels, folder)
            counts["refused"] += len(refused)
            for kernel in kernels:
                races = codes[kernel.name] & {"T0700", "T0401"}
                if codes[kernel.name] - races:
                    counts["refused"] += 1
                    continue
                meeting = kernel.meeting()
                counts["apart, not proved" if races and not meeting else "told" if races else "proved"] += 1
                if meeting and not races:
                    failures.append(f"seed {seed + batch}: two blocks meet for {meeting}, and nothing is told\n  {kernel.text()}")
    print("\n".join(failures))
    print(f"{count} kernels from seed {seed}:", ", ".join(f"{what} {number}" for what, number in sorted(counts.items())))
    if not counts["proved"]:
        sys.exit("nothing was proved")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
