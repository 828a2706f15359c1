"""Random programs with what each means: functions, and a kernel of sequential code, whole tiles, elements, threads and a second launch."""
import random

import tiles
from functions import CELLS, Calls
from scalars import Cell, Expressions, Key, Memory, Scope, Statements
from threads import Threads
from values import FLOATS

TENSORS = {"A": "i32", "B": "i32", "F": "f32", "D": "f64", "H": "f16", "U": "u8", "L": "i64"}
NUMBERS = {"n": "i32", "m": "i64", "x": "f32", "y": "f64"}
SHARED = {"s": "i32", "z": "u16"}


class Program(Expressions, Statements, Calls, tiles.Tiles, Threads):
    def __init__(self, number):
        self.rng = random.Random(number)
        self.number, self.names, self.nested = number, 0, 0
        self.functions = []
        for _ in range(self.rng.randint(1, 5)):
            self.functions.append(self.function())
        self.kernel()

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.number}_{self.names}"

    def kernel(self):
        numbers = [(Key(n), t) for n, t in NUMBERS.items()]
        tensors, shared = [(Key(m), t) for m, t in TENSORS.items()], [(Key(m), t) for m, t in SHARED.items()]
        parts = [self.sequential([*tensors, *shared], numbers)]
        for part, chance in ((self.tiles, 0.6), (lambda: self.parallel([*tensors, *shared], numbers), 0.4), (lambda: self.threads([*tensors, *shared], numbers), 0.4)):
            if self.rng.random() < chance:
                parts.append(part())
        second = self.blocks(tensors, numbers) if self.rng.random() < 0.4 else None
        lines = [f"        {line}" for ls, _ in parts for line in ls]

        def run(data):
            e = dict(data)
            for n in NUMBERS:
                e[n] = Cell(data[n])
            for m in SHARED:
                e[m] = [0] * CELLS
            for _, go in parts:
                go(e)
            if second:
                second[1](e)
        self.run = run
        header = ", ".join([*(f"inout {m}: {t}[{CELLS}]" for m, t in TENSORS.items()), *(f"{n}: {t}" for n, t in NUMBERS.items())])
        self.text = "\n".join([*(f.text for f in self.functions), f"export kernel k{self.number}({header}) {{", "    launch (block in 1) threads 32 {",
                               *(f"        var {m}: shared {t}[{CELLS}] = 0;" for m, t in SHARED.items()), *lines, "    }",
                               *(f"    {line}" for line in (second[0] if second else [])), "}", ""])

    def sequential(self, memories, numbers):
        scope = Scope([], [Memory(m, t, CELLS) for m, t in memories], numbers)
        first = [self.declaration(scope) for _ in range(2)]
        body = self.statements(scope, 3, False, None)

        def run(e):
            for _, go in first:
                go(e)
            body[1](e)
        return ["{", *("    " + line for ls, _ in first for line in ls), *body[0], "}"], run


PRELUDE = """fn third[T: float](x: T) -> T { return x / 3; }
fn twice[T: float](x: T) -> T = x + x;
fn either[T: type](c: bool, a: T, b: T) -> T { return if c { a } else { b }; }
""" + tiles.PRELUDE


def data(rng):
    """Arguments of a call."""
    small = lambda: rng.choice([0, 1, 2, 3, -1, 5, 12, -7, 100, rng.randint(-(1 << 31), (1 << 31) - 1)])
    of = {"i32": small, "i64": lambda: rng.choice([0, 1, -5, 1 << 40, (1 << 63) - 1, (1 << 53) + 1, -(1 << 63)]), "u8": lambda: rng.choice([0, 1, 7, 200, 255]),
          "f16": lambda: rng.choice([0, 1, -2.5, 0.1, 6e4]), "f32": lambda: rng.choice([0, 1, -2.5, 0.1, 3e5, 1e9]), "f64": lambda: rng.choice([0, 1, -2.5, 0.1, 1e10, 3e18])}
    made = lambda t: FLOATS[t](of[t]()) if t in FLOATS else of[t]()
    return {**{m: [made(t) for _ in range(CELLS)] for m, t in TENSORS.items()}, **{n: made(t) for n, t in NUMBERS.items()}}
