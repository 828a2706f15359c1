"""Steps of random kernels that go through shared tiles element by element: what numbers of iterations, and of blocks, hold."""
import re

from program_loops import either

# Of what is held and of an element.
TAKEN = ["max({0}, {1})", "min({0}, {1})", "{0} + {1}", "{0} * {1}", "{0} * 0.5 + {1}", "max({0} * 0.5, {1})", "fma({1}, {1}, {0})", "abs({0}) - {1}", "min({1} + 1, {0})"]
# The same as statements: of a name, an element, and a test that keeps out what lies beyond the edge.
STEPS = ["if {1} > {0} {{ {0} = {1}; }}", "if {1} < {0} {{ {0} = {1}; }} else {{ {0} = {0} + 1; }}", "if {1} > -1 {{ {0} += 1; }}", "let e = {1} * 2; if e > 0 {{ {0} = {0} + e; }}",
         "if {1} == 0 {{ {0} = 7; }}", "if {1} < 1 && {0} < 9 {{ {0} += {1}; }}"]


class Numbers:
    def taken(self, name, element):
        return self.one(f"{name} = {self.one(*TAKEN).format(name, element)};", self.one(*STEPS).format(name, element), f"{name} {self.one('+=', '-=', '*=')} {element};")

    def of_scans(self):
        """Names of what is computed of a scan, whose elements beyond the edge count where an index takes them."""
        names = set()
        for line in self.lines:
            words = set(re.findall(r"\w+", line))
            if "cum" in line or words & names:
                names |= {w for w in re.findall(r"(?:let|var) (\w+)|(\w+)(?:\[[^]]*\])? [-+*]?= ", line) for w in w if w}
        return names

    def copied(self):
        """A shared tile, whole or element by element."""
        name, t = self.new("q"), self.tile()
        if t in self.of_scans():
            t = self.let("t", self.read_tile())
        if self.rng.random() < 0.3:
            self.add(f"var {name}: shared F[BM, BN] = 0;")
            self.add(f"for (r, c) in parallel(BM, BN) {{ {name}[r, c] = {t}[r, c]{self.one('', ' + 1', ' * 2')}; }}")
        else:
            self.add(f"var {name}: shared F[BM, BN] = {t};")
        return name

    def each_of_row(self):
        """Each row by hand, in an iteration: elements at places that a loop tells."""
        q, out, first = self.copied(), self.new("z"), self.one("0", "1", "-inf", "inf", "5", "s")
        self.add(f"var {out}: fragment F[BM] = 0;")
        at = self.one("k", "k", "BN - 1 - k")
        line = f"if inside[r, {at}] > 0 "
        take = self.taken("h", f"{q}[r, {at}]")
        self.add(f"for r in parallel(BM) {{ var h: F = {first}; for k in 0..BN {{ {either('', line + '{ ')}{take}{either('', ' }')} }} {out}[r] = h; }}")
        self.rows.append(self.let("z", f"{out} + 0"))

    def neighbours(self):
        """An element and those beside it, for each place."""
        q, out = self.copied(), self.new("z")
        self.add(f"var {out}: fragment F[BM, BN] = 0;")
        take = self.one("max({0}, {1})", "{0} + {1}", "{0} * 0.5 + {1}", "min({0}, {1} + 1)").format("h", f"{q}[r, c + k]")
        test = "if inside[r, c + k] > 0 "
        self.add(f"for (r, c) in parallel(BM, BN) {{ var h: F = {q}[r, c]; for k in 1..3 {{ if c + k < BN {{ {either('', test + '{ ')}h = {take};{either('', ' }')} }} }} {out}[r, c] = h; }}")
        self.tiles.append(self.let("z", f"{out} * 1"))

    def by_block(self):
        """A row, or a column, by the block itself."""
        q, name, first = self.copied(), self.new("b"), self.one("0", "1", "-inf", "inf", "5", "s")
        is_row = self.rng.random() < 0.7
        place = "0, k" if is_row else "k, 0"
        self.add(f"var {name}: F = {first};")
        take = self.taken(name, f"{q}[{place}]")
        test = f"if inside[{place}] > 0 "
        self.add(f"for k in 0..{'BN' if is_row else 'BM'} {{ {either('', test + '{ ')}{take}{either('', ' }')} }}")
        self.result(name, "F", ("1",))
