"""One random kernel: its line of text, the arguments of its function, and the status that a call must return."""
import ctypes
import math
import re

from model import INTEGERS, LEAST, MOST, WIDTHS, Expression, Maker, Refused, range_of, saturated, single

OK, SHAPE, ALIAS, OUT_OF_MEMORY, GRID, BOUNDS = 0, 2, 4, 8, 9, 11
MOST_EXTENT = (1 << 31) - 1
MOST_BITS = 1 << 60          # that a tensor reaches
ROOM = 64                    # of the small buffer that kernels write
MOST_BLOCKS = 1000           # of a call that is made
NEVER = 1234567              # that no argument is
FAR = 1 << 62                # where tensors are said to lie that nobody touches
CTYPES = {"int": ctypes.c_int64, "f32": ctypes.c_float, "f64": ctypes.c_double}
CTYPES.update({t: getattr(ctypes, ("c_u" if t[0] == "u" else "c_") + f"int{w}") for t, w in WIDTHS.items()})


class Ask(Exception):
    """A call that is not made."""


# Contracts that bound a name x from above, and what must be known of y. With x >= 0 they say x < 64.
BOUNDS_ABOVE = ["x + {k} < 64", "{k} * x < 64", "x * x < 4096", "abs(x) < 64", "x << {s} < 64", "-x > -64", "{k} - x > {k} - 64", "x - y < 64 && y <= 0",
                "x + y < 64 && y >= 0", "x * y < 64 && y >= 1", "(x + {k}) * {k} < 64", "x + {k} <= 63", "63 >= x + {k}", "!(x + {k} >= 64)",
                "x + y < 64 && y == {k}", "ceildiv(x, {k}) * {k} < 64", "round_up(x, {k}) <= 63", "x / {k} < 64 / {k}", "max(x, y) < 64", "y - x > y - 64",
                "x < 64 || x + {k} < 64", "(x as i32) < 64 && x == ((x as i32) as int)", "x - {k} < 64 - {k}", "x + y + {k} < 64 && y >= 0 && y < 100",
                "x % {k} + x / {k} * {k} < 64", "min(x + {k}, 64) < 64", "(if x > {k} {{ x + {k} }} else {{ x }}) < 64", "x * 4294967296 < 4294967296 * 64",
                "select(y > 0, x + {k}, x) < 64", "x + x < 64", "x + x + x < 64", "x * {k} + y * {k} < 64 && y >= 0", "y * (x + 1) < 64 && y > 0"]


