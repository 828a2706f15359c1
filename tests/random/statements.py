"""What a kernel is made of besides plain assignments: reductions and scans, products, threads."""
import numpy as np

from program import EXTENTS, GREATEST_TILE, LIMITS, SUM_TYPES, Value, converted, fitted, is_bounded, kept, natural_bound, wrapped


def piece(x, starts, lengths, pad=0):
    """The part of a tensor that a tile reads: what hangs over is padding."""
    out = np.full(lengths, pad, dtype=x.dtype)
    source, target = [], []
    for s, n, extent in zip(starts, lengths, x.shape):
        low, high = min(max(s, 0), extent), min(max(s + n, 0), extent)
        source.append(slice(low, high))
        target.append(slice(low - s, high - s))
    out[tuple(target)] = x[tuple(source)]
    return out


def put(x, starts, value):
    source, target = [], []
    for s, n, extent in zip(starts, value.shape, x.shape):
        low, high = min(max(s, 0), extent), min(max(s + n, 0), extent)
        target.append(slice(low, high))
        source.append(slice(low - s, high - s))
    x[tuple(target)] = value[tuple(source)]


class Statements:
    """Each writes its text and gives its meaning: functions of what is in scope, to be run in order."""

    def reduce(self, scope):
        rng = self.rng
        tiles = [v for v in scope if v.shape and v.type not in ("u64",)]
        if not tiles:
            return []
        v = rng.choice(tiles)
        axis = rng.randrange(len(v.shape))
        kind = rng.choice(["sum", "max", "min", "absmax", "cumsum", "cummax", "cummin", "argmax", "argmin", "turn", "reshape", "any"])
        if kind == "any":
            return self.flagged(scope, v, axis)
        if kind == "absmax" and v.type[0] == "u":
            kind = "max"
        if kind == "turn":
            if len(v.shape) != 2:
                return []
            return self.assign_new(scope, Value(f"{v.text}.T", v.type, v.shape[::-1], v.bound, lambda e: v.meaning(e).T), v.shape[::-1])
        if kind == "reshape":
            shape = tuple(np.random.RandomState(rng.randrange(1 << 30)).permutation(v.shape).tolist())
            shape = rng.choice([shape, (int(np.prod(shape)),), (1,) + shape if len(shape) < 4 else shape])
            text = f"{v.text}.reshape[{', '.join(map(str, shape))}]"
            return self.assign_new(scope, Value(text, v.type, shape, v.bound, lambda e: v.meaning(e).reshape(shape)), shape)
        if "sum" in kind and is_bounded(v.type):
            need = LIMITS[v.type] // v.shape[axis]
            if need < 1:
                return []
            if v.bound > need:
                return []
        methods = {"sum": lambda x: x.sum(axis=axis), "max": lambda x: x.max(axis=axis), "min": lambda x: x.min(axis=axis),
                   "absmax": lambda x: np.abs(x).max(axis=axis), "cumsum": lambda x: np.cumsum(x, axis=axis),
                   "cummax": lambda x: np.maximum.accumulate(x, axis=axis), "cummin": lambda x: np.minimum.accumulate(x, axis=axis),
                   "argmax": lambda x: x.argmax(axis=axis), "argmin": lambda x: x.argmin(axis=axis)}
        f = methods[kind]
        t = "i32" if "arg" in kind else v.type
        shape = v.shape if "cum" in kind else v.shape[:axis] + v.shape[axis + 1:]
        bound = v.bound * v.shape[axis] if "sum" in kind and is_bounded(t) else 1 << 12 if "arg" in kind else v.bound
        result = Value(f"{v.text}.{kind}(axis = {axis})", t, shape, bound, lambda e: wrapped(t, f(v.meaning(e))))
        if not shape:
            name = self.fresh("n")
            self.emit(f"let {name} = {result.text};")
            scope.append(Value(name, t, (), bound, lambda e: e[name]))

            def meaning(e):
                e[name] = kept(t, result.meaning(e))
            return [meaning]
        return self.assign_new(scope, result, shape)

    def flagged(self, scope, v, axis):
        """A tile of truths, reduced to whether any or all of a line are true."""
        rng, number = self.rng, self.rng.randint(0, 2)
        word, test = rng.choice([("<", np.less), ("==", np.equal), (">", np.greater)])
        kind, f = rng.choice([("any", np.any), ("all", np.all)])
        shape = v.shape[:axis] + v.shape[axis + 1:]
        if not shape:
            return []
        flags, name = self.fresh("flag"), self.fresh("t")
        self.emit(f"let {flags} = {v.text} {word} {number};")
        self.emit(f"var {name}: fragment i32[{', '.join(map(str, shape))}] = "
                  f"select({flags}.{kind}(axis = {axis}), {self.count} as i32, -1 as i32);")
        yes = self.count
        self.declare(name, Value(name, "i32", shape, 4, None), scope)

        def meaning(e):
            e[name] = np.where(f(test(v.meaning(e), number), axis=axis), yes, -1)
        return [meaning]

    def threads_loop(self, scope):
        """Threads that fill a shared tile, and read what others wrote."""
        rng = self.rng
        n, t = rng.choice([1, 5, 32, 33, 96, 130]), rng.choice(["i32", "u8", "f32", "f64", "i16", "u32"])
        v = next((v for v in scope if v.shape and getattr(v, "is_var", False) and f"var {v.text}: shared" in "".join(self.lines)), None)
        s, name, step, by = self.fresh("s"), self.fresh("t"), rng.randint(0, 4), rng.randint(1, 3)
        source = f"{v.text}[{', '.join(['q % ' + str(v.shape[0])] + ['0'] * (len(v.shape) - 1))}]" if v else "q"
        first = converted(fitted(Value(source, v.type if v else "i32", (), v.bound if v else 200, lambda e: e["q"])), t)
        self.emit(f"var {s}: shared {t}[{n}] = 0;")
        self.emit(f"var {name}: shared {t}[{n}] = 0;")
        self.emit("simt (t) {")
        if v is None:
            self.emit(f"    for q in range(t, {n}, threads) {{ {s}[q] = {first.text.replace('q', '((q % 200) as i32)')}; }}")
        else:
            self.emit(f"    for q in range(t, {n}, threads) {{ {s}[q] = {first.text}; }}")
        self.emit("    sync;")
        rounds = rng.choice([0, 1, 2])
        self.emit(f"    for r in 0..{rounds} {{")
        self.emit(f"        for q in range(t, {n}, threads) {{ {name}[q] = max({s}[(q + {step}) % {n}], {by}); }}")
        self.emit("        sync;")
        self.emit(f"        for q in range(t, {n}, threads) {{ if q % {by + 1} == 0 {{ {s}[q] = {name}[{n - 1} - q]; }} }}")
        self.emit("        sync;")
        self.emit("    }")
        self.emit("}")
        bound = max(first.bound, 4)
        self.declare(s, Value(s, t, (n,), bound, None), scope)
        self.declare(name, Value(name, t, (n,), bound, None), scope)
        scope[-2].text, scope[-2].meaning = s, lambda e: e[s]
        index = np.arange(n)

        def meaning(e):
            whole = v.meaning(e) if v else None
            at = whole.reshape(v.shape[0], -1)[index % v.shape[0], 0] if v else index % 200
            a, b = kept(t, first.meaning(e | {"q": at})), kept(t, np.zeros(n))
            for _ in range(rounds):
                b = np.maximum(a[(index + step) % n], by)
                a = np.where(index % (by + 1) == 0, b[n - 1 - index], a)
            e[s], e[name] = a, b
        return [meaning]

    def attention(self, scope):
        """Two products in one loop, the second of what the first gives; K and V may be shared by both."""
        rng, m = self.rng, self.block
        t = rng.choice(["f16", "bf16", "f32", "tf32", "i8"])
        total = SUM_TYPES.get(t, "f32")
        d, n = rng.choice([8, 16, 32, 33, 64]), rng.choice([8, 16, 24, 32, 64])
        Q, K, V = self.tensor(t, ("M", d)), self.tensor(t, ("K", d)), self.tensor(t, ("K", d))
        q, k, v, s, p, j = (self.fresh(x) for x in "qkvspk")
        o, top = self.fresh("t"), self.fresh("t")
        is_one, stages = rng.random() < 0.3, rng.choice(["", ", stages = 1", ", stages = 2", ", stages = 3"])
        self.emit(f"var {q}: {rng.choice(['shared', 'shared', 'fragment'])} {t}[{m}, {d}] = {Q.name}.tile[{m}, {d}](i, 0);")
        self.emit(f"var {k}: shared {t}[{n}, {d}];")
        if not is_one:
            self.emit(f"var {v}: shared {t}[{n}, {d}];")
        self.emit(f"var {o}: fragment {total}[{m}, {d}] = 0;")
        self.emit(f"var {top}: fragment {total}[{m}] = -50;")
        self.emit(f"for {j} in pipelined(ceildiv(K, {n}){stages}) {{")
        self.emit(f"    {k} = {K.name}.tile({j}, 0);")
        under = not is_one and rng.random() < 0.2
        if not is_one:
            load = f"{v} = {V.name}.tile({j}, 0);"
            self.emit(f"    if {j} % 2 == 0 {{ {load} }} else {{ {v} = 0; }}" if under else f"    {load}")
        self.emit(f"    var {s} = {q} @ {k}.T;")
        self.emit(f"    for (r, c) in parallel({m}, {n}) {{ if {j} * {n} + c >= K || {j} * {n} + c > i * {m} + r {{ {s}[r, c] = -60; }} }}")
        self.emit(f"    {top} = max({top}, {s}.max(axis = 1));")
        self.emit(f"    let {p} = clamp({s} - {top}[:, _], -2, 0) + 2;")
        self.emit(f"    {o} = clamp({o}, -90, 90);")
        self.emit(f"    {o} += ({p} as {t}) @ {k if is_one else v};")
        self.emit("}")
        self.declare(o, Value(o, total, (m, d), 1 << 12, None), scope)
        self.declare(top, Value(top, total, (m,), 1 << 12, None), scope)
        scope[-2].meaning, scope[-1].meaning = (lambda e: e[o]), (lambda e: e[top])

        def meaning(e):
            tensors, length = e["tensors"], e["dims"]["K"]
            x = piece(tensors[Q.name], [e["i"] * m, 0], (m, d))
            out, greatest_ = kept(total, np.zeros((m, d))), kept(total, np.full(m, -50))
            for step in range(-(-length // n)):
                keys, values = (piece(tensors[z.name], [step * n, 0], (n, d)) for z in (K, K if is_one else V))
                if under and step % 2:
                    values = values * 0
                scores = x @ keys.T
                column, row = step * n + np.arange(n)[None, :], e["i"] * m + np.arange(m)[:, None]
                scores = np.where((column >= length) | (column > row), -60, scores)
                greatest_ = np.maximum(greatest_, scores.max(axis=1))
                weights = np.clip(scores - greatest_[:, None], -2, 0) + 2
                out = np.clip(out, -90, 90) + weights @ values
            e[o], e[top] = out, greatest_
        return [meaning]

    def product(self, scope):
        """A product of two tiles in scope, or of new ones along K in a loop."""
        rng = self.rng
        t = rng.choice(["f16", "f16", "bf16", "tf32", "f32", "f32", "f64", "i8", "u8", "i16", "i32", "f8e4m3", "f8e5m2"])
        total = SUM_TYPES.get(t, "f32")
        m, n, k = self.block, rng.choice(EXTENTS), rng.choice([1, 3, 8, 12, 16, 32, 33, 64, 96])
        n = min(n, GREATEST_TILE // max(m, k))
        acc = self.fresh("t")
        turned_a, turned_b = rng.random() < 0.4, rng.random() < 0.4
        a_shape, b_shape = ((k, m) if turned_a else (m, k)), ((n, k) if turned_b else (k, n))
        A = self.tensor(t, ("K", "M") if turned_a else ("M", "K"))
        B = self.tensor(t, (n, "K") if turned_b else ("K", n))
        a, b, steps = self.fresh("a"), self.fresh("b"), self.fresh("k")
        self.emit(f"var {acc}: fragment {total}[{m}, {n}] = 0;")
        is_outside = rng.random() < 0.6
        spaces = [rng.choice(["shared", "shared", "shared", "let"]) for _ in range(2)]
        loads = [(a, spaces[0], a_shape, f"{A.name}.tile[{a_shape[0]}, {a_shape[1]}]({f'{steps}, i' if turned_a else f'i, {steps}'})"),
                 (b, spaces[1], b_shape, f"{B.name}.tile[{b_shape[0]}, {b_shape[1]}]({f'0, {steps}' if turned_b else f'{steps}, 0'})")]
        for name, space, shape, text in loads:
            if space == "shared" and is_outside:
                self.emit(f"var {name}: shared {t}[{shape[0]}, {shape[1]}];")
        stages = rng.choice(["", ", stages = 1", ", stages = 2", ", stages = 3", ", stages = 7"])
        count = rng.choice([f"ceildiv(K, {k})"] * 3 + [f"min(ceildiv(K, {k}), i)", "1", "0", "2"])
        head = rng.choice([f"0..{count}", f"pipelined({count}{stages})", f"pipelined({count}{stages})", f"pipelined({count}{stages})"])
        self.emit(f"for {steps} in {head} {{")
        self.depth += 1
        skip = rng.random() < 0.2
        if skip:
            self.emit(f"if {steps} % 3 == 1 {{ continue; }}")
        for name, space, shape, text in loads:
            if space == "let":
                self.emit(f"let {name} = {text};")
            elif is_outside:
                self.emit(f"{name} = {text};")
            else:
                self.emit(f"var {name}: shared {t}[{shape[0]}, {shape[1]}] = {text};")
        self.emit(f"{acc} += {a}{'.T' if turned_a else ''} @ {b}{'.T' if turned_b else ''};")
        again = rng.random() < 0.25
        if again:
            self.emit(f"{acc} += {a}{'.T' if turned_a else ''} @ {b}{'.T' if turned_b else ''};")
        scaled = rng.random() < 0.2
        if scaled:
            self.emit(f"{acc} = clamp({acc}, -100, 200);")
        self.depth -= 1
        self.emit("}")
        bound = min(natural_bound(total), 1 << 20)
        self.declare(acc, Value(acc, total, (m, n), bound, None), scope)
        block = self.block

        def meaning(e):
            tensors, K = e["tensors"], e["dims"]["K"]
            trips = {"1": 1, "0": 0, "2": 2}.get(count, -(-K // k))
            if count.startswith("min"):
                trips = min(trips, e["i"])
            sum_ = kept(total, np.zeros((m, n)))
            for step in range(trips):
                if skip and step % 3 == 1:
                    continue
                x = piece(tensors[A.name], [step * k, e["i"] * block] if turned_a else [e["i"] * block, step * k], a_shape)
                y = piece(tensors[B.name], [0, step * k] if turned_b else [step * k, 0], b_shape)
                x, y = (x.T if turned_a else x), (y.T if turned_b else y)
                sum_ = wrapped(total, sum_ + (2 if again else 1) * (x @ y))
                if scaled:
                    sum_ = np.clip(sum_, -100, 200)
            e[acc] = sum_
        self.uses_k = True
        return [meaning]
