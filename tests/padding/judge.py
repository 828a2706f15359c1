"""Compiles kernels in both of their readings, calls them on numbers of all kinds, and compares."""
import copy
import ctypes
import functools
import pathlib
import re
import subprocess
import tempfile

import numpy as np

CALLS = 6
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16, "i32": np.int32, "i16": np.int16, "i8": np.int8, "u8": np.uint8}
GREATEST = {"f32": np.finfo(np.float32).max, "f64": np.finfo(np.float64).max, "f16": 65504.0, "bf16": 3.3895314e38}
LEAST = {"f32": 1e-42, "f64": 5e-324, "f16": 6e-8, "bf16": 1e-40}
SCALARS = {"f32": ctypes.c_float, "f64": ctypes.c_double, "f16": ctypes.c_uint16, "bf16": ctypes.c_uint16}


class Function:
    """Programs that stand in one function, each a launch of its own. Its second reading is `masked`, or `exact`: of tiles that end where the
    tensors do, which no order of sums may tell apart: it is for numbers whose sums are exact."""

    def __init__(self, name, frame, programs):
        self.name, self.frame, self.programs = name, frame, programs

    def parts(self):
        """Pieces of text, each with the program it belongs to."""
        frame, kept = self.frame, "" if self.frame.is_exact else ", inside: i32[BM, BN], inside_m: i32[BM], inside_n: i32[BN]"
        outs = [out for program in self.programs for out in program.outs]

        def header(name, dims, last):
            extents = lambda axes: ", ".join(dims[axis] for axis in axes)
            tensors = [("x", "F", "MN"), ("y", "F", "MN"), ("n", "I", "MN"), ("w", "F", "M"), ("v", "F", "N")]
            given = ", ".join(f"{t}: {kind}[{extents(axes)}]" for t, kind, axes in tensors)
            return frame.typed(f"kernel {name}{frame.text}({given}, s: F" + "".join(f", inout {o}: {kind}[{extents(axes)}]" for o, kind, axes, *_ in outs) + f"{last}) {{\n")

        yield None, header(self.name, {"M": "M", "N": "N", "1": "1"}, "")
        for program in self.programs:
            yield program, program.over
        yield None, f"}}\nexport {self.name} as {self.name}_over;\n"
        if frame.is_exact:
            yield None, f"export {self.name}[BM = {frame.m}, BN = {frame.n}, BK = {frame.n}{frame.exact_text}] as {self.name}_exact where M = {frame.m}, N = {frame.n};\n"
            return
        yield None, header(self.name + "_masked", {"M": "BM", "N": "BN", "1": "1"}, f"{kept}, M: int, N: int")
        for program in self.programs:
            yield program, program.masked
        yield None, f"}}\nexport {self.name}_masked;\n"


def built(tilec, folder, text, target="x86-64-v3"):
    with tempfile.TemporaryDirectory(dir=folder) as place:
        place = pathlib.Path(place)
        (place / "k.tile").write_text(text)
        ran = subprocess.run([tilec, "k.tile", "--target", target, "--no-verify", "-o", "k.o", "-w", "--error-limit", "0"], cwd=place, capture_output=True, text=True)
        if ran.returncode:
            return None, ran
        subprocess.run(["gcc", "-shared", "-o", "k.so", "k.o", "-pthread", "-lm"], cwd=place, check=True)
        return ctypes.CDLL(str(place / "k.so")), ran


TURNED = re.compile(r"(select\(in_mn, [^;]*\))\.(sum|prod)\(axis = ([01])\)")


class Builder:
    """Builds a function once more, for another machine, with larger tiles, or with tiles turned where they are reduced, which add up in another
    order."""

    def __init__(self, tilec, folder):
        self.tilec, self.folder, self.known = tilec, folder, {}

    def __call__(self, function, target, factor, is_turned):
        key = function.name, target, factor, is_turned
        if key not in self.known:
            frame = copy.copy(function.frame)
            frame.resize(frame.bm * factor, frame.bn * factor, frame.bk)
            other = Function(function.name, frame, function.programs)
            text = "".join(piece for _, piece in other.parts())
            if is_turned:
                text = TURNED.sub(lambda found: f"{found[1]}.T.{found[2]}(axis = {1 - int(found[3])})", text)
            library, ran = built(self.tilec, self.folder, text, target)
            self.known[key] = (library, other)
        return self.known[key]