class Kernel:
    def __init__(self, rng, number):
        self.rng, self.name = rng, f"k{number}"
        self.params = {"n": "int", "m": "int"}
        for name in "abc":
            self.params[name] = rng.choice(INTEGERS)
        self.params["f"] = rng.choice(["f32", "f64"])
        self.names = {**self.params, "N": "int", "M": "int", "S": "int"}
        self.make = Maker(rng, self.names)
        self.contracts, self.tensors, self.workspace = [], [], []
        self.grid = Expression("2", lambda env: 2)
        self.write()
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            self.contracts.insert(rng.randrange(len(self.contracts) + 1), self.make.truth(rng.choice([1, 2, 3])))
        if rng.random() < 0.3:
            self.tensors.append(("u8[{}]?", [self.number()], None, 8))
        if rng.random() < 0.2:
            self.tensors.append(("f32[N, M; {}, {}]?", ["N", "M"], [self.number(), self.number()], 32))
        if rng.random() < 0.2:
            self.tensors.append(("f64[{}, {}, N]?", [self.number(), self.number(), "N"], None, 64))
        if rng.random() < 0.25:
            self.grid = self.number()
            if rng.random() < 0.6:
                of = self.grid
                self.grid = Expression(f"min({of.text}, 3)", lambda env: min(of.value(env), 3))
        self.second = None
        if rng.random() < 0.1:
            other = self.number()
            self.second = Expression(f"min({other.text}, 3)", lambda env: min(other.value(env), 3))
        if rng.random() < 0.2:
            self.workspace = [self.number() for _ in range(rng.choice([1, 1, 2, 3]))]
        self.uses_workspace = rng.random() < 0.7

    def number(self):
        x = self.make.integer("int", self.rng.choice([1, 2, 3]))
        return self.make.leaf_of_name("int") if x.is_literal else x

    def write(self):
        """What the launch writes: through an index that contracts bound, or tests."""
        if self.rng.random() < 0.6:
            return self.write_bounded()
        self.index = self.number() if self.rng.random() < 0.7 else self.make.leaf_of_name("int")
        x, low, high = self.index, self.rng.choice([0, -5]), self.rng.choice([64, 64, 70])
        if self.rng.random() < 0.5:
            self.contracts.append(Expression(f"({x.text} >= 0)", lambda env: x.value(env) >= 0))
            self.contracts.append(Expression(f"({x.text} < 64)", lambda env: x.value(env) < 64))
            self.test = ""
        else:
            self.test = f"{x.text} >= {low} && {x.text} < {high}"
            self.holds = lambda env: low <= x.value(env) < high

    def write_bounded(self):
        x = self.rng.choice([n for n, t in self.names.items() if t in INTEGERS and t != "u64"])
        y = self.rng.choice([n for n, t in self.names.items() if t in INTEGERS and t != "u64"])
        form = self.rng.choice(BOUNDS_ABOVE)
        k, s = self.rng.choice([1, 2, 3, 8, 63]), self.rng.choice([1, 3])
        text, value = contract_of(form.format(k=k, s=s), f"({x} as int)", f"({y} as int)", x, y)
        self.index = Expression(f"({x} as int)", lambda env: env[x])
        self.contracts.append(Expression(text, value))
        low = Expression(f"{x} as int >= 0", lambda env: env[x] >= 0)
        self.contracts.insert(self.rng.randrange(2), low)
        self.test = ""

    def text(self):
        parameters = ["A: u8[N, M; S, 1]?"] + [f"{n}: {t}" for n, t in self.params.items()]
        for i, (form, extents, strides, _) in enumerate(self.tensors):
            numbers = [e.text for e in extents + (strides or []) if not isinstance(e, str)]
            parameters.append(f"T{i}: {form.format(*numbers)}")
        parameters.append(f"inout B: u8[{ROOM}]")
        requires = " requires " + ", ".join(c.text for c in self.contracts) if self.contracts else ""
        write = f"B[{self.index.text}] = 1;"
        if self.test:
            write = f"if {self.test} {{ {write} }}"
        axes, first = (f"i in {self.grid.text}", "i == 0") if not self.second else (f"j in {self.second.text}, i in {self.grid.text}", "i == 0 && j == 0")
        place = ", ".join("0" for _ in self.workspace)
        use = f" if {first} && n == {NEVER} && N > 5 {{ W[{place}] = 1; }}" if self.workspace and self.uses_workspace else ""
        body = f"launch ({axes}) {{ if {first} {{ {write} }}{use} }}"
        if self.workspace:
            body = f"var W: workspace f32[{', '.join(e.text for e in self.workspace)}]; " + body
        return f"export kernel {self.name}({', '.join(parameters)}){requires} {{ {body} }}"

    # ---- Calls

    def environment(self):
        rng = self.rng
        env = {name: value_of(rng, t) for name, t in self.params.items()}
        env["N"], env["M"] = extent_of(rng), extent_of(rng)
        env["S"] = value_of(rng, "int")
        if rng.random() < 0.5:                     # most contracts speak of small numbers
            for name in rng.sample(list(env), rng.randrange(1, len(env))):
                env[name] = rng.randrange(0, 66) if name != "f" else float(rng.randrange(0, 66))
        for name in [n for n, t in self.params.items() if env[n] == NEVER]:
            env[name] = 0
        return env

    def expected(self, env):
        """The status, and the index that is written where it is OK."""
        if not all(0 <= env[d] <= MOST_EXTENT for d in "NM"):
            return SHAPE, None
        try:
            for contract in self.contracts:
                if not contract.value(env):
                    return SHAPE, None
            shapes = [([env[e] if isinstance(e, str) else e.value(env) for e in extents], [s.value(env) for s in strides] if strides else None, bits)
                      for _, extents, strides, bits in self.tensors]
            grid = self.grid.value(env)
            second = self.second.value(env) if self.second else 1
            workspace = [e.value(env) for e in self.workspace]
        except Refused:
            return SHAPE, None
        if any(not lies_in_memory(*shape, env["far"]) for shape in shapes):
            return SHAPE, None
        if grid < 0 or second < 0:
            return SHAPE, None
        grid *= second
        if grid > MOST_EXTENT:
            return GRID, None
        elements = math.prod(workspace) if workspace else 0
        if any(e < 0 for e in workspace) or elements * 4 + 255 > MOST:
            return SHAPE, None
        if grid > MOST_BLOCKS or elements > 1 << 20:
            raise Ask
        return self.written(env) if grid else (OK, None)

    def written(self, env):
        try:
            if self.test and not self.holds(env):
                return OK, None
            index = self.index.value(env)
        except Refused:
            return BOUNDS, None
        return (OK, index) if 0 <= index < ROOM else (BOUNDS, None)

    def arguments(self, env, room):
        given = [ctypes.c_void_p(None)] + [CTYPES[t](env[n]) for n, t in self.params.items()]
        given += [ctypes.c_void_p(FAR if env["far"] else None) for _ in self.tensors] + [ctypes.c_void_p(room)]
        given += [ctypes.c_int64(env[d]) for d in "NMS"]
        if self.workspace:
            given += [ctypes.c_void_p(None), ctypes.c_size_t(0)]
        return given + [ctypes.c_void_p(None)]


