"""Random kernels over tiles that hang over an edge. Each text has two readings, `Text.over` and `Text.masked`: in the second one tensors are as
large as the tiles, and what would be padding is kept out of every reduction, scan and product by hand."""
import re

from program_effects import Effects
from program_loops import EITHER, PADS, Loops, either
from program_numbers import Numbers

BIG = {"f32": "3.0e38", "f64": "1.0e308", "f16": "65504", "bf16": "3.0e38"}
LEAST = {"i32": (-2147483648, 2147483647), "i16": (-32768, 32767), "i8": (-128, 127), "u8": (0, 255)}
# Which zero `min` and `max` give of both is free: what would bring its sign to light adds 0 first.
UNARY = ["-{0}", "abs({0})", "exp({0})", "exp2({0})", "sqrt({0})", "floor({0})", "1 / ({0} + 0)", "tanh({0})", "({0} as f16 as F)", "({0} as i8 as F)",
         "rsqrt({0} + 0)", "log2({0})", "({0} as i32 as F)", "({0} as I as F)", "({0} as bool as F)", "({0} as u8 as F)"]
BINARY = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} * {1}", "{0} / ({1} + 0)", "min({0}, {1})", "max({0}, {1})", "minimum({0}, {1})", "maximum({0}, {1})",
          "pow({0} + 0, {1})", "select({0} > {1}, {0}, {1})", "(if {0} < {1} {{ {0} }} else {{ 0 }})", "(if {0} == {1} {{ {1} }} else {{ 1 / ({0} + 0) }})",
          "fma({0}, {1}, {0})", "select(is_nan({0}), {1}, {0})"]
# Divisors are kept from being 0 where padding would stand.
WHOLE_BINARY = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "min({0}, {1})", "max({0}, {1})", "{0} / {d}", "{0} % {d}", "(if {0} == 0 {{ -ONE }} else {{ 100 / {0} }})",
                "select({0} > {1}, {0}, {1})", "({0} << ({1} & 7))", "({0} & {1})", "(if {0} != 0 && {1} > 2 {{ {1} }} else {{ {0} }})"]
REDUCTIONS = ["sum", "sum", "sum", "prod", "max", "min", "absmax", "argmax", "argmin"]
SCANS = {"cumsum": "sum", "cumprod": "prod", "cummax": "max", "cummin": "min"}
class Frame:
    """What kernels share that stand in one function: types, extents of tiles, and whether their second reading is that of `masked` or of tiles
    that end exactly where the tensors do."""

    exact_text = ""  # further parameters of `exact`

    def __init__(self, rng):
        self.is_exact = rng.random() < 0.2
        self.resize(*rng.choice([(4, 8, 4)] * 12 + [(4, 16, 4)] * 2 + [(8, 32, 8)]))
        self.m = rng.choice([1, self.bm - 1, self.bm - 1, rng.randint(1, self.bm)])
        self.n = rng.choice([1, self.bn - 1, self.bk - 1, rng.randint(1, self.bn), rng.randint(1, self.bn)])
        self.float = "f32" if self.is_exact else rng.choice(["f32", "f32", "f32", "f64", "f16", "bf16"])
        self.whole = "i32" if self.is_exact else rng.choice(["i32", "i32", "i16", "i8", "u8"])

    def resize(self, bm, bn, bk):
        self.bm, self.bn, self.bk = bm, bn, bk
        self.text = f"[BM: int = {bm}, BN: int = {bn}, BK: int = {bk}]"

    def identity(self, fn, kind):
        if fn in ("any", "all"):
            return {"any": "false", "all": "true"}[fn]
        if kind in LEAST:
            least, greatest = LEAST[kind]
            return str({"sum": 0, "prod": 1, "absmax": 0, "max": least, "argmax": least, "min": greatest, "argmin": greatest}[fn])
        return {"sum": "0", "prod": "1", "absmax": "0", "max": "-inf", "min": "inf", "argmax": "nan", "argmin": "nan"}[fn]

    def typed(self, text):
        return re.sub(r"\bF\b", self.float, re.sub(r"\bI\b", self.whole, text)).replace("BIG", BIG[self.float]).replace("-ONE", "1" if self.whole == "u8" else "-1")


