"""Random kernels over tiles that hang over an edge. Each is written once, with the extents of its tiles as parameters: as an instance whose
tiles reach beyond the tensors, and as one whose tiles end where the tensors do."""

PADS = ["", "", "", ", pad = 0", ", pad = 1", ", pad = -inf", ", pad = inf", ", pad = nan", ", pad = -2.5"]
WHOLE_PADS = ["", "", ", pad = 1", ", pad = -1", ", pad = 2147483647", ", pad = -2147483648"]
UNARY = ["-{0}", "abs({0})", "exp({0})", "exp2({0})", "sqrt({0})", "floor({0})", "1 / {0}", "tanh({0})", "({0} as f16 as f32)", "({0} as i8 as f32)",
         "rsqrt({0})", "log2({0})"]
BINARY = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} * {1}", "{0} / {1}", "min({0}, {1})", "max({0}, {1})", "minimum({0}, {1})", "maximum({0}, {1})",
          "pow({0}, {1})", "select({0} > {1}, {0}, {1})", "(if {0} < {1} {{ {0} }} else {{ 0 }})", "(if {0} == {1} {{ {1} }} else {{ 1 / {0} }})",
          "fma({0}, {1}, {0})", "select(is_nan({0}), {1}, {0})"]
WHOLE_BINARY = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "min({0}, {1})", "max({0}, {1})", "{0} / {1}", "{0} % {1}", "(if {0} == 0 {{ -1 }} else {{ 100 / {0} }})",
                "select({0} > {1}, {0}, {1})", "({0} << ({1} & 7))", "({0} & {1})"]
REDUCTIONS = ["sum", "sum", "sum", "prod", "max", "min", "absmax", "argmax", "argmin"]
SCANS = ["cumsum", "cumprod", "cummax", "cummin"]