def lies_in_memory(extents, strides, bits, is_given):
    if any(not 0 <= e <= MOST_EXTENT for e in extents):
        return False
    if 0 in extents or not is_given:
        return True
    low = high = 0
    if strides is None:
        elements = 1
        for e in extents:
            elements *= e
        high = elements - 1
    else:
        for e, s in zip(extents, strides):
            low, high = low + min(0, (e - 1) * s), high + max(0, (e - 1) * s)
    return low * bits >= -MOST_BITS and (high + 1) * bits <= MOST_BITS


def value_of(rng, t):
    if t in ("f32", "f64"):
        x = rng.choice([0.0, -0.0, 1.0, -1.0, 63.5, 3e9, -3e9, 1e19, float("inf"), float("-inf"), float("nan"), rng.uniform(-100, 100)])
        return single(x) if t == "f32" else x
    low, high = range_of(t)
    kind = rng.random()
    if kind < 0.35:
        return rng.choice([low, low + 1, high, high - 1, high // 2, high // 2 + 1, low // 2])
    if kind < 0.5:
        return saturated(t, rng.choice([1, -1]) * ((1 << rng.randrange(64)) + rng.randrange(-2, 3)))
    if kind < 0.9:
        return saturated(t, rng.randrange(-3, 70))
    return rng.randint(low, high)


def extent_of(rng):
    return rng.choice([0, 1, 2, 3, 7, 63, 64, 65, 1000, MOST_EXTENT, MOST_EXTENT - 1, rng.randrange(MOST_EXTENT), rng.randrange(200), rng.randrange(70),
                       MOST_EXTENT + 1 if rng.random() < 0.2 else 1, -1 if rng.random() < 0.2 else 2, LEAST if rng.random() < 0.2 else 3])


def contract_of(form, x_text, y_text, x, y):
    """A contract as text, and its value by the model: the text read as one of expressions of Exact."""
    text = re.sub(r"\b[xy]\b", lambda m: x_text if m.group() == "x" else y_text, form)
    return text, lambda env: read(form, {"x": env[x], "y": env[y]})


def read(form, names):
    """A form of BOUNDS_ABOVE, with Python's own parser over numbers that refuse."""
    code = READ.get(form)
    if code is None:
        source = re.sub(r"\(if (.*) \{ (.*) \} else \{ (.*) \}\)", r"((\2) if (\1) else (\3))", form)
        source = re.sub(r"\((x as i32) as int\)|\(x as i32\)", "narrow(x)", source.replace("((x as i32) as int)", "(x as i32)"))
        source = re.sub(r"!(?!=)", " not ", source).replace("&&", " and ").replace("||", " or ").replace("/", "//")
        source = re.sub(r"\b(\d+)\b", r"Exact(\1)", source)
        code = READ[form] = compile(source.strip(), form, "eval")
    return bool(eval(code, {"Exact": Exact, "abs": abs, "min": min, "max": max, "narrow": lambda a: Exact(saturated("i32", int(a))),
                            "ceildiv": lambda a, b: Exact(-(-int(a) // int(b))), "round_up": lambda a, b: Exact(-(-int(a) // int(b)) * int(b)),
                            "select": lambda c, a, b: a if c else b, **{n: Exact(v) for n, v in names.items()}}))


READ = {}


class Exact(int):
    """An `int` that is refused where it leaves 64 bits."""

    def __new__(cls, x):
        if not LEAST <= x <= MOST:
            raise Refused
        return super().__new__(cls, x)

    def __add__(self, other): return Exact(int(self) + int(other))
    def __sub__(self, other): return Exact(int(self) - int(other))
    def __mul__(self, other): return Exact(int(self) * int(other))
    def __lshift__(self, other): return Exact(int(self) << int(other))
    def __neg__(self): return Exact(-int(self))
    def __abs__(self): return Exact(abs(int(self)))

    def __floordiv__(self, other):
        if other == 0:
            raise Refused
        return Exact(int(self) // int(other))

    def __mod__(self, other):
        if other == 0:
            raise Refused
        return Exact(int(self) % int(other))
