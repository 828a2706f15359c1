#!/usr/bin/env python3
"""Random variables of places and of data: places.py TILEC SEED COUNT [wide]

A tile of positions counts beyond an edge, but not beside what a variable has kept there. Programs mix the two, and variables that are given in
parts, scanned, read from other tensors in some runs, or added to by products, and loops of iterations; judged as in carried.py. Wide: with calls of
functions and branches in these, of which about one in 8,000 still differs.
"""
import pathlib
import random
import sys

import carried
from carried import COLUMNS, ROWS

TILE = f"fragment f32[{ROWS}, {COLUMNS}]"
PLACES = f"var at: {TILE} = 0; for (r, c) in parallel({ROWS}, {COLUMNS}) {{ at[r, c] = (c as f32) - (r as f32); }}"
NAMES = ["p0", "p1", "p2"]
FIRSTS = ["0", "2", "3", "-inf", "at", "at", "at * 2", "at - 1"]
TURNS = ["0..1", "0..2", "1..4", f"0..ceildiv(N, {COLUMNS}) - 1", "0..c"]
LOOPS = [f"0..ceildiv(N, {COLUMNS})", f"0..ceildiv(N, {COLUMNS}) - 1", "0..2", "0..1", "[1, 0]"]


FUNCTIONS = """fn raise(inout m: f32, x: f32) { if x <= m { return; } m = x; }
fn one(x: f32, y: f32) -> f32 { if x < y { return y; } return x + 1; }
fn other(x: f32, y: f32) -> f32 { var z = y; if x < 2 { z += x; } return z; }
"""


