"""Random kernels out of random expressions: tiles of fragment and shared memory, loops, products, reductions, parts."""
import numpy as np

from program import EXTENTS, GREATEST_TILE, NARROW, TYPES, Expressions, Value, fitted, is_bounded, is_float, kept, natural_bound
from statements import Statements, piece, put


def run(statements, e):
    for s in statements:
        s(e)


class Tensor:
    def __init__(self, name, t, extents, access, bound=4):
        self.name, self.type, self.extents, self.access, self.bound = name, t, extents, access, bound

    def shape(self, dims):
        known = {f"ceildiv(N, {n})": -(-dims["N"] // n) for n in EXTENTS} | dims
        return tuple(known.get(x, x) for x in self.extents)


class Kernel(Statements):
    """One kernel; `text` and `meaning(tensors, dims)`, which writes the outputs."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.tensors, self.count = [], 0
        self.rounds = rng.random() < 0.8  # so that data that are not whole do as well
        self.expressions = Expressions(rng, TYPES if self.rounds else [t for t in TYPES if t not in NARROW])
        self.block = rng.choice([1, 2, 3, 4, 8, 12, 16, 33, 64])
        self.columns = rng.choice([None, None, 3, 8, 16, 33, 64])  # of a tile along N, in launches over two axes
        self.threads = rng.choice([None, None, 32, 64, 96, 128, 256])
        self.make()

    # ---- names and shapes

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def extents(self, first, rank):
        rng = self.rng
        while True:
            shape = (first,) + tuple(rng.choice(EXTENTS) for _ in range(rank - 1))
            if int(np.prod(shape)) <= GREATEST_TILE:
                return shape

    def tensor(self, t, extents, access="in"):
        made = Tensor(self.fresh("X" if access == "in" else "Y"), t, extents, access)
        self.tensors.append(made)
        return made

    def emit(self, line):
        self.lines.append("    " * self.depth + line)

    def declare(self, name, v, scope):
        """A tile of its own; the value in scope that stands for it."""
        bound = max(v.bound, 1) if is_bounded(v.type) else natural_bound(v.type)
        made = Value(name, v.type, v.shape, bound, lambda e: e[name])
        scope.append(made)
        return made

    # ---- statements; each writes its text and gives its meaning

    def load(self, scope):
        rng, shape = self.rng, self.extents(self.block, rng_rank(self.rng))
        t = rng.choice(self.expressions.types)
        is_wide = bool(self.columns) and len(shape) > 1 and rng.random() < 0.6
        if is_wide:
            shape = shape[:1] + (self.columns,) + (shape[2:] if int(np.prod(shape[2:])) * self.columns * shape[0] <= GREATEST_TILE else ())
        x = self.tensor(t, (("M", "N") if is_wide else ("M",)) + shape[2 if is_wide else 1:])
        name, block = self.fresh("t"), self.block
        index = ", ".join((["i", "j"] if is_wide else ["i"]) + ["0"] * (len(shape) - 1 - is_wide))
        kind = rng.choice(["let", "fragment", "shared"])
        text = f"{x.name}.tile[{', '.join(map(str, shape))}]({index})"
        if is_float(t) and self.rounds:
            text = f"round({text})"
        if kind == "let":
            self.emit(f"let {name} = {text};")
        else:
            self.emit(f"var {name}: {kind} {t}[{', '.join(map(str, shape))}] = {text};")
        self.declare(name, Value(name, t, shape, 4, None), scope)
        starts_rest = [0] * (len(shape) - 1)

        def meaning(e):
            starts = [e["i"] * block] + starts_rest
            if is_wide:
                starts[1] = e["j"] * self.columns
            e[name] = piece(e["tensors"][x.name], starts, shape)
        return [meaning]

    def compute(self, scope):
        rng = self.rng
        tiles = [v for v in scope if v.shape]
        shape = rng.choice(tiles).shape
        t = rng.choice(self.expressions.types)
        v = fitted(self.expressions.whole(scope, t, shape, rng.randint(1, 3)))
        return self.assign_new(scope, v, shape, rng.choice(["fragment", "fragment", "shared"]))

    def assign_new(self, scope, v, shape, space="fragment"):
        name = self.fresh("t")
        sizes = ", ".join(map(str, shape))
        self.emit(f"var {name}: {space} {v.type}[{sizes}] = {v.text};")
        self.declare(name, Value(name, v.type, shape, v.bound, None), scope)

        def meaning(e):
            e[name] = np.broadcast_to(kept(v.type, v.meaning(e)), shape).copy()
        return [meaning]

    def change(self, scope, targets):
        """A var set again, whole, in part or element by element."""
        rng = self.rng
        targets = [v for v in targets if v.shape and not v.text.startswith("n")]
        if not targets:
            return []
        v = rng.choice(targets)
        name = v.text
        limit = v.bound if is_bounded(v.type) else None
        kind = rng.choice(["whole", "part", "parallel"])
        new = fitted(self.expressions.whole(scope, v.type, v.shape, 2), limit)
        if kind == "whole":
            self.emit(f"{name} = {new.text};")

            def meaning(e):
                e[name] = np.broadcast_to(kept(v.type, new.meaning(e)), v.shape).copy()
            return [meaning]
        if kind == "parallel":
            return self.parallel(v, limit)
        cuts, places = [], []
        for n in v.shape:
            length = rng.randint(1, n)
            cuts.append((rng.randint(0, n - length), rng.randint(0, n - length), length))
        source = ", ".join(f"{s} +: {n}" for s, _, n in cuts)
        target = ", ".join(f"{s} +: {n}" for _, s, n in cuts)
        number = rng.randint(0, 3)
        word = rng.choice(["max", "min", None])
        self.emit(f"{name}[{target}] = " + (f"{word}({name}[{source}], {number});" if word else f"{name}[{source}];"))

        def meaning(e):
            got = e[name][tuple(slice(s, s + n) for s, _, n in cuts)]
            got = np.maximum(got, number) if word == "max" else np.minimum(got, number) if word else got
            e[name] = e[name].copy()
            e[name][tuple(slice(s, s + n) for _, s, n in cuts)] = got
        v.bound = max(v.bound, 3)
        return [meaning]

    def parallel(self, v, limit):
        rng, name = self.rng, v.text
        names = [f"p{k}" for k in range(len(v.shape))]
        low = [rng.randint(0, n) for n in v.shape]
        axis = rng.randrange(len(v.shape))
        number = rng.randint(0, min(4, limit or 4))
        word = rng.choice(["==", "<", ">="])
        loop = f"({', '.join(names)})" if len(names) > 1 else names[0]
        tested = f"{names[axis]} {word} {low[axis]}"
        if axis == 0:
            tested = f"i * {self.block} + {names[0]} {word} {low[0]}"
        place = f"{name}[{', '.join(names)}]"
        self.emit(f"for {loop} in parallel({', '.join(map(str, v.shape))}) {{")
        self.emit(f"    if {tested} {{ {place} = {number}; }} else {{ {place} = max({place}, 0); }}")
        self.emit("}")
        test = {"==": np.equal, "<": np.less, ">=": np.greater_equal}[word]
        block = self.block

        def meaning(e):
            index = np.indices(v.shape)[axis] + (e["i"] * block if axis == 0 else 0)
            e[name] = np.where(test(index, low[axis]), kept(v.type, number), np.maximum(e[name], 0))
        v.bound = max(v.bound, 4)
        return [meaning]

    def loop(self, scope, level):
        rng = self.rng
        count = rng.choice([0, 1, 2, 3, 5])
        k = self.fresh("k")
        head = rng.choice([f"0..{count}", f"range(0, {2 * count}, 2)", f"pipelined({count})", f"unroll({count})", "while"])
        if head == "while":
            self.emit(f"var {k} = 0;")
            self.emit(f"while {k} < {count} {{")
        else:
            self.emit(f"for {k} in {head} {{")
        body = self.body(scope, level, rng.randint(1, 3))
        if head == "while":
            self.emit(f"    {k} = {k} + 1;")
        self.emit("}")

        def meaning(e):
            for _ in range(count):
                run(body, e)
        return [meaning]

    def condition(self, scope, level):
        rng = self.rng
        flags = self.flags
        number = rng.randint(-2, 3)
        word, test = rng.choice([("<", np.less), ("==", np.equal), (">", np.greater)])
        row = self.fresh("c")
        self.emit(f"let {row} = min(i * {self.block}, M - 1);")
        self.emit(f"if {flags.name}[{row}] {word} {number} {{")
        yes = self.body(scope, level, rng.randint(1, 2))
        no = []
        if rng.random() < 0.5:
            self.emit("} else {")
            no = self.body(scope, level, 1)
        self.emit("}")
        block = self.block

        def meaning(e):
            at = min(e["i"] * block, e["dims"]["M"] - 1)
            run(yes if test(e["tensors"][flags.name][at], number) else no, e)
        return [meaning]

    def body(self, scope, level, count):
        """Statements of a block of their own: what they declare ends with it."""
        self.depth += 1
        inner, out, outer = list(scope), [], list(scope)
        for _ in range(count):
            kind = self.rng.choice(["change", "change", "compute", "reduce", "product", "load", "attention"])
            if level > 1 and self.rng.random() < 0.3:
                kind = self.rng.choice(["loop", "condition"])
            if kind == "change":
                out += self.change(inner, [v for v in outer if getattr(v, "is_var", False)])
            elif kind in ("loop", "condition"):
                out += getattr(self, kind)(inner, level - 1)
            else:
                out += getattr(self, kind)(inner)
            for v in inner:
                v.is_var = v.text.startswith("t") and v.text not in self.lets()
        out += self.change(inner, [v for v in outer if getattr(v, "is_var", False)])
        self.depth -= 1
        return out

    def lets(self):
        return {line.split()[1] for line in self.lines if line.strip().startswith("let ")}

    # ---- the whole

    def make(self):
        rng = self.rng
        self.lines, self.depth, self.uses_k = [], 2, False
        self.flags = self.tensor("i32", ("M",))
        scope, statements = [], []
        while not scope or self.columns and not any("N" in t.extents for t in self.tensors):
            statements += self.load(scope)
        for _ in range(rng.randint(1, 7)):
            kind = rng.choice(["load", "compute", "compute", "reduce", "reduce", "product", "loop", "condition", "change", "attention",
                               "threads_loop" if self.threads else "compute"])
            if kind in ("loop", "condition"):
                statements += getattr(self, kind)(scope, 2)
            elif kind == "change":
                statements += self.change(scope, [v for v in scope if getattr(v, "is_var", False)])
            else:
                statements += getattr(self, kind)(scope)
            for v in scope:
                v.is_var = v.text.startswith("t") and v.text not in self.lets()
        tiles = [v for v in scope if v.shape and v.shape[0] == self.block]
        for v in tiles[-4:]:
            statements.append(self.store(v))
        self.statements = statements
        parameters = ",\n    ".join(f"{'' if t.access == 'in' else t.access + ' '}{t.name}: {t.type}[{', '.join(map(str, t.extents))}]"
                                   for t in self.tensors)
        threads = f" threads {self.threads}" if self.threads else ""
        self.text = (f"export kernel {self.name}(\n    {parameters}) requires M >= 1\n{{\n"
                     f"    launch (i in ceildiv(M, {self.block}){f', j in ceildiv(N, {self.columns})' if self.columns else ''}){threads} {{\n" + "\n".join(self.lines) + "\n    }\n}\n")
        self.dims = ["M", "K"] if self.uses_k else ["M"]
        seen = []
        for t in self.tensors:
            seen += [x for x in t.extents if x in ("M", "N", "K") and x not in seen]
        self.dims = seen

    def store(self, v):
        columns, block = self.columns, self.block
        is_wide = bool(columns) and v.shape[1:2] == (columns,)
        extents = ("M", "N") + v.shape[2:] if is_wide else ("M",) + v.shape[1:]
        if columns and not is_wide:
            extents = (f"ceildiv(N, {columns})",) + extents
        y = self.tensor(v.type, extents, "out")
        index = ", ".join((["i", "j"] if is_wide else ["i"]) + ["0"] * (len(v.shape) - 1 - bool(is_wide)))
        self.emit(f"{y.name}{'[j]' if columns and not is_wide else ''}.tile({index}) = {v.text};")

        def meaning(e):
            target, starts = e["tensors"][y.name], [e["i"] * block] + [0] * (len(v.shape) - 1)
            if is_wide:
                starts[1] = e["j"] * columns
            put(target[e["j"]] if columns and not is_wide else target, starts, np.asarray(v.meaning(e)))
        return meaning

    def meaning(self, tensors, dims):
        for j in range(-(-dims["N"] // self.columns) if self.columns else 1):
            for i in range(-(-dims["M"] // self.block)):
                run(self.statements, {"tensors": tensors, "dims": dims, "i": i, "j": j})


def rng_rank(rng):
    return rng.choice([1, 2, 2, 2, 2, 3, 4])