def compiled(tilec, folder, functions):
    """The library, the functions in it with the programs that were not refused, and those that were, with the diagnostic's code."""
    refused = []
    while True:
        functions = [f for f in functions if f.programs]
        if not functions:
            return None, [], refused
        owners, text = [], ""
        for f in functions:
            for program, piece in f.parts():
                text += piece
                owners.append((text.count("\n"), f, program))
        library, ran = built(tilec, folder, text)
        if library:
            return library, functions, refused
        bad = {}
        for line, code in re.findall(r"^k\.tile:(\d+):.*error.*\[(T\d+)\]", ran.stdout + ran.stderr, re.M):
            _, f, program = next(owner for owner in owners if int(line) <= owner[0])
            bad.setdefault(id(program), (f, program, code))
        if not bad or id(None) in bad:
            raise SystemExit(f"tilec failed: {ran.returncode}\n{ran.stdout}{ran.stderr}"[:2000])
        for f, program, code in bad.values():
            f.programs = [p for p in f.programs if p is not program]
            refused.append((program, code))


def bits(numbers, kind):
    """As memory holds them; of bf16 there is no type."""
    with np.errstate(all="ignore"):
        if kind == "bf16":
            return np.ascontiguousarray((numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16))
        if kind in GREATEST:
            return numbers.astype(TYPES[kind])
        return numbers.astype(np.int64).astype(TYPES[kind])


def floats(array, kind):
    return (array.astype(np.uint32) << 16).view(np.float32) if kind == "bf16" else array


def numbers(rng, shape, how, frame):
    """Small whole numbers, and, by chance, some that are special. Where readings add up in another order, those that are greatest or least
    stand in a line of their own."""
    kind = frame.float
    x = rng.randint(-3, 4, size=shape).astype(np.float64)
    special = [np.inf, -np.inf, np.nan, 0.0, -0.0] + ([] if frame.is_exact else [GREATEST[kind], -GREATEST[kind], LEAST[kind], -LEAST[kind]])
    lines = special + ([1e-42] if frame.is_exact else [])
    if how in (1, 2):
        mask = rng.random_sample(shape) < (0.15 if how == 1 else 0.5)
        x[mask] = rng.choice(special, size=int(mask.sum()))
    if how == 3:
        x[rng.randint(x.shape[0])] = rng.choice(lines)
    if how == 4:
        x[...] = rng.choice(lines)
    if how == 5:
        x *= 0.37 if not frame.is_exact else 1
    return x


def data(rng, how, frame):
    m, n = frame.m, frame.n
    given = {"x": numbers(rng, (m, n), how, frame), "y": numbers(rng, (m, n), how, frame), "w": numbers(rng, (m,), how, frame), "v": numbers(rng, (n,), how, frame)}
    whole = np.iinfo(TYPES[frame.whole])
    given["n"] = rng.randint(0 if whole.min == 0 else -3, 4, size=(m, n))
    if how == 0:
        given["n"][given["n"] == 0] = 2  # no division is reported
    if how == 4:
        given["n"][...] = rng.choice([whole.min, whole.max])
    if how == 2:
        given["n"] = rng.randint(whole.min, whole.max, size=(m, n), dtype=np.int64)
    given["s"] = np.array([float(rng.choice([1, -2, 0.5, np.inf, np.nan, 0])) if how else 2.0])
    return given