class Program:
    is_wide = False

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.reads = 0  # by iterations with loops

    def read(self, k):
        return self.rng.choice([f"A.tile[{ROWS}, {COLUMNS}](i, {k})", f"B.tile[{ROWS}, {COLUMNS}](i, {k})", f"(A.tile[{ROWS}, {COLUMNS}](i, {k}) * 2)", f"E.tile[{ROWS}, {COLUMNS}](0, {k})"])

    def operand(self, k):
        one, two = self.rng.choices(NAMES, k=2)
        return self.rng.choice([self.read(k), self.read(k), "at", one, one, f"({one} + {two})", f"({one} * 0.5)", f"(at - {one})", f"({self.read(k)} + at)", f"({self.read(k)} + {one})"])

    def element(self):
        return self.rng.choice([f"{x}[r, c]" for x in NAMES] + ["q", "q", f"t{self.reads}[r, c]", f"t{self.reads}[r, c]", "(c as f32)", f"(q + t{self.reads}[r, c])", f"({self.rng.choice(NAMES)}[r, c] + 1)"])

    def step(self):
        """One of an iteration's loop: in its first turns other statements' padding may not have come yet."""
        pick = self.rng.choice
        x, e = f"{pick(NAMES)}[r, c]", self.element()
        return pick([f"q {pick(['+=', '-='])} {e};", f"q = max(q, {e});", f"q = {e};", f"{x} += {e};", f"{x} += {e};", f"{x} = min({x}, {e} + 2);", f"{x} = {e};",
                     f"if {e} < {pick(['2', self.element()])} {{ {pick([x, 'q'])} += {pick(['1', self.element()])}; }}", f"if {e} < 2 {{ atomic_add(H[{pick('rc')}], 1); }}",
                     *(self.calls(x, e) if self.is_wide else [])])

    def calls(self, x, e):
        """Functions, both sides of branches, choices."""
        pick = self.rng.choice
        return [f"if {e} < {pick(['2', self.element()])} {{ {x} = {self.element()}; q = {self.element()}; }} else {{ {pick([x, 'q'])} = {self.element()}; }}",
                f"raise({pick([x, 'q'])}, {self.element()});", f"q = {pick(['one', 'other'])}({e}, {self.element()});", f"{x} = select({e} < 2, {self.element()}, {x});"]

    def walk(self, k):
        pick = self.rng.choice
        self.reads += 1
        steps = " ".join(self.step() for _ in range(self.rng.randint(1, 3)))
        loop = pick([*([steps, steps] if self.is_wide else []), f"for n in {pick(TURNS)} {{ {steps} }}", f"var n = 0; while n < {pick(['1', '2', 'N - 6'])} {{ {steps} n += 1; }}"])
        last = f"{pick(NAMES)}[r, c] {pick(['=', '+='])} q;"
        first = pick(["0", "0", "3", "c as f32"])
        return f"let t{self.reads} = {self.read(k)}; for (r, c) in parallel({ROWS}, {COLUMNS}) {{ var q: f32 = {first}; {loop} {pick(['', last])} }}"

    def statement(self, k, is_alone=True):
        pick = self.rng.choice
        x, y, z = (pick(NAMES) for _ in range(3))
        each = f"for (r, c) in parallel({ROWS}, {COLUMNS})"
        test = f"{y}[r, c] < {pick(['2', '(c as f32)', f'{z}[r, c]'])}"
        kinds = [f"{x} {pick(['+=', '-='])} {self.operand(k)};"] * 4 + [f"{x} = {pick(['max', 'min'])}({x}, {self.operand(k)});"] * 3 + [
            f"{x} = {self.operand(k)};",
            f"{each} {{ if {test} {{ {x}[r, c] = {pick([f'{z}[r, c]', '(c as f32)', '1', f'{x}[r, c] + 1'])}; }} }}",
            f"{each} {{ if {test} {{ atomic_add(H[{pick('rc')}], 1); }} }}",
            f"{x} += C.tile[{ROWS}, 4](i, 0) @ D.tile[4, {COLUMNS}](0, 0);",
            f"{x} = {y} + {z}.{pick(['sum', 'max'])}(axis = 1)[:, _];",
            f"{x} = {x}.cumsum(axis = {pick('01')});",
            f"{x}[{pick(['0 +: 2, :', ':, 0 +: 4'])}] = {pick(['1', '2'])};",
            f"{x} += {y}[:, {pick('07')}][:, _];"] + [self.walk(k)] * 2
        if is_alone:
            tests = ["N > 3", "N > 9", "M > 3"] + (["k > 0", "k == 0"] if k == "k" else [])
            kinds.append(f"if {pick(tests)} {{ {self.statement(k, False)} }}")
        return pick(kinds)

    def text(self):
        pick = self.rng.choice
        lines = [PLACES] + [f"var {x}: {TILE} = {pick(FIRSTS)};" for x in NAMES] + [self.statement("0") for _ in range(self.rng.randint(1, 3))]
        if self.rng.random() < 0.7:
            lines.append(f"for k in {pick(LOOPS)} {{ {' '.join(self.statement('k') for _ in range(self.rng.randint(1, 3)))} }}")
            lines += [self.statement("0")] * self.rng.randrange(2)
        a, b = self.rng.sample(NAMES, 2)
        lines.append(f"S.tile(i) = {pick([a, f'({a} + {b})', f'max({a}, {b})', f'({a} + at)'])}.{pick(['sum', 'max', 'min'])}(axis = 1);")
        lines.append(f"U.tile(i) = {pick([b, f'({a} * {b})'])}.{pick(['sum', 'max'])}(axis = 1);")
        body = "\n        ".join(lines)
        return (FUNCTIONS + "export kernel k(A: f32[M, N], B: f32[M, N], C: f32[M, K], D: f32[K, N], E: f32[P, Q], inout H: i32[8], out S: f32[M], out U: f32[M]) {\n"
                f"    launch (i in ceildiv(M, {ROWS})) {{\n        {body}\n    }}\n}}\n")

    def data(self):
        sizes = {"M": self.rng.randint(1, 9), "N": self.rng.randint(1, 20), "K": self.rng.randint(1, 5), "P": pick_end(self.rng, ROWS), "Q": pick_end(self.rng, 3 * COLUMNS)}
        tensor = lambda rows, columns: [[float(self.rng.randint(-9, 9)) for _ in range(sizes[columns])] for _ in range(sizes[rows])]
        return {"A": tensor("M", "N"), "B": tensor("M", "N"), "C": tensor("M", "K"), "D": tensor("K", "N"), "E": tensor("P", "Q"), "H": [0] * COLUMNS} | sizes


def pick_end(rng, most):
    """As often as not all of it is there."""
    return most if rng.random() < 0.5 else rng.randint(1, most)


class Wide(Program):
    is_wide = True


if __name__ == "__main__":
    sys.exit(carried.main(str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]), int(sys.argv[3]), Wide if "wide" in sys.argv else Program))
