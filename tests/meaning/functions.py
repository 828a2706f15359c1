"""Random functions: `inout`, `out`, memory, defaults that use earlier parameters, early returns; generics that call generics."""
from scalars import Cell, Expr, Key, Memory, Return, Scope
from values import BINARY, INTEGERS, smaller

CELLS = 8  # elements of every memory that is handed over
OF_PARAMETERS = ["i32", "i32", "i64", "u8", "f32", "f64", "bool", "f16", "u16"]
OF_RESULTS = ["i32", "i32", "i64", "u8", "f32", "f64", "bool", "bool", "f16", "nothing"]


class Function:
    """Parameters are (name, direction, type) with `mem` for the type of memory; `run(arguments, e, type)` gets cells and lists for what is `inout`,
    and None for what has its default."""

    def __init__(self, name, parameters, result, text, run, is_generic=False, defaults=0, brackets=lambda rng: ("", {})):
        self.name, self.parameters, self.result, self.text, self.run = name, parameters, result, text, run
        self.is_generic, self.defaults, self.brackets = is_generic, defaults, brackets


class Calls:
    def call(self, scope, t):
        fns = [f for f in self.functions if f.result == t or (f.is_generic and f.result == "T" and t in INTEGERS)]
        if not fns:
            return self.variable(scope, t)
        return self.call_of(scope, self.rng.choice(fns), t) or self.variable(scope, t)

    def call_of(self, scope, f, t):
        texts, makers, used = [], [], set()
        for i, (name, direction, of) in enumerate(f.parameters):
            of = t if of == "T" else of
            if i >= len(f.parameters) - f.defaults and self.rng.random() < 0.5:
                makers.append(None)
                texts.append(None)
                continue
            made = self.argument(scope, direction, of, used)
            if made is None:
                return None
            texts.append((name, made[0]))
            makers.append(made[1])
        order = [i for i, text in enumerate(texts) if text]
        is_named = self.rng.random() < 0.2 or any(texts[i] is None for i in range(order[-1] if order else 0))
        if is_named:
            self.rng.shuffle(order)
        written = ", ".join(f"{texts[i][0]} = {texts[i][1]}" if is_named else texts[i][1] for i in order)
        brackets, fixed = f.brackets(self.rng)

        def run(e):
            given, after = [None] * len(makers), []
            for i in order:
                given[i] = makers[i](e, after)
            # What stands in elements is read when the function begins.
            given = [g() if callable(g) else g for g in given]
            result = f.run(given, t, fixed)
            for write in after:
                write()
            return result
        return Expr(f"{f.name}{brackets}({written})", t, run)

    def argument(self, scope, direction, of, used):
        rng = self.rng
        if of == "mem":
            memories = [m for m in scope.memories if m.type == "i32" and m.is_argument and m.cells == CELLS and not m.index and m.is_written and m.key not in used]
            if not memories:
                return None
            m = rng.choice(memories).key
            used.add(m)
            return m.text, lambda e, after: e[m]
        if direction == "in":
            x = self.expr(scope, of, 1)
            return x.text, lambda e, after: x.run(e)
        names = [n for n in scope.writable(of) if n not in used]
        if names and rng.random() < 0.7:
            n = rng.choice(names)
            used.add(n)
            return n.text, lambda e, after: e[n]
        place = self.place(scope, of)
        if not place or place[0] in used:
            return None
        if not scope.has_order:  # elements of fragments are variables, which go to one parameter
            used.add(place[0])

        def hand_over(e, after):
            memory, i = place[1](e)

            def begin():
                cell = Cell(memory[i])
                after.append(lambda: memory.__setitem__(i, cell.value))
                return cell
            return begin
        return place[0], hand_over

    # ---- declarations

    def function(self):
        kind = self.rng.random()
        if kind < 0.2:
            return self.generic_function()
        if kind < 0.35:
            return self.setter()
        rng, name = self.rng, self.name("g")
        result = rng.choice(OF_RESULTS)
        parameters, scope = [], Scope()
        for _ in range(rng.randint(1, 3)):
            self.parameter(parameters, scope)
        defaults = self.defaults(parameters, scope) if rng.random() < 0.3 else []
        body = self.statements(scope, 2, False, result)
        last = self.expr(scope, result, 1) if result != "nothing" else None

        def run(given, t, fixed):
            e = {}
            for i, ((p, direction, of), g) in enumerate(zip(parameters, given)):
                value = defaults[i - len(parameters)].run(e) if g is None else g
                e[p] = value if of == "mem" or direction == "inout" else Cell(value)
            try:
                body[1](e)
            except Return as r:
                return r.value
            return last.run(e) if last else None
        header = ", ".join(self.written(p, defaults, i - len(parameters)) for i, p in enumerate(parameters))
        arrow = f" -> {result}" if last else ""
        text = "\n".join([f"fn {name}({header}){arrow} {{", *body[0], *([f"    return {last.text};"] if last else []), "}"])
        return Function(name, parameters, result, text, run, defaults=len(defaults))

    def parameter(self, parameters, scope):
        kind, p = self.rng.random(), Key(self.name("p"))
        if kind < 0.25 and not scope.memories:
            parameters.append((p, "inout", "mem"))
            return scope.memories.append(Memory(p, "i32", CELLS))
        of = self.rng.choice(OF_PARAMETERS)
        direction = "inout" if kind < 0.65 else "in"
        parameters.append((p, direction, of))
        scope.add(p, of, direction == "in")

    def defaults(self, parameters, scope):
        """One or two parameters that need no argument, whose defaults use what stands before them."""
        made = []
        for _ in range(self.rng.randint(1, 2)):
            p, of = Key(self.name("p")), self.rng.choice(["i32", "i64", "f32"])
            x = self.default_of(scope, of)
            parameters.append((p, "in", of))
            scope.add(p, of, True)
            made.append(x)
        return made

    def default_of(self, scope, of):
        names = scope.readable(of)
        if not names or self.rng.random() < 0.4:
            return self.literal(of)
        n, step = self.rng.choice(names), self.literal(of)
        return Expr(f"{n.text} + {step.text}", of, lambda e: BINARY["+"](of, e[n].value, step.run(e)))

    def written(self, parameter, defaults, i):
        p, direction, of = parameter
        word = "inout " if direction == "inout" else ""
        tail = f" = {defaults[i].text}" if -i <= len(defaults) else ""
        return f"{word}{p}: {'i32[' + str(CELLS) + ']' if of == 'mem' else of}{tail}"

    def setter(self):
        """A function whose `out` parameters are set on every path, also in front of a return."""
        rng, name = self.rng, self.name("g")
        a, b, c = (Key(self.name("p")) for _ in range(3))
        scope = Scope(constants=[(a, "i32")])
        t, u = rng.choice(OF_PARAMETERS), rng.choice(OF_PARAMETERS)
        early, first = self.condition(scope, 1), [self.expr(scope, t, 1), self.expr(scope, u, 1), self.expr(scope, "i32", 1)]
        both = [self.expr(scope, t, 1), self.expr(scope, u, 1)]
        scope.add(b, t, False)
        scope.add(c, u, False)
        body = self.statements(scope, 1, False, None)
        last = self.expr(scope, "i32", 1)

        def run(given, of, fixed):
            e = {a: Cell(given[0]), b: given[1], c: given[2]}
            if early.run(e):
                e[b].value = first[0].run(e)
                e[c].value = first[1].run(e)
                return first[2].run(e)
            e[b].value = both[0].run(e)
            e[c].value = both[1].run(e)
            body[1](e)
            return last.run(e)
        text = "\n".join([f"fn {name}({a}: i32, out {b}: {t}, out {c}: {u}) -> i32 {{",
                          f"    if {early.text} {{ {b} = {first[0].text}; {c} = {first[1].text}; return {first[2].text}; }}",
                          f"    {b} = {both[0].text};", f"    {c} = {both[1].text};", *body[0], f"    return {last.text};", "}"])
        return Function(name, [(a, "in", "i32"), (b, "out", t), (c, "out", u)], "i32", text, run)

    # ---- generics: T of integers, N and K of the compiler; the type of a call stands in the environment

    def generic_function(self):
        rng, name = self.rng, self.name("g")
        n, k = rng.randint(1, 5), rng.randint(1, 3)
        inner = [f for f in self.functions if f.is_generic]
        way, last = self.generic_expr(1, inner), self.generic_expr(2, inner)
        turn, flag = self.generic_expr(1, inner), rng.random() < 0.5
        limit = rng.randint(1, 7)

        def run(given, t, fixed):
            N = fixed.get("N", n)
            K = fixed.get("K", N + k)
            e = {"T": t, "a": Cell(given[0]), "b": given[1], "N": N, "K": K}
            if K > limit:
                if e["a"].value > e["b"].value:
                    e["b"].value = way.run(e)
                    return e["b"].value
            else:
                for _ in range(N):
                    e["b"].value = turn.run(e)
                    if fixed.get("flag", flag) and e["b"].value > N:
                        break
            return last.run(e)

        def brackets(rng):
            fixed = {}
            if rng.random() < 0.3:
                fixed["N"] = rng.randint(0, 6)
            if rng.random() < 0.2:
                fixed["K"] = rng.randint(0, 8)
            if rng.random() < 0.3:
                fixed["flag"] = rng.random() < 0.5
            return ("[" + ", ".join(f"{p} = {str(v).lower()}" for p, v in fixed.items()) + "]" if fixed else ""), fixed
        text = "\n".join([f"fn {name}[T: integer, N: int = {n}, K: int = N + {k}, flag: bool = {str(flag).lower()}](a: T, inout b: T) -> T {{",
                          f"    if K > {limit} {{", f"        if a > b {{ b = {way.text}; return b; }}", "    } else {",
                          f"        for _ in 0..N {{ b = {turn.text}; if flag && b > N as T {{ break; }} }}", "    }", f"    return {last.text};", "}"])
        return Function(name, [("a", "in", "T"), ("b", "inout", "T")], "T", text, run, is_generic=True, brackets=brackets)

    def generic_expr(self, depth, inner):
        rng = self.rng
        kind = rng.random()
        if depth == 0 or kind < 0.15:
            v = rng.choice(["a", "b", "N", "K", 3, 100])
            if isinstance(v, int):
                return Expr(str(v), "T", lambda e: v, True)
            return Expr(v, "T", lambda e: e[v].value) if v in "ab" else Expr(f"({v} as T)", "T", lambda e: e[v])
        x, y = self.generic_expr(depth - 1, inner), self.generic_expr(depth - 1, inner)
        x = Expr(f"({x.text} as T)", "T", x.run) if x.is_literal else x
        if kind < 0.3 and inner:
            return self.generic_call(x, rng.choice(inner))
        if kind < 0.45:
            return Expr(f"(if {x.text} > a {{ {y.text} }} else {{ a }})", "T", lambda e: y.run(e) if x.run(e) > e["a"].value else e["a"].value)
        if kind < 0.55:
            return Expr(f"min({x.text}, {y.text})", "T", lambda e: smaller("T", x.run(e), y.run(e)))
        op = rng.choice("+-^&|*")
        return Expr(f"({x.text} {op} {y.text})", "T", lambda e: BINARY[op](e["T"], x.run(e), y.run(e)))

    def generic_call(self, x, f):
        """A call of an earlier generic function on this one's own variable, with this one's parameters now and then."""
        brackets, fixed = ("[N = K]", "K") if self.rng.random() < 0.3 else ("", None)

        def run(e):
            return f.run([x.run(e), e["b"]], e["T"], {"N": e["K"]} if fixed else {})
        return Expr(f"{f.name}{brackets}({x.text}, b)", "T", run)