class Call:
    """A reading's arguments. Of `masked`, tensors are as large as tiles: what they hold outside of `places`, rows and columns, must not matter."""

    def __init__(self, function, given, shape, rng, places=None):
        is_masked, places = places is not None, places or [np.arange(e) for e in shape]
        frame, self.outs = function.frame, [out for program in function.programs for out in program.outs]
        self.results, self.keep, arguments = [], [], []
        for name in "xynwv":
            kind, small = frame.whole if name == "n" else frame.float, given[name]
            extents = {2: shape, 1: shape[:1] if name == "w" else shape[1:]}[small.ndim]
            large = np.ones(extents) if name == "n" else rng.choice([1.0, -2.0, 0.5, 3.0, np.nan, np.inf], size=extents)
            large[np.ix_(*({2: places, 1: places[:1] if name == "w" else places[1:]}[small.ndim]))] = small
            self.keep.append(bits(large, kind))
            arguments.append(ctypes.c_void_p(self.keep[-1].ctypes.data))
        arguments.append(SCALARS[frame.float](bits(given["s"], frame.float)[0].item()) if frame.float != "f16" else ctypes.c_uint16(int(bits(given["s"], "f16").view(np.uint16)[0])))
        for _, kind, axes, *_ in self.outs:
            self.results.append(np.full(tuple({"M": shape[0], "N": shape[1], "1": 1}[a] for a in axes), 77, TYPES[kind]))
            arguments.append(ctypes.c_void_p(self.results[-1].ctypes.data))
        if is_masked:
            inside = np.zeros(shape, np.int32)
            inside[np.ix_(*places)] = 1
            self.keep += [inside, inside.max(axis=1), inside.max(axis=0)]
            arguments += [ctypes.c_void_p(a.ctypes.data) for a in self.keep[-3:]]
        self.arguments = arguments

    def run(self, entry, extents):
        return entry(*self.arguments, *(ctypes.c_int64(e) for e in extents), None)


WORD, ASSIGNED = re.compile(r"\w+"), re.compile(r"\b(\w+)(?:: [^=;]*|\.tile\([^;]*?\)|\[[^;]*?\])? \+?= |atomic_\w+\((\w+)")


@functools.cache
def of_products(text):
    """The names in it that hang on a product of elements."""
    made, lines = set(), text.split("\n")
    while True:
        before = len(made)
        for line in lines:
            words = set(WORD.findall(line))
            if words & (made | {"prod", "cumprod"}):
                made |= {name for pair in ASSIGNED.findall(line) for name in pair if name}
        if len(made) == before:
            return made


ADDS_UP = re.compile(r"\b(cum)?(sum|prod)\(| @ ")


def agree(a, b, kind, has_product=False, is_hoped=False):
    """Of products of elements it is free whether greatest numbers meet before a zero does: NaN or 0. Where it is hoped that numbers stay finite, `a`
    is not where they do not, as behind a division by 0."""
    if kind not in GREATEST:
        return np.array_equal(a, b)
    a, b = floats(a, kind).astype(np.float64), floats(b, kind).astype(np.float64)
    tolerance = 1e-4 if kind in ("f32", "f64") else 1e-2
    with np.errstate(all="ignore"):
        both = np.isfinite(a) & np.isfinite(b)
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (both & (np.abs(a - b) <= tolerance * np.maximum(1, np.abs(a)))) | (has_product & (np.isnan(a) | np.isnan(b))) | (is_hoped & ~np.isfinite(a))
    return bool(same.all())


def entries(library, function):
    return getattr(library, function.name + "_over"), getattr(library, function.name + ("_exact" if function.frame.is_exact else "_masked"))


class Results:
    """Of one call with both readings. `spread`: of the second one alone, whose rows and columns stand anywhere in tiles, in their order, but
    for rows that are `shuffled`: then indices of rows tell nothing. `tamed`: of small numbers in the place of the greatest."""

    def __init__(self, entry_pair, function, how, spread=None, shuffled=False, tamed=False):
        frame, rng = function.frame, np.random.RandomState(sum(map(ord, function.name)) + 1000 * how)
        self.given, extents = data(rng, how, frame), (frame.m, frame.n)
        for name, x in self.given.items() if tamed else ():
            self.given[name] = np.where(np.isfinite(x) & (np.abs(x) >= GREATEST[frame.float] / 4), 5 * np.sign(x), x)
        shape = extents if frame.is_exact else (frame.bm, frame.bn)
        places = [np.sort(spread.permutation(s)[:e]) if spread else np.arange(e) for s, e in zip(shape, extents)]
        if shuffled:
            places[0] = spread.permutation(places[0])
        right = Call(function, self.given, shape, rng, None if frame.is_exact else places)
        left = Call(function, self.given, extents, rng)
        self.status = [left.run(entry_pair[0], extents), right.run(entry_pair[1], () if frame.is_exact else shape if spread else extents)]
        at = {"M": places[0], "N": places[1], "1": np.arange(1)}
        self.pairs = {}
        for (name, _, axes, _, index), a, b in zip(left.outs, left.results, right.results):
            b = b[np.ix_(*(at[axis] for axis in axes))]
            self.pairs[name] = (a, np.searchsorted(at[index], b) if index in at else b)


