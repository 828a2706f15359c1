"""Steps of random kernels that take rows and columns out of tiles, and what iterations do to memory beyond an edge: nothing."""
from program_loops import either

# Of what is held and of a row or a column.
TAKEN = ["max({0}, {1})", "min({0}, {1})", "{0} + {1}", "{0} * {1}", "{0} * 0.5 + {1}", "max({0} * 0.5, {1})", "fma({1}, {1}, {0})", "select({1} > {0}, {1}, {0})", "abs({0}) - {1}"]


class Effects:
    def walked(self):
        """A variable takes up the columns, or the rows, of a tile one after the other."""
        is_row = self.rng.random() < 0.6
        of = self.tile()
        # A row or a column of a scan is what that has come to, beyond the edge as well.
        tile, name = self.let("t", f"{self.read_tile() if of in self.scanned else of} * 1"), self.new("w")
        first = self.one("0", "1", "-inf", "inf", f"{'w' if is_row else 'v'}.tile[{'BM' if is_row else 'BN'}](0)")
        self.add(f"var {name}: fragment F[{'BM' if is_row else 'BN'}] = {first};")
        line = self.let_in_turn(f"{tile}[:, k]" if is_row else f"{tile}[k, :]", name)
        test = f"if inside_{'n' if is_row else 'm'}[k] > 0 "
        self.add(f"for k in 0..{'BN' if is_row else 'BM'} {{ {either('', test + '{ ')}{line}{either('', ' }')} }}")
        (self.rows if is_row else self.columns).append(self.let("m", f"{name} + 0"))

    def let_in_turn(self, part, name):
        value = self.rng.choice(TAKEN)
        if self.rng.random() < 0.3:
            return f"let g = {self.one('abs({0})', '{0} + 1', '-{0}').format(part)}; {name} = {value.format(name, 'g')};"
        return f"{name} = {value.format(name, part)};"

    def set_in_shared(self):
        """Under a condition that is padding where the tile ends."""
        t, u, name = self.tile(), self.tile(), self.new("h")
        self.add(f"var {name}: shared F[BM, BN] = {self.one('0', '1', '5', '-inf')};")
        place = f"{name}[r, c]"
        inner = self.one(f"{place} = 2;", f"{place} = {t}[r, c] + 1;", f"{place} += 2;", f"{place} = s;", f"{place} = -3; {place} *= 2;")
        guard = self.one(f"if {u}[r, c] > 0 {{ {inner} }}", f"if {u}[r, c] < 1 {{ {inner} }}", f"if {u}[r, c] > 1 {{ {inner} }} else {{ {place} = 3; }}",
                         f"if !({u}[r, c] > 0) {{ if {t}[r, c] < 2 {{ {inner} }} }}", f"for j in 0..clamp({u}[r, c] as int, -1, 2) {{ {inner} }}")
        self.add(f"for (r, c) in parallel(BM, BN) {{ {guard} }}")
        self.tiles.append(self.let("h", f"{name} * 1"))

    def counted(self):
        """Atomics whose place, operand or condition padding has to do with."""
        t, u, name = self.tile(), self.tile(), self.new("a")
        self.add(f"var {name}: shared i32[4] = 0;")
        place = f"{name}[clamp({u}[r, c] as int, 0, 3)]"
        count = self.one(f"atomic_add({place}, 1);", f"atomic_add({name}[1], clamp({t}[r, c] as i32, -9, 9) + 1);", f"if {t}[r, c] < 1 {{ atomic_add({name}[2], 1); }}",
                         f"atomic_max({place}, 3);", f"if {t}[r, c] < 9 && {u}[r, c] > -9 {{ atomic_or({place}, 5); }}", f"if {t}[r, c] == 0 {{ {name}[1] = 7; }}")
        self.add(f"for (r, c) in parallel(BM, BN) {{ {either('', 'if inside[r, c] > 0 { ')}{count}{either('', ' }')} }}")
        fn = self.one("sum", "max", "argmax")
        self.result(f"{name}.{fn}(axis = 0)", "i32", ("1",))
