"""Random sequential code of elements of `parallel`, of threads, and of blocks of a further launch.

Each turn has its own element of some memories, which it alone touches; others it only reads, at any place. So every order of turns is the same.
"""
from scalars import Cell, Key, Memory, Scope
from functions import CELLS

LOCAL = 4  # elements of a thread's own array


class Threads:
    def shared_out(self, memories, index):
        """Memories for a turn: some by its own element alone, the rest to read."""
        shared = []
        for key, t in memories:
            if self.rng.random() < 0.6:
                shared.append(Memory(key, t, CELLS, index=index))
            else:
                shared.append(Memory(key, t, CELLS, is_written=False, is_argument=False))
        return shared

    def parallel(self, memories, numbers):
        """Turns of `parallel` over a fragment and memory."""
        c, t = Key(self.name("c")), Key(self.name("f"))
        index = (c, lambda e: e[c].value)
        scope = Scope([], [*self.shared_out(memories, index), Memory(t, "i32", CELLS, index=index)], [*numbers, (c, "int")], has_order=False)
        first = self.declaration(scope)
        body = self.statements(scope, 2, False, None)
        lines = [f"var {t}: fragment i32[{CELLS}] = A.tile(0);", f"for {c} in parallel({CELLS}) {{", *("    " + line for line in first[0]), *body[0], "}",
                 f"A.tile(0) = A.tile(0) ^ {t};"]

        def run(e):
            e[t] = list(e["A"])
            for i in range(CELLS):
                inner = dict(e)
                inner[c] = Cell(i)
                first[1](inner)
                body[1](inner)
            e["A"][:] = [a ^ b for a, b in zip(e["A"], e[t])]
        return lines, run

    def threads(self, memories, numbers):
        """Threads with `sync` between phases, and with arrays of their own."""
        i, own = Key(self.name("i")), Key(self.name("l"))
        local = Memory(own, "i32", LOCAL)
        phases = [self.phase(memories, numbers, i, [local]) for _ in range(self.rng.randint(1, 3))]
        lines = [f"simt ({i}) {{", f"    var {own}: local i32[{LOCAL}];", f"    for q in 0..{LOCAL} {{ {own}[q] = (q * {i}) as i32; }}"]
        for n, (phase, _) in enumerate(phases):
            lines += [*(["    sync;"] if n else []), f"    if {i} < {CELLS} {{", *("    " + line for line in phase), "    }"]

        def run(e):
            arrays = [[q * k for q in range(LOCAL)] for k in range(CELLS)]
            for _, go in phases:
                for k in range(CELLS):
                    inner = dict(e)
                    inner[i], inner[own] = Cell(k), arrays[k]
                    go(inner)
        return [*lines, "}"], run

    def phase(self, memories, numbers, i, others):
        scope = Scope([], [*self.shared_out(memories, (i, lambda e: e[i].value)), *others], [*numbers, (i, "int")])
        first = self.declaration(scope)
        body = self.statements(scope, 2, False, None)

        def run(e):
            first[1](e)
            body[1](e)
        return ["    " + line for line in first[0]] + body[0], run

    def blocks(self, memories, numbers):
        """A launch of as many blocks as an expression says, which each have an element of every tensor that is written."""
        b = Key(self.name("b"))
        host = Scope([], [], numbers)
        lets = [self.host_let(host) for _ in range(self.rng.randint(1, 3))]
        extent = self.expr(host, "i32", 2)
        lines, phase = self.phase(memories, host.constants, b, [])

        def run(e):
            for _, go in lets:
                go(e)
            for k in range(extent.run(e) & CELLS - 1):
                inner = dict(e)
                inner[b] = Cell(k)
                phase(inner)
        return [*(line for ls, _ in lets for line in ls), f"launch ({b} in (({extent.text}) & {CELLS - 1}) as int) {{", *lines, "}"], run

    def host_let(self, host):
        n, t = Key(self.name("h")), self.rng.choice(["i32", "i64", "u8", "f32", "f64", "bool"])
        x = self.expr(host, t, 2)
        host.add(n, t, True)

        def run(e):
            e[n] = Cell(x.run(e))
        return [f"let {n}: {t} = {x.text};"], run