def judged(library, function, build):
    """For each program whose results tell where the edge is, a text that says so."""
    frame, found = function.frame, {}
    for how in range(CALLS):
        now = Results(entries(library, function), function, how)
        for program in function.programs:
            for out, kind, _, is_hoped, index in program.outs:
                a, b = now.pairs[out]
                agrees = now.status[0] == now.status[1] and agree(a, b, kind, out in of_products(program.over), is_hoped)
                has_order = kind not in GREATEST or ".cum" in program.over
                is_placed = program.has_places or index == "BK"
                if agrees or (is_hoped and how) or program.name in found or hangs_on_order(function, is_placed, has_order, out, kind, how, now, build):
                    continue
                if frame.is_exact and not is_placed and index is None and ADDS_UP.search(program.over) and hangs_on_lines(library, function, out, how, now):
                    continue
                # Numbers that stand in their places cannot be given another order: of what adds up, the greatest are left out.
                if is_placed and ADDS_UP.search(program.over) and agree(*Results(entries(library, function), function, how, tamed=True).pairs[out], kind):
                    continue
                found[program.name] = (f"--- {program.name}: M, N = {frame.m, frame.n}, tiles of {frame.text}, {frame.float}, {frame.whole}\n{program.over}"
                                       f"call {how}, s = {now.given['s']}, {out}, status {now.status}:\n{floats(a, kind)}\nwithout an edge:\n{floats(b, kind)}\n"
                                       + "\n".join(f"{k} = {v}" for k, v in now.given.items()))
    return list(found.values())


def hangs_on_lines(library, function, out, how, now):
    """Of `exact`: sums that are none, 1/3 + 1/2 - 1/2 or 3 + 1e-42 - 3, and what they decide. What it gives otherwise, when the rows and columns
    stand in another order, proves nothing."""
    frame, rng = function.frame, np.random.RandomState(0)
    _, kind, axes, *_ = next(o for program in function.programs for o in program.outs if o[0] == out)
    for turn in range(12):
        order = np.random.RandomState(turn)
        at = {"M": order.permutation(frame.m), "N": order.permutation(frame.n), "1": np.arange(1)}
        given = dict(now.given, **{name: now.given[name][np.ix_(*(at[axis] for axis in of))] for name, of in (("x", "MN"), ("y", "MN"), ("n", "MN"), ("w", "M"), ("v", "N"))})
        call = Call(function, given, (frame.m, frame.n), rng)
        if call.run(entries(library, function)[1], ()):
            continue
        result = next(r for (name, *_), r in zip(call.outs, call.results) if name == out)
        if not agree(now.pairs[out][1][np.ix_(*(at[axis] for axis in axes))], result, kind):
            return True
    return False


def hangs_on_order(function, is_placed, has_order, out, kind, how, now, build):
    """The order of sums is free, and numbers like the greatest one bring it to light: 3e38 + 3e38 - 3e38. What the second reading itself
    gives otherwise, when its tiles are larger, its vectors shorter, or the numbers stand elsewhere in them, proves nothing."""
    if function.frame.is_exact or now.status[0] != now.status[1]:
        return False
    ways = [("x86-64-v3", 2), ("x86-64", 2), ("x86-64", 1), ("x86-64-v3", 4)]
    for target, factor, is_turned in [(*way, False) for way in ways] + [(*way, True) for way in ways]:
        library, larger = build(function, target, factor, is_turned)
        # Larger tiles can be refused where tiles were not.
        for turn in range(14 if library else 0):
            spread = np.random.RandomState(turn) if turn and not is_placed else None
            shuffled = turn > 5 and spread is not None and not has_order
            if not agree(now.pairs[out][1], Results(entries(library, larger), larger, how, spread, shuffled).pairs[out][1], kind):
                return True
    return False
