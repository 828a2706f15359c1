#!/usr/bin/env python3
"""Random loops that carry tiles over an edge: carried.py TILEC SEED COUNT

What a loop carries keeps what it holds where a turn brings padding. The source form follows that element by element; the Typed form, and the
thread form of two machines, must give the same. A kernel that is refused, or not judged, is counted.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROWS, COLUMNS = 4, 8
FORMS = [["--form", "source"], ["--form", "typed"], ["--form", "thread", "--target", "x86-64-v3"], ["--form", "thread", "--target", "sm_90a"]]


class Program:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        # Tiles that registers of a CPU do not hold, and first values that are read again in loops.
        self.is_large = random.Random(f"large {seed}").choice([True, False, False, False, False, False])
        self.rows = 16 if self.is_large else ROWS
        self.m, self.n = self.rng.randrange(1, 6), self.rng.randrange(1, 30)
        # B ends where A does, elsewhere, or nowhere.
        self.b = self.rng.choice([("M", "N"), ("M", "N"), ("M", "Q"), ("P", "N"), ("P", "Q"), ("8", "N"), ("M", "32")])
        self.p, self.q = self.rng.randrange(1, 6), self.rng.randrange(1, 30)
        self.names = [f"v{i}" for i in range(self.rng.choice([1, 1, 2]))]
        self.tiles, self.fresh, self.has_function = [], 0, False
        self.places = self.rng.choice([0, 0, 0.4])
        # Tiles that are assigned behind their use, repeated data, branches that are not taken, sums in every turn.
        self.turns = random.Random(f"turns {seed}").choice([0, 0.4])
        # Variables of a turn, which keep a number beyond an edge, and are folded into those that the loop carries.
        self.folds = random.Random(f"folds {seed}").choice([0, 0.4])
        # Variables that begin as others are.
        self.copies = random.Random(f"copies {seed}").choice([False, True])
        # A tile of places, and conditions that are made of one and of what a variable holds.
        self.positions = random.Random(f"positions {seed}").choice([0, 0, 0.15])
        # What iterations do to memory, as elements of a variable tell.
        self.effects = random.Random(f"effects {seed}").choice([0, 0, 0.25])
        # Conditions on elements with something on either side, the same or another thing, one within the other.
        self.branches = random.Random(f"branches {seed}").choice([0, 0, 0.3])
        # Rows of shared tiles that iterations walk through, element by element.
        self.walks = random.Random(f"walks {seed}").choice([0, 0, 0.25])

    def name(self):
        self.fresh += 1
        return f"t{self.fresh}"

    def pad(self):
        return self.rng.choice(["", "", "", ", pad = 2", ", pad = -inf"])

    def read(self, index):
        return f"{self.rng.choice('AB')}.tile[{self.rows}, {COLUMNS}](i, {index}{self.pad()})"

    def first(self, others=()):
        if self.is_large and self.rng.random() < 0.5:
            return self.rng.choice(["base", "base", *others])
        return self.rng.choice(["0", "-5", "3", "2" if self.turns else "-inf", self.read("0"), self.read("0")])

    def product(self):
        return f"A.tile[{self.rows}, {COLUMNS}](i, k) @ B.tile[{COLUMNS}, {COLUMNS}](0, k)"

    def operand(self):
        """What a turn brings: it ends elsewhere in each."""
        if self.positions and self.rng.random() < self.positions:
            return self.rng.choice(["at", f"(at * 0.5 + {self.rng.choice(self.names)})", f"(at - {self.rng.choice(self.names)})", f"(at + {self.read('k')})"])
        tile = self.rng.choice(self.tiles) if self.tiles and self.rng.random() < 0.6 else self.read("k")
        return self.rng.choice([tile, tile, f"({tile} - 1)", f"({tile} * 2)", f"abs({tile})", f"(-{tile})", f"({tile} + {self.read('k')})"])

    def combined(self, variable, operand):
        op = self.rng.choice(["max", "max", "min", "+", "+", "-", "*"])
        value = f"{op}({variable}, {operand})" if op.startswith("m") else f"{variable} {op} {operand}"
        return self.rng.choice([value, value, value, value, f"({value}) * 0.5", f"({value}) + 1", f"-({value})", f"max(abs({variable}), {operand})", self.choice(variable, operand), f"abs({value}) - {operand}", self.choice(variable, operand)])

    def choice(self, variable, operand):
        sides = [operand, variable] if self.rng.random() < 0.7 else [variable, operand]
        test = self.rng.choice([f"{operand} > {variable}", f"{operand} < {variable}", f"{operand} > 0", f"{variable} > 0", f"{self.read('k')} < 2"])
        return f"(if {test} {{ {sides[0]} }} else {{ {sides[1]} }})"

    def placed(self):
        """Elements of which the place decides, beside padding."""
        value, name = self.read("k"), self.name()
        target = self.rng.choice([*self.names, name])
        is_shared = target != name and self.rng.random() < 0.3
        x, mine = f"{name}[r, {f'{COLUMNS - 1} - c' if is_shared and self.rng.random() < 0.3 else 'c'}]", f"{target}[r, c]"
        test = self.rng.choice(["c < 3", "c >= 5", f"k * {COLUMNS} + c < N", f"k * {COLUMNS} + c >= N", f"i * {self.rows} + r < M", "c > r", "r == 1", "k == 0",
                                f"k * {COLUMNS} + c < N - 1", f"k * {COLUMNS} + c < N && i * {self.rows} + r < M", f"{x} > 0", f"c < 6 && {x} > 0"])
        numbers = ["0", "1", "-inf", "inf", x, mine, f"{mine} + {x}", f"max({mine}, {x})", f"{mine} - {x}", f"{x} * 2", f"pick({x}, {mine})"]
        if target == name:  # one element, which is combined with itself alone
            numbers = ["0", "1", "-inf", "inf", f"{mine} * 2", f"{mine} + 1"]
        if self.positions:
            numbers += ["(c as f32)", f"{mine} + (c as f32) * 0.5", f"{mine} * (r as f32)"]
            test = self.rng.choice([test, f"c != 0 && {mine} < 5", f"{mine} < (c as f32)", f"c + r < 3 || {x} > 0"])
        one, other = self.rng.sample(numbers, 2)
        alone = one if one != mine else "1"  # what is assigned to itself is no assignment
        body = self.rng.choice([f"if {test} {{ {mine} = {alone}; }}", f"if {test} {{ {mine} = {alone}; }}", f"if {test} {{ {mine} = {one}; }} else {{ {mine} = {other}; }}",
                                f"{mine} = if {test} {{ {one} }} else {{ {other} }};", f"var e: f32 = {one}; if {test} {{ e = {other}; }} {mine} = e;",
                                f"raise({mine}, {x if x != mine else 0});", f"if {test} {{ raise({mine}, {one if one != mine else 0}); }}"])
        self.has_function |= "pick" in body or "raise" in body
        lines = f"var {name}{f': shared f32[{self.rows}, {COLUMNS}]' if is_shared else ''} = {value}; for (r, c) in parallel({self.rows}, {COLUMNS}) {{ {body} }}"
        if target == name:
            variable = self.rng.choice(self.names)
            lines += f" {variable} = {self.combined(variable, name)};"
        return lines

    def update(self):
        variable, kind = self.rng.choice(self.names), self.rng.random()
        if self.places and kind < self.places:
            return self.placed()
        if self.turns and self.rng.random() < self.turns:
            return self.turned(variable)
        if self.folds and self.rng.random() < self.folds:
            return self.folded(variable)
        if self.effects and self.rng.random() < self.effects:
            return self.counted(variable)
        if self.branches and self.rng.random() < self.branches:
            return self.branched(variable)
        if self.walks and self.rng.random() < self.walks:
            return self.walked(variable)
        kind = self.rng.random()
        if kind < 0.15:
            at = self.rng.choice([0, 2, 4])
            part = f"[:, {at} +: 4]"
            return f"{variable}{part} = {self.rng.choice(['max', 'min'])}({variable}{part}, {self.read('k')}{part});"
        if kind < 0.25:
            self.has_function = True
            return f"up({variable}, {self.operand()}, k);"
        if kind < 0.35:
            return f"{variable} += {self.operand()};"
        if kind < 0.38:
            return f"{variable} += {self.product()};"
        if kind < 0.42:
            return f"{variable} = {self.first()};"
        if kind < 0.5:
            name = self.name()
            return f"let {name} = {self.combined(variable, self.operand())}; {variable} = {name};"
        if kind < 0.55:
            name = self.name()
            return f"let {name} = {self.operand()} - {variable}; {variable} += {name} * 0.5;"
        if self.copies and kind < 0.563:
            return self.written_over(variable)
        if self.copies and kind < 0.58:
            name, other = self.name(), self.rng.choice([variable, f"max({variable}, {self.operand()})", f"({variable} + 1)"])
            return self.rng.choice([f"var {name} = {variable}; {name} = {self.combined(other, self.operand())}; {variable} = {self.combined(variable, name)};",
                                    f"var {name} = {variable}; {variable} = {self.combined(variable, self.operand())}; {name} = {self.combined(variable, self.operand())}; {variable} = {name};"])
        if kind < 0.58:
            return f"{variable} = {variable} * {self.rng.choice(self.names)} + {self.operand()};"
        if kind < 0.62:
            return f"{variable} = select({self.operand()} <= {self.rng.choice(['0', variable])}, {variable} + 1, {variable});"
        return f"{variable} = {self.combined(variable, self.operand())};"

    def written_over(self, variable):
        """A copy, or what it is a copy of, that is written over in some elements, or in some runs."""
        name = self.name()
        target, other = self.rng.sample([variable, name], 2)
        value = self.rng.choice(["0", "1", f"{other}[r, c] + 1", f"{target}[r, c] * 2"])
        place = self.rng.choice(["c > r", "r == M - 1", "k > 0", f"{other}[r, c] > 0"])
        whole = self.rng.choice(["1", f"{target} + 1", self.read("k")])
        over = self.rng.choice([f"for (r, c) in parallel({self.rows}, {COLUMNS}) {{ if {place} {{ {target}[r, c] = {value}; }} }}", f"if N > 5 {{ {target} = {whole}; }}",
                                f"for {self.name()} in 0..N - 1 {{ {target} = {whole}; }}", f"{target}[:, 0 +: 4] = {self.rng.choice(['0', f'{other}[:, 4 +: 4]'])};"])
        last = self.rng.choice([f"{variable} = {name} + {self.operand()};", f"{variable} = {self.combined(variable, name)};", f"{variable} = select({self.operand()} > 0, {name}, 0);"])
        return f"var {name}: fragment f32[{self.rows}, {COLUMNS}] = {variable}; {over} {last}"

    def branched(self, variable):
        """An element, of which a condition on data decides, on both sides."""
        name, mine, other = self.name(), f"{variable}[r, c]", f"{self.rng.choice(self.names)}[r, c]"
        x = f"{name}[r, c]"

        def test():
            return self.rng.choice([f"{x} > {mine}", f"{x} < {mine}", f"{x} > 0", f"{x} > 0", f"{mine} > 0", f"{other} < {x}", "c < 3", "k > 0", f"{x} > {mine} && c < 6", f"k == 0 || {x} > {mine}"])

        def side(depth):
            value = self.rng.choice(["2", "-inf", x, x, f"max({mine}, {x})", f"min({mine}, {x})", f"{mine} + {x}", f"{mine} * 2", f"{x} * 2", f"{other} + 1"])
            made = self.name()
            plain = self.rng.choice([f"{mine} = {value};", f"{mine} = {value};", f"let {made}: f32 = {value}; {mine} = {made};", f"var {made}: f32 = 0; {made} += {value}; {mine} = {made};",
                                     f"{other} = {x};", f"{mine} += {x};", ""])
            if plain in (f"{mine} = {mine};", f"{other} = {other};"):
                plain = ""
            if depth and self.rng.random() < 0.3:
                return choice(depth - 1)
            return plain

        def choice(depth):
            other_side = self.rng.choice([f" else {{ {side(depth)} }}", f" else {{ {side(depth)} }}", ""])
            return f"if {test()} {{ {side(depth)} }}{other_side}"

        again = self.rng.choice(["", "", f" {choice(0)}", f" {mine} = max({mine}, {self.rng.choice(self.tiles)}[r, c]);" if self.tiles else ""])
        return f"let {name} = {self.operand()}; for (r, c) in parallel({self.rows}, {COLUMNS}) {{ {choice(1)}{again} }}"

    def walked(self, variable):
        """A number for each row, of elements of two shared tiles at places that a loop of the iteration tells."""
        one, two, row = self.name(), self.name(), self.name()
        elements = [f"{one}[r, c]", f"{two}[r, c]", f"{one}[r, {COLUMNS - 1} - c]", f"{two}[r, c + 1]", f"{one}[r, c] * 2", f"abs({one}[r, c] - {two}[r, c])"]

        def statement():
            x, y, mine = self.rng.choice(elements), self.rng.choice(elements), f"{row}[r]"
            return self.rng.choice([f"{mine} = max({mine}, {x});", f"{mine} += {x};", f"{mine} = {mine} * 0.5 + {x};", f"if {x} > {mine} {{ {mine} = {x}; }}",
                                    f"if {x} > {y} {{ {mine} += 1; }}", f"{mine} = if {x} > 0 {{ {mine} + 1 }} else {{ {mine} }};"])
        body = " ".join(statement() for _ in range(self.rng.choice([1, 1, 2, 3])))
        shared = "".join(f"var {t}: shared f32[{self.rows}, {COLUMNS}] = {self.read(self.rng.choice(['0', 'k', 'k']))}; " for t in (one, two))
        return (f"{shared}var {row}: fragment f32[{self.rows}] = {self.rng.choice(['0', '-9', '1'])}; for r in parallel({self.rows}) {{ for c in 0..{COLUMNS - 1} {{ {body} }} }} "
                f"{variable} = {variable} + {row}[:, _];")

    def counted(self, variable):
        """Atomics that elements tell of, and a variable that is a number again behind them."""
        mine, other = f"{variable}[r, c]", self.rng.choice(self.names)
        test = self.rng.choice([f"{mine} > 0", f"{mine} < 2", f"{mine} > {other}[r, c]", f"{mine} >= (c as f32)", f"k > 0 && {mine} != 0"])
        place = self.rng.choice(["c", "c", "c" if self.is_large else "r", f"max(min({mine} as int, {COLUMNS - 1}), 0)"])
        body = f"atomic_add(H[{place}], {self.rng.choice(['1', '(k + 1) as i32'])});"
        if self.rng.random() < 0.8 or place in "cr":
            body = f"if {test} {{ {body} }}"
        number = self.rng.choice(["0", "1", "-5"])
        over = self.rng.choice(["", "", f" {variable} = {number};", f" if N > 5 {{ {variable} = {number}; }}", f" {variable}[:, 0 +: 4] = {number}; {variable}[:, 4 +: 4] = {number};",
                                f" for {self.name()} in 0..N - 1 {{ {variable} = {number}; }}"])
        return f"for (r, c) in parallel({self.rows}, {COLUMNS}) {{ {body} }}{over}"

    def folded(self, variable):
        name, other, index = self.name(), self.rng.choice(self.names), self.name()
        take = self.rng.choice([f"{name} += {self.read('k')};", f"{name} = max({name}, {self.operand()});", f"{name} -= {self.read('k')} * 2;", f"{name} += {self.product()};"])
        lines = f"var {name}: fragment f32[{self.rows}, {COLUMNS}] = {self.rng.choice(['0', '0', '1', '-5', self.read('0')])}; "
        lines += self.rng.choice([take, take, f"for {index} in 0..{self.rng.choice(['2', 'M', 'N - 1'])} {{ {take} }}", f"if {self.rng.choice(['N > 5', 'k > 0'])} {{ {take} }}"]) + " "
        made = self.rng.choice([name, name, f"({name} * 2)", f"abs({name})", f"(1 - {name})", f"({name} * {name})"])
        self.has_function = True
        by = self.name()
        return lines + self.rng.choice([
            f"{variable} = {self.combined(variable, made)};", f"{variable} = {self.combined(variable, made)};", f"{variable} += {made};", f"up({variable}, {made}, k);",
            f"let {by} = {made}; {variable} = {self.combined(variable, by)};", f"let {by} = {self.combined(variable, made)}; {variable} = {by};",
            f"var {by} = {self.combined(variable, made)}; {variable} = {by};", f"{variable} = {self.combined(variable, f'({made} + {other})')};",
            f"for (r, c) in parallel({self.rows}, {COLUMNS}) {{ if {name}[r, c] > {variable}[r, c] {{ {variable}[r, c] = {name}[r, c]; }} }}",
            f"for (r, c) in parallel({self.rows}, {COLUMNS}) {{ if {name}[r, c] < {variable}[r, c] {{ {variable}[r, c] = {name}[r, c]; {other}[r, c] = k as f32; }} }}",
            f"for (r, c) in parallel({self.rows}, {COLUMNS}) {{ {variable}[r, c] = max({variable}[r, c], {name}[r, c] * 2); }}",
            f"for (r, c) in parallel({self.rows}, {COLUMNS}) {{ let e = {variable}[r, c] + {name}[r, c]; {variable}[r, c] = e; }}",
            f"{variable} = {variable} + {made}.max(axis = 1)[:, _];", f"{variable} = {self.combined(variable, made)} + {self.read('k')};"])

    def repeated(self):
        tile = self.rng.choice([*self.names, *self.tiles])
        return self.rng.choice([f"{self.read('k')}.max(axis = 1)[:, _]", f"{tile}.sum(axis = 0)[_, :]", f"{tile}[{self.rng.randrange(self.rows)}, :][_, :]",
                                f"{tile}[:, {self.rng.randrange(COLUMNS)}][:, _]"])

    def turned(self, variable):
        """What a variable holds in the first turn, or where a branch is not taken, is something else than what comes later."""
        kind = self.rng.random()
        index = self.rng.choice(["0", "0", "1", "2 - k", "k - 1", "k + 1"])
        later = self.rng.choice([self.read(index), self.read(index), self.first(), f"{self.read(index)} * 2"])
        if kind < 0.3:
            return f"{self.sums()} {variable} = {later};"
        if kind < 0.45:
            return self.sums()
        if kind < 0.6:
            return self.rng.choice([f"{variable} = {variable} + {self.repeated()};", f"{variable} = {variable} * 0 + {self.repeated()};"])
        if kind < 0.8:
            test = self.rng.choice(["M > 100", "M < 100", "N > 100", "N < 100", "N > 5", "k == 1", "k > 0", "N > 0 && A[0, 0] > 0"])
            sides = [f"{variable} = {later};", self.rng.choice([f"{variable} = {variable} + {self.repeated()};", f"{variable} = {variable} * 2;", self.sums(), ""])]
            self.rng.shuffle(sides)
            return f"if {test} {{ {sides[0]} }} else {{ {sides[1]} }}"
        if kind < 0.9:
            name = self.name()
            return f"let {name} = {variable}; {variable} = {later}; {self.rng.choice(self.names)} = {self.combined(variable, name)};"
        return f"{variable} = {self.combined(variable, self.rng.choice(self.names))}; {variable} = {later};"

    def sums(self):
        return f"total = total * 0.5 + {self.rng.choice(self.names)}.{self.rng.choice(['max', 'min', 'sum', 'sum'])}(axis = 1);"

    def statements(self, depth):
        lines, known = [], len(self.tiles)
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            kind = self.rng.random()
            if kind < 0.25:
                name = self.name()
                lines.append(f"let {name} = {self.read('k')};")
                self.tiles.append(name)
            elif kind < 0.4 and depth:
                index = self.name()
                lines.append(f"for {index} in 0..{self.rng.choice([1, 2])} {{ {self.statements(depth - 1)} }}")
            elif kind < 0.5 and depth:
                lines.append(f"if k {self.rng.choice(['== 0', '== 1', '> 0', '< 9'])} {{ {self.statements(depth - 1)} }}")
            elif kind < 0.55 and depth == 2:
                lines.append("if k == 1 { continue; }")
            else:
                lines.append(self.update())
        del self.tiles[known:]
        return " ".join(lines)

    def segment(self):
        """Tiles one after the other: a loop over them, forth or back, a list of them, or one alone."""
        kind, turns = self.rng.random(), f"ceildiv(N, {COLUMNS})"
        if kind < 0.2:
            body = self.statements(1)
            if kind < 0.1:
                return f"{{ let k = {self.rng.choice([0, 1, 2, f'{turns} - 1'])}; {body} }}"
            return f"for k in {self.rng.choice(['[0, 1]', '[1, 0]', '[2, 0, 1]'])} {{ {body} }}"
        if kind < 0.35:
            index = self.name()
            return f"for {index} in 0..{turns} {{ let k = {turns} - 1 - {index}; {self.statements(2)} }}"
        loop = self.rng.choice([f"0..{turns}", f"0..{turns}", f"1..{turns}", "0..3", f"0..{turns} - 1", "0..ceildiv(M, 2)"])
        return f"for k in {loop} {{ {self.statements(2)} }}"

    def text(self):
        firsts = []
        if self.is_large:
            firsts.append(f"let base = {self.read('0')};")
            self.tiles.append("base")
        firsts += [f"var {v}: fragment f32[{self.rows}, {COLUMNS}] = {self.first(self.names[:i])};" for i, v in enumerate(self.names)]
        body = " ".join(firsts + [self.segment() for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3]))])
        out = self.rng.choice(self.names)
        # All are looked at: what nobody sees is not computed, and conditions are no more what they were.
        others = [v for v in self.names if v != out]
        ends = [f"O.tile(i, 0) = {out};", f"S.tile(i) = {out}.{self.rng.choice(['max', 'min', 'sum'])}(axis = 1);"]
        outs = [f"out O: f32[M, {COLUMNS}]", "out S: f32[M]"]
        counts = f", inout H: i32[{COLUMNS}]" if self.effects else ""
        end = self.rng.randrange(2)
        if self.turns:
            body, end, ends[1] = f"var total: fragment f32[{self.rows}] = 0; {body}", 1, ends[1].replace(" = ", " = total + ", 1)
        if self.positions:
            body = f"var at: fragment f32[{self.rows}, {COLUMNS}] = 0; for (r, c) in parallel({self.rows}, {COLUMNS}) {{ at[r, c] = (c as f32) - (r as f32); }} {body}"
        function = f"fn pick(x: f32, y: f32) -> f32 {{ if x > 0 {{ return x; }} return y; }}\nfn raise(inout m: f32, x: f32) {{ if x <= m {{ return; }} m = x; }}\nfn up(inout a: fragment f32[{self.rows}, {COLUMNS}], b: fragment f32[{self.rows}, {COLUMNS}], k: int) {{ if k == 2 {{ return; }} a = max(a, b); }}\n"
        return (function if self.has_function else "") + (
            f"export kernel k(A: f32[M, N], B: f32[{', '.join(self.b)}], {', '.join([outs[end], *(f'out X{v}: f32[M]' for v in others)])}{counts}) {{ "
            f"launch (i in ceildiv(M, {self.rows})) {{ {body} {ends[end]}{''.join(f' X{v}.tile(i) = {v}.max(axis = 1);' for v in others)} }} }}\n")

    def data(self):
        sizes = {"M": self.m, "N": self.n, "P": self.p, "Q": self.q}
        tensor = lambda extents: [[float(self.rng.randrange(-9, 10)) for _ in range(extents[1])] for _ in range(extents[0])]
        b = [sizes.get(extent) or int(extent) for extent in self.b]
        return {"A": tensor((self.m, self.n)), "B": tensor(b)} | ({"H": [0] * COLUMNS} if self.effects else {}) | {name: sizes[name] for name in {"M", "N", *self.b} if name in sizes}


def differ_by_rounding(a, b):
    """Great numbers, or many halves of the small whole ones that are given, which sums in another order round to others."""
    if not (isinstance(a, dict) and isinstance(b, dict)) or a.keys() != b.keys():
        return False
    pairs = [pair for name in a for pair in zip(a[name], b[name], strict=True)]
    most = max((abs(x) for pair in pairs for x in pair if not isinstance(x, str)), default=0)
    return all(x == y or (not isinstance(x, str) and not isinstance(y, str) and abs(x - y) <= 1e-5 * most) for x, y in pairs)


def judged(tilec, seed, made=Program):
    """(what came of the program that is made of the number, a message)"""
    program = made(seed)
    text, data = program.text(), program.data()
    with tempfile.TemporaryDirectory() as folder:
        source, numbers = pathlib.Path(folder) / "k.tile", pathlib.Path(folder) / "k.json"
        source.write_text(text)
        numbers.write_text(json.dumps(data))
        told = subprocess.run([tilec, "check", "-w", source], capture_output=True, text=True, timeout=20)
        if told.returncode:
            codes = [line.rsplit("[", 1)[1].rstrip("]") for line in told.stderr.splitlines() if ": error:" in line and line.endswith("]")]
            if told.returncode == 1 and codes and set(codes) <= {"T0404"}:
                return "refused", ""
            return "wrong", f"--- seed {seed}\n{text}{told.stderr[:600]}"
        results = []
        for form in FORMS:
            done = subprocess.run([tilec, "run", "-w", source, "--data", numbers, "--print", "json", "--numeric", "typed", *form], capture_output=True, text=True, timeout=20)
            told = json.loads(done.stdout) if done.stdout.startswith("{") else {}
            if "not_judged" in told or "not judged" in done.stderr:
                return "not judged", ""
            results.append(told.get("outputs") or done.stdout + done.stderr[:300])
    for form, result in zip(FORMS[1:], results[1:]):
        if result != results[0] and not differ_by_rounding(results[0], result):
            return "wrong", f"--- seed {seed}: {json.dumps(data)}\n{text}source {results[0]}\n{' '.join(form)} {result}\n"
    return "alike", ""


def main(tilec, seed, count, made=Program):
    counts, told = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        for what, message in pool.map(lambda s: judged(tilec, s, made), range(seed, seed + count)):
            counts[what] += 1
            if message and told < 5:
                told += 1
                print(message)
    print(f"{count} programs from seed {seed}:", ", ".join(f"{what} {number}" for what, number in sorted(counts.items())))
    return counts["wrong"] > 0 or counts["alike"] == 0


if __name__ == "__main__":
    sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]), int(sys.argv[3])))
