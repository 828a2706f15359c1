"""The loops of random kernels, over tiles of which the last one is partial."""
import re

PADS = ["", "", "", ", pad = 0", ", pad = 1", ", pad = -inf", ", pad = inf", ", pad = nan", ", pad = -2.5", ", pad = -0.0", ", pad = BIG"]
# What stands in the first reading and in the second one.
EITHER = re.compile("⟦(.*?)¦(.*?)⟧", re.S)


def either(over, masked):
    return f"⟦{over}¦{masked}⟧"


class Loops:
    def turns(self, j):
        """The head of a loop, and what ends its turn."""
        if self.rng.random() < 0.75:
            return f"for {j} in 0..ceildiv(N, BK) {{", "}"
        self.add(f"var {j}: int = 0;")
        return f"while {j} < ceildiv(N, BK) {{", f"{j} += 1; }}"

    def read_turn(self, j):
        return f"{self.rng.choice('xy')}.tile[BM, BK](0, {j}{self.rng.choice(PADS)})"

    def inside(self, j):
        return f"(inside.tile[BM, BK](0, {j}) > 0)"

    def element(self):
        return self.one("p", "p * s", "p * q", "exp(p)", "p + s", "p * z[:, _]", "p / q", "p - q", "abs(p)", "select(p > q, p, s)",
                        "if p > 0 && q > 0 { p } else { q }", "floor(p * 0.5)", "if p == q || p < s { 1 / p } else { q }")

    def loop(self):
        """What it carries are rows, or a tile that is reduced behind it."""
        name, j, rng = self.new("a"), self.new("j"), self.rng
        fn, is_tile = self.one("sum", "sum", "max", "min"), rng.random() < 0.5
        starts = {"max": ["-inf", "-inf", "0"], "min": ["inf", "inf", "1"], "sum": ["0", "0", "1", "-2"]}[fn]
        # Of `exact`, what is carried has more elements, which all begin so.
        start = starts[0] if self.frame.is_exact else rng.choice(starts)
        combined = {"sum": "{0} + {1}", "max": "max({0}, {1})", "min": "min({0}, {1})"}[fn]
        self.add(f"var {name}: fragment F[{'BM, BK' if is_tile else 'BM'}] = {start};")
        head, end = self.turns(j)
        self.add(f"{head} let z = w.tile[BM](0); let p = {self.read_turn(j)}; let q = {self.read_turn(j)}; let e = {self.element()};")
        seldom = "" if self.frame.is_exact else self.one("", "", "", f"if {j} % 2 == 0 ", f"if {j} > 0 ")
        if is_tile:
            now = combined.format(name, "e")
            turn = f"{name} = {either(now, f'select({self.inside(j)}, {now}, {name})')};"
        else:
            row = f"{self.kept('e', fn, mask=self.inside(j))}.{fn}(axis = 1)"
            turn = f"{name} = {combined.format(name, row)};"
        self.add(f"    {seldom}{'{ ' + turn + ' }' if seldom else turn} {end}")
        if not is_tile:
            self.rows.append(name)
            return self.result(name, "F", ("M",))
        self.result(f"{self.kept(name, fn, mask=self.inside('0'))}.{fn}(axis = 1)", "F", ("M",))

    def product_loop(self):
        name, j = self.new("a"), self.new("j")
        sides = [self.one("{0}", "{0}", "{0} * s", "{0} + 1", "exp({0})", "max({0}, 0)").format(letter) for letter in "pq"]
        self.add(f"var {name}: fragment {self.summed()}[BM, BM] = 0;")
        head, end = self.turns(j)
        self.add(head)
        for letter, side in zip("pq", sides):
            self.add(f"    let {letter} = {self.read_turn(j)}; let {letter}_ = {side};")
        masked = either("q_", f"(select({self.inside(j)}, q_, 0))")
        self.add(f"    {name} += {self.kept('p_', 'sum', mask=self.inside(j))} @ {masked}.T; {end}")
        self.result(name, self.summed(), ("M", "M"))

    def weights_loop(self):
        """Sums of exponentials, by the greatest number so far."""
        m, total, j = self.new("m"), self.new("l"), self.new("j")
        self.add(f"var {m}: fragment F[BM] = {self.one('-100', '-inf', '0')}; var {total}: fragment F[BM] = 0;")
        head, end = self.turns(j)
        self.add(f"{head} let z = w.tile[BM](0); let p = {self.read_turn(j)}; let q = {self.read_turn(j)}; let e = {self.element()};")
        self.add(f"    let now = max({m}, {self.kept('e', 'max', mask=self.inside(j))}.max(axis = 1)); let weights = exp(e - now[:, _]);")
        self.add(f"    let part = {self.kept('weights', 'sum', mask=self.inside(j))}.sum(axis = 1); let old = {total} * exp({m} - now);")
        self.add(f"    {total} = old + part; {m} = now; {end}")
        for row in m, total:
            self.rows.append(row)
            self.result(row, "F", ("M",))

    def not_always(self):
        """A tile, or rows, of a branch or of turns that there may be none of. What it begins with ends where they do: a number alone would count."""
        name, rows, value = self.new("v_"), self.rng.random() < 0.3, self.one(self.tile(), self.read_tile())
        fn = self.one("max", "min", "sum")
        value = f"{self.kept(value, fn)}.{fn}(axis = 1)" if rows else value
        begin = "w.tile[BM](0)" if rows else "x.tile[BM, BN](0, 0)"
        self.add(f"var {name}: fragment F[BM{'' if rows else ', BN'}] = {begin} * 0 + {self.one('0', '0', '1', '-inf', 's')};")
        head = self.one("if N % 2 == 0", "if M > 2", "for k in 0..N % 2", "for k in 0..M - M", "if s > 1", "if s > 1", "for k in 0..2")
        self.add(f"{head} {{ {name} = {self.one('{0}', '{0}', '{0} + {1}', '{1} - {0}', 'max({1}, {0})').format(value, name)}; }}")
        (self.rows if rows else self.tiles).append(name)
        if self.rng.random() < 0.5:
            made = self.let("v", self.rng.choice(self.unary() + ["{0} + 1", "{0} * s", "{0} - {0}", "s - {0}"]).format(name))
            self.result(f"{self.kept(made, fn, mask='in_m' if rows else 'in_mn')}.{fn}(axis = 0)", "F", ("1",) if rows else ("N",))

    def in_parts(self):
        """A tile that is written in parts, one for each turn along the columns."""
        name, start = self.new("h"), self.one("", "", " = 0")
        self.add(f"var {name}: {self.one('shared', 'fragment') if start else 'shared'} F[BM, BN]{start};")
        self.has_unknown |= bool(start)
        j, value = self.new("j"), self.one("{0}", "{0}", "{0} * s", "{0} + 1")
        self.add(f"for {j} in 0..BN / BK {{ {name}[0 +: BM, {j} * BK +: BK] = {value.format(self.read_turn(j))}; }}")
        self.tiles.append(self.let("h", name))

    def prefetched_loop(self):
        """The tile of the next turn is carried. Where its padding lies is not known: what is neutral for finite numbers is left."""
        a, p, j, fn = self.new("a"), self.new("p"), self.new("j"), self.one("sum", "sum", "max", "min")
        combined = {"sum": "{0} + {1}", "max": "max({0}, {1})", "min": "min({0}, {1})"}[fn]
        read = self.read_turn("(0)")
        self.add(f"var {a}: fragment F[BM] = 0; var {p} = {read};")
        head, end = self.turns(j)
        self.add(f"{head} let e = {self.one('{0}', '{0} * s', '{0} + 1', 'abs({0})').format(p)};")
        row = f"{self.kept('e', fn, mask=self.inside(j))}.{fn}(axis = 1)"
        self.add(f"    {a} = {combined.format(a, row)}; {p} = {read.replace('(0)', f'{j} + 1')}; {end}")
        self.result(a, "F", ("M",), is_hoped=True)