class Program:
    """`text` is the kernel; `outs` its results as (name, type, axes of the shape)."""

    def __init__(self, number, rng):
        self.rng, self.name = rng, f"k{number}"
        self.lines, self.outs, self.tiles, self.wholes, self.rows = [], [], [], [], []
        self.count = 0
        self.body()
        outs = "".join(f", out {n}: {t}[{', '.join(axes)}]" for n, t, axes in self.outs)
        self.text = (f"kernel {self.name}[BM: int = 8, BN: int = 32, BK: int = 8](x: f32[M, N], y: f32[M, N], n: i32[M, N], w: f32[M], v: f32[N], s: f32{outs}) {{\n"
                     "    launch (i in 1) {\n" + "".join(f"        {line}\n" for line in self.lines) + "    }\n}\n")

    def new(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def add(self, line):
        self.lines.append(line)

    def read(self):
        r = self.rng.random()
        pad = self.rng.choice(PADS)
        if r < 0.6:
            return f"{self.rng.choice('xy')}.tile[BM, BN](0, 0{pad})"
        if r < 0.75:
            return f"v.tile[BN](0{pad})[_, :]"
        if r < 0.9:
            return f"w.tile[BM](0{pad})[:, _]"
        return f"({self.rng.choice('xy')}[0 +: BM, 0 +: BN{pad}])"

    def operand(self):
        r = self.rng.random()
        if r < 0.55 and self.tiles:
            return self.rng.choice(self.tiles)
        if r < 0.7:
            return self.read()
        if r < 0.8 and self.rows:
            return self.rng.choice(self.rows)
        if r < 0.9:
            return "s"
        return self.rng.choice(["2", "0.5", "-1", "0"])

    def tile(self):
        """The name of a tile; the operand that makes it one stands first."""
        name, first = self.new("t"), self.rng.choice(self.tiles) if self.tiles and self.rng.random() < 0.7 else f"{self.rng.choice('xy')}.tile[BM, BN](0, 0{self.rng.choice(PADS)})"
        r = self.rng.random()
        if r < 0.15:
            self.add(f"let {name} = {first};")
        elif r < 0.35:
            self.add(f"let {name} = {self.rng.choice(UNARY).format(first)};")
        else:
            self.add(f"let {name} = {self.rng.choice(BINARY).format(*self.named(first, self.operand()))};")
        self.tiles.append(name)
        return name

    def named(self, *operands):
        """Names for what is read in place, which stands twice in some expressions."""
        names = []
        for operand in operands:
            if "tile[" in operand or "+:" in operand:
                name = self.new("p")
                base, view = (operand[:operand.index(")[") + 1], operand[operand.index(")[") + 1:]) if ")[" in operand else (operand, "")
                self.add(f"let {name} = {base};")
                operand = name + view
            names.append(operand)
        return names

    def whole(self):
        name, first = self.new("n"), self.rng.choice(self.wholes) if self.wholes and self.rng.random() < 0.6 else f"n.tile[BM, BN](0, 0{self.rng.choice(WHOLE_PADS)})"
        second = self.rng.choice(self.wholes + ["3", "-2"]) if self.rng.random() < 0.7 else f"n.tile[BM, BN](0, 0{self.rng.choice(WHOLE_PADS)})"
        self.add(f"let {name} = {self.rng.choice(WHOLE_BINARY).format(*self.named(first, second))};")
        self.wholes.append(name)
        return name

    def parallel(self):
        name, t, u = self.new("q"), self.tile(), self.tile()
        self.add(f"var {name}: fragment f32[BM, BN] = {self.rng.choice(['0', '-inf', '1', t])};")
        value = self.rng.choice(BINARY).format(f"{t}[r, c]", self.rng.choice([f"{u}[r, c]", "s", "2"]))
        guard = self.rng.choice(["", "", f"if {u}[r, c] > 0 ", "if c >= r ", "if c < N ", f"if !(0 < {t}[r, c]) "])
        statement = f"{name}[r, c] = {value};"
        self.add(f"for (r, c) in parallel(BM, BN) {{ {guard + '{ ' + statement + ' }' if guard else statement} }}")
        self.tiles.append(name)

    def shared(self):
        name = self.new("h")
        self.add(f"var {name}: shared f32[BM, BN] = {self.rng.choice([self.tile(), self.read_whole()])};")
        self.add(f"let {name}_ = {name};")
        self.tiles.append(name + "_")

    def read_whole(self):
        return f"{self.rng.choice('xy')}.tile[BM, BN](0, 0{self.rng.choice(PADS)})"

    def scan(self):
        name, t = self.new("c"), self.tile()
        self.add(f"let {name} = {t}.{self.rng.choice(SCANS)}(axis = {self.rng.randrange(2)});")
        self.tiles.append(name)

    def row(self):
        name, t = self.new("m"), self.tile()
        self.add(f"let {name} = {t}.{self.rng.choice(['max', 'min', 'sum', 'absmax'])}(axis = 1);")
        self.rows.append(f"{name}[:, _]")

    def loop(self):
        """Over tiles, what it carries being rows, or a tile that is reduced behind it."""
        name, j = self.new("a"), self.new("j")
        read = f"{self.rng.choice('xy')}.tile[BM, BK](0, {j}{self.rng.choice(PADS)})"
        other = f"{self.rng.choice('xy')}.tile[BM, BK](0, {j}{self.rng.choice(PADS)})"
        value = self.rng.choice(["p", "p * s", "p * q", "exp(p)", "p + s", "p * w.tile[BM](0)[:, _]", "p / q", "p - q", "abs(p)"])
        way = self.rng.choice(["{a} += {v}", "{a} += {v}", "{a} = max({a}, {v})", "{a} = min({a}, {v})"])
        start = {"max": "-inf", "min": "inf"}.get(way[6:9], "0")
        is_tile = self.rng.random() < 0.5
        reduce = {"max": "max", "min": "min"}.get(way[6:9], "sum")
        shape = "BM, BK" if is_tile else "BM"
        inner = value if is_tile else f"({value}).{reduce}(axis = 1)"
        self.add(f"var {name}: fragment f32[{shape}] = {start};")
        self.add(f"for {j} in 0..ceildiv(N, BK) {{ let p = {read}; let q = {other}; {way.format(a=name, v=inner)}; }}")
        out = self.new("o")
        if is_tile:
            self.add(f"{out}.tile(0) = {name}.{reduce}(axis = 1);")
        else:
            self.add(f"{out}.tile(0) = {name};")
        self.outs.append((out, "f32", ("M",)))

    def result(self):
        r, out = self.rng.random(), self.new("o")
        if r < 0.6:
            fn, axis = self.rng.choice(REDUCTIONS), self.rng.choice([1, 1, 0])
            t = self.rng.choice(self.wholes) if self.wholes and self.rng.random() < 0.3 else self.tile()
            kind = "i32" if fn.startswith("arg") or t[0] == "n" else "f32"
            turned = self.rng.random() < 0.15
            self.add(f"{out}.tile(0) = {t}{'.T' if turned else ''}.{fn}(axis = {1 - axis if turned else axis});")
            self.outs.append((out, kind, ("M",) if axis == 1 else ("N",)))
        elif r < 0.7:
            first, second = self.rng.sample([0, 1], 2)
            self.add(f"{out}[0] = {self.tile()}.{self.rng.choice(['sum', 'max', 'min', 'absmax'])}(axis = {first}).{self.rng.choice(['sum', 'max', 'min'])}(axis = 0);")
            self.outs.append((out, "f32", ("1",)))
        elif r < 0.85:
            a, b, turned = self.tile(), self.tile(), self.rng.random() < 0.5
            self.add(f"{out}.tile(0, 0) = {a}.T @ {b};" if turned else f"{out}.tile(0, 0) = {a} @ {b}.T;")
            self.outs.append((out, "f32", ("N", "N") if turned else ("M", "M")))
        elif r < 0.93:
            self.add(f"{out}.tile(0) = if ({self.tile()} > {self.rng.choice(['0', 's', '-1'])}).{self.rng.choice(['any', 'all'])}(axis = 1) {{ 1 }} else {{ 0 }};")
            self.outs.append((out, "i32", ("M",)))
        else:
            self.add(f"{out}.tile(0, 0) = {self.tile()};")
            self.outs.append((out, "f32", ("M", "N")))

    def body(self):
        steps = [self.tile, self.tile, self.parallel, self.shared, self.scan, self.row, self.row, self.whole]
        for _ in range(self.rng.randrange(4)):
            self.rng.choice(steps)()
        if self.rng.random() < 0.25:
            self.loop()
        for _ in range(1 + self.rng.randrange(3)):
            self.result()