class Program(Loops, Effects, Numbers):
    """`lines` are those of a launch, `outs` its results as (name, type, axes of the shape, whether it is hoped that numbers are
    finite, the axis that it is an index along, or BK where it is of a part)."""

    def __init__(self, number, rng, frame):
        self.rng, self.name, self.frame = rng, f"k{number}", frame
        self.lines, self.outs, self.tiles, self.wholes, self.rows, self.columns = [], [], [], [], [], []
        self.count, self.has_places = 0, False  # does it hang on where numbers stand?
        self.scanned = set()  # names of what is made of scans, whose padding is what they have come to
        self.has_unknown = False  # edges, so that what is neutral for finite numbers is left
        self.has_set = False  # numbers that the program set itself, which are taken for finite
        self.body()
        text = "".join(f"        {line}\n" for line in self.lines)
        self.over = frame.typed("    launch (i in 1) {\n" + EITHER.sub(r"\1", text) + "    }\n")
        self.masked = frame.typed("    launch (i in 1) {\n        let in_mn = inside.tile[BM, BN](0, 0) > 0;\n        let in_m = inside_m.tile[BM](0) > 0;\n"
                                  "        let in_n = inside_n.tile[BN](0) > 0;\n" + EITHER.sub(r"\2", text) + "    }\n")

    def new(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def add(self, line):
        self.lines.append(line)
        if self.scanned & set(re.findall(r"\w+", line)):
            self.scanned |= {name for name, _ in re.findall(r"(\w+)(: [^=]*|\[[^=]*)? (?:[-+*]|max|min)?= ", line)}

    def let(self, letter, value):
        name = self.new(letter)
        self.add(f"let {name} = {value};")
        return name

    def one(self, *choices):
        return self.rng.choice(choices)

    def kept(self, tile, fn, kind="F", mask="in_mn"):
        """What enters a reduction, a scan or a product."""
        kind = {"F": self.frame.float, "I": self.frame.whole}.get(kind, kind)
        return either(tile, f"select({mask}, {tile}, {self.frame.identity(fn, kind)})")

    def result(self, value, kind, axes, is_hoped=False, index=None):
        out = f"{self.name}{self.new('o')}"
        self.add(f"{out}.tile({', '.join('0' for _ in axes)}) = {value};" if axes != ("1",) else f"{out}[0] = {value};")
        self.outs.append((out, self.frame.typed(kind), axes, is_hoped or self.has_unknown, "BK" if "BK" in value else index))

    # ---- operands

    def read_tile(self, kind="F"):
        if kind == "I":
            pads = ["", "", ", pad = 1", ", pad = 3"] + [f", pad = {p}" for p in LEAST[self.frame.whole]]
            return f"n.tile[BM, BN](0, 0{self.rng.choice(pads)})"
        read = "({0}[0 +: BM, 0 +: BN{1}])" if self.rng.random() < 0.2 else "{0}.tile[BM, BN](0, 0{1})"
        return read.format(self.rng.choice("xy"), self.rng.choice(PADS))

    def operand(self):
        """Something that goes with a tile."""
        r = self.rng.random()
        if r < 0.5 and self.tiles:
            return self.rng.choice(self.tiles)
        if r < 0.6:
            return self.let("p", self.read_tile())
        if r < 0.75:
            self.vector()
            return f"{self.rows[-1]}[:, _]" if self.rows and self.rng.random() < 0.5 or not self.columns else f"{self.columns[-1]}[_, :]"
        if r < 0.85 and self.rows + self.columns:
            return f"{self.rng.choice(self.rows)}[:, _]" if self.rows and (not self.columns or self.rng.random() < 0.5) else f"{self.rng.choice(self.columns)}[_, :]"
        return self.one("s", "2", "0.5", "-1", "0")

    def any_tile(self):
        return self.rng.choice(self.tiles) if self.tiles and self.rng.random() < 0.7 else self.let("p", self.read_tile())

    def condition(self):
        def compared():
            return f"{self.any_tile()} {self.one('<', '>', '>=', '==', '!=')} {self.operand()}"
        r = self.rng.random()
        if r < 0.4:
            return compared()
        if r < 0.5:
            return f"!({compared()})"
        return f"({compared()} {self.one('&&', '||')} {compared()})"

    def unary(self):
        # Sums of what infinity becomes are not exact.
        return [u for u in UNARY if not self.frame.is_exact or ("as i32" not in u and "as I" not in u)]

    def computed(self):
        r, first = self.rng.random(), self.any_tile()
        if r < 0.3:
            return self.rng.choice(self.unary()).format(first)
        if r < 0.85:
            return self.rng.choice(BINARY).format(first, self.operand())
        return f"if {self.condition()} {{ {self.rng.choice(BINARY).format(first, self.operand())} }} else {{ {self.rng.choice(self.unary()).format(self.any_tile())} }}"

    # ---- steps

    def tile(self):
        self.tiles.append(self.let("t", self.read_tile() if self.rng.random() < 0.15 else self.computed()))
        return self.tiles[-1]

    def whole(self):
        if self.rng.random() < 0.1:
            value = f"({self.any_tile()} as I)"
        else:
            first = self.rng.choice(self.wholes) if self.wholes and self.rng.random() < 0.6 else self.let("n", self.read_tile("I"))
            second = self.rng.choice(self.wholes + ["3", "2"]) if self.rng.random() < 0.7 else self.let("n", self.read_tile("I"))
            divisor = self.kept(second, "prod", "I") if second[0] == "n" else second
            value = self.rng.choice(WHOLE_BINARY).format(first, second, d=divisor)
        self.wholes.append(self.let("n", value))
        if self.rng.random() < 0.15:
            self.tiles.append(self.let("t", f"{self.wholes[-1]} as F"))
        return self.wholes[-1]

    def vector(self):
        """A row or a column: read, reduced, or computed of others."""
        is_row, r = self.rng.random() < 0.6, self.rng.random()
        known = self.rows if is_row else self.columns
        if r < 0.35 and known:
            first, second = self.rng.choice(known), self.rng.choice(known + ["s", "2"])
            value = self.rng.choice(BINARY + self.unary()).format(first, second)
        elif r < 0.55:
            value = f"w.tile[BM](0{self.rng.choice(PADS)})" if is_row else f"v.tile[BN](0{self.rng.choice(PADS)})"
        else:
            fn = self.one("max", "min", "sum", "absmax", "prod")
            value = f"{self.kept(self.any_tile(), fn)}.{fn}(axis = {int(is_row)})"
        known.append(self.let("m", value))
        return known[-1]

    def parallel(self):
        name, t, u = self.new("q"), self.tile(), self.tile()
        if self.rng.random() < 0.25:
            shared = self.new("h")
            self.add(f"var {shared}: shared F[BM, BN] = {self.one(t, self.read_tile())};")
            t = shared
        self.add(f"var {name}: fragment F[BM, BN] = {self.one('0', '-inf', '1', t)};")
        value = self.rng.choice(BINARY).format(f"{t}[r, c]", self.one(f"{u}[r, c]", "s", "2"))
        guard = self.one("", "", f"if {u}[r, c] > 0 ", "if c >= r ", "if c < N ", f"if !(0 < {t}[r, c]) ", f"if {u}[r, c] > 0 && r < M ", f"if c > 1 || {t}[r, c] == 1 ")
        statement = f"{name}[r, c] = {value};"
        self.has_places |= "c >" in guard
        self.has_set |= guard in ("if c >= r ", "if c < N ")
        self.add(f"for (r, c) in parallel(BM, BN) {{ {guard + '{ ' + statement + ' }' if guard else statement} }}")
        self.tiles.append(name)

    def shared(self):
        name = self.new("h")
        self.add(f"var {name}: shared F[BM, BN] = {self.one(self.tile(), self.read_tile())};")
        self.tiles.append(self.let("h", name))
        if self.rng.random() < 0.4 and not self.frame.is_exact:
            self.part(name)

    def part(self, tile):
        """A part of a tile, which is reduced; of two of its turns along the columns."""
        place, fn = self.rng.randrange(2), self.one("sum", "max", "min", "absmax", "argmin", "prod")
        part = self.let("g", f"{tile}[:, {place} * BK +: BK]")
        mask = f"(inside.tile[BM, BK](0, {place}) > 0)"
        value = part
        if self.rng.random() < 0.6:
            value = self.let("g", self.rng.choice(self.unary() + ["{0} * s", "{0} + s"]).format(part))
        self.result(f"{self.kept(value, fn, mask=mask)}.{fn}(axis = 1)", "i32" if fn.startswith("arg") else "F", ("M",))

    def scan(self):
        fn = self.rng.choice(sorted(SCANS))
        self.tiles.append(self.let("c", f"{self.kept(self.tile(), SCANS[fn])}.{fn}(axis = {self.rng.randrange(2)})"))
        self.scanned.add(self.tiles[-1])

    def summed(self):
        return "f64" if self.frame.float == "f64" else "f32"

    # ---- results

    def reduced(self):
        fn, axis = self.rng.choice(REDUCTIONS), self.one(1, 1, 0)
        if self.has_places and fn == "prod":
            fn = "min"  # whether greatest numbers or zeros are multiplied first could not be tried by moving them
        is_whole = self.wholes and self.rng.random() < 0.3
        tile = self.rng.choice(self.wholes) if is_whole else self.tile()
        value, kind = self.kept(tile, fn, "I" if is_whole else "F"), "i32" if fn.startswith("arg") else "I" if is_whole else "F"
        if self.rng.random() < 0.15:
            value, axis = value + ".T", 1 - axis
        axes = ("M",) if axis == (".T" not in value) else ("N",)
        self.result(f"{value}.{fn}(axis = {axis})", kind, axes, index={"M": "N", "N": "M"}[axes[0]] if kind == "i32" and fn.startswith("arg") else None)

    def reduced_twice(self):
        axis, inner, outer = self.rng.randrange(2), self.one("sum", "max", "min", "absmax", "prod"), self.one("sum", "max", "min", "prod", "argmax")
        # Of sums that are alike, which is the greatest hangs on their rounding.
        outer = "max" if outer == "argmax" and inner in ("sum", "prod") and not self.frame.is_exact else outer
        name = self.let("m", f"{self.kept(self.tile(), inner)}.{inner}(axis = {axis})")
        if self.rng.random() < 0.6:
            name = self.let("m", self.rng.choice(self.unary() + BINARY).format(name, self.one("s", "2", name)))
        self.result(f"{self.kept(name, outer, mask='in_m' if axis else 'in_n')}.{outer}(axis = 0)", "i32" if outer == "argmax" else "F", ("1",), index=("N", "M")[axis] if outer == "argmax" else None)

    def reshaped(self):
        fn, shape, axes = self.one("sum", "max", "min"), *self.one(("BM, 1, BN", (2, 1)), ("1, BM, BN", (2, 0)), ("BM, 2, BN / 2", (2, 1)), ("BM * BN", (0,)))
        if self.frame.is_exact and "2" in shape:
            return self.reduced()
        ways = "".join(f".{fn}(axis = {axis})" for axis in axes)
        # Where padding lies is lost for an axis that is not kept: it is then taken to be neutral if it is so with finite numbers.
        self.result(f"{self.kept(self.tile(), fn)}.reshape[{shape}]{ways}", "F", ("M",) if len(axes) == 2 else ("1",), "2" in shape or "*" in shape)

    def product(self):
        a, b, turned = self.tile(), self.tile(), self.rng.random() < 0.4
        a, b = self.kept(a, "sum"), self.kept(b, "sum")
        if self.rng.random() < 0.4:
            a, b = self.stored_shared(a), self.rng.choice([b, self.stored_shared(b)])
        self.result(f"{a}.T @ {b}" if turned else f"{a} @ {b}.T", self.summed(), ("N", "N") if turned else ("M", "M"), self.has_set)

    def stored_shared(self, value):
        """A shared tile, which is now and then read by others as well."""
        name = self.new("h")
        self.add(f"var {name}: shared F[BM, BN] = {value};")
        if self.rng.random() < 0.3:
            self.tiles.append(self.let("h", f"{name} * 1"))
        return name

    def made_of_product(self):
        """Results of products are taken as finite: judged on finite numbers alone."""
        a, b = (self.let("p", self.one("{0}", "{0} * 2", "{0} - 1", "max({0}, 0)").format(self.one("x", "y") + ".tile[BM, BN](0, 0)")) for _ in "ab")
        name = self.let("d", f"{self.kept(a, 'sum')} @ {self.kept(b, 'sum')}.T")
        name = self.let("d", self.one("{0} + 1", "{0} * 0.5", "max({0}, 1)", "exp(min({0}, 3))", "select({0} > 0, {0}, 2)", "-{0}").format(name))
        fn, axis = self.one("sum", "max", "min", "absmax", "prod", "argmin"), self.rng.randrange(2)
        kept = self.kept(name, fn, self.summed(), "(inside_m.tile[BM](0)[:, _] * inside_m.tile[BM](0)[_, :] > 0)")
        self.result(f"{kept}.{fn}(axis = {axis})", "i32" if fn == "argmin" else self.summed(), ("M",), True, "M" if fn == "argmin" else None)

    def vote(self):
        fn, axis, c = self.one("any", "all"), self.rng.randrange(2), self.let("b", self.condition())
        value = f"{self.kept(c, fn, 'bool')}.{fn}(axis = {axis})"
        r = self.rng.random()
        if r < 0.4:
            return self.result(f"if {value} {{ 1 }} else {{ 0 }}", "i32", ("M",) if axis else ("N",))
        if r < 0.6:
            kept = either(f"({c} as i32)", f"select(in_mn, {c} as i32, 0)")
            return self.result(f"{kept}.sum(axis = {axis})", "i32", ("M",) if axis else ("N",))
        other, mask = self.one(fn, fn, "any", "all"), "in_m" if axis else "in_n"
        b = self.let("b", value)
        self.result(f"if {self.kept(b, other, 'bool', mask)}.{other}(axis = 0) {{ 1 }} else {{ 0 }}", "i32", ("1",))

    def atomic(self):
        fn = self.one("max", "min", "sum")
        out, is_whole = f"{self.name}{self.new('o')}", self.rng.random() < 0.4 or self.frame.float not in ("f32", "f64")
        if is_whole:
            tile = f"({self.rng.choice(self.wholes or [self.whole()])} as i32)"
            row = self.let("m", either(tile, f"select(in_mn, {tile}, {self.frame.identity(fn, 'i32')})") + f".{fn}(axis = 1)")
        else:
            row = self.let("m", f"{self.kept(self.tile(), fn)}.{fn}(axis = 1)")
        way = {"sum": "add"}.get(fn, fn)
        self.add(f"for r in parallel(BM) {{ if r < M {{ atomic_{way}({out}[r], {row}[r], order = relaxed); }} }}")
        self.outs.append((out, "i32" if is_whole else self.frame.float, ("M",), False, None))

    def whole_product(self):
        a, b = (self.rng.choice(self.wholes or [self.whole()]) for _ in "ab")
        self.result(f"{self.kept(a, 'sum', 'I')} @ {self.kept(b, 'sum', 'I')}.T", "i32", ("M", "M"))

    def ends_elsewhere(self):
        """Of operands that end, or begin, at different places, what lies beyond either is padding."""
        rows, columns = self.one("0, 1", "0, 2", "0, -1", "1, 0", "-1, 0").split(", ")
        region = f"[{rows} +: BM, {columns} +: BN"
        other = self.let("p", f"{self.one('x', 'y')}{region}{self.rng.choice(PADS)}]")
        value = self.one("{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / ({1} + 0)", "max({0}, {1})", "exp({0} - {1})", "select({0} > {1}, {0}, {1})", "{1} - {0}")
        # Along the other axis the results themselves would be padding.
        fn, axis = self.one("sum", "max", "min", "absmax", "prod", "argmin"), int(rows == "0")
        # What the program set by the place alone stands where it ends.
        name = self.let("e", value.format(self.let("p", self.read_tile()), other))
        kept = self.kept(name, fn, mask=f"in_mn && (inside{region}] > 0)")
        self.result(f"{kept}.{fn}(axis = {axis})", "i32" if fn == "argmin" else "F", ("M",) if axis else ("N",), index="BK" if fn == "argmin" else None)
        self.has_places = True

    def stored_or_cut(self):
        if self.frame.is_exact or self.rng.random() < 0.5:
            return self.result(self.tile(), "F", ("M", "N"))
        self.part(self.tile())

    def body(self):
        steps = [self.tile, self.tile, self.parallel, self.shared, self.scan, self.vector, self.vector, self.whole, self.not_always, self.in_parts, self.walked, self.set_in_shared, self.each_of_row, self.neighbours]
        for _ in range(self.rng.randrange(4)):
            self.rng.choice(steps)()
        if self.rng.random() < 0.3:
            self.rng.choice([self.loop] * 5 + [self.product_loop, self.weights_loop, self.prefetched_loop])()
        narrow = [self.whole_product] if self.frame.whole != "i32" else []
        elsewhere = [] if self.frame.is_exact else [self.ends_elsewhere]
        ends = narrow + elsewhere + [self.reduced] * 9 + [self.reduced_twice] * 2 + [self.product] * 2 + [self.vote] * 2 + [self.reshaped, self.made_of_product, self.atomic, self.counted, self.by_block, self.stored_or_cut]
        for _ in range(1 + self.rng.randrange(2)):
            self.rng.choice(ends)()
