"""The kernels of this folder as text: conversions of every type to every other, `fma`, integers; by tiles and number by number."""
from formats import FLOATS, INTEGERS, TYPES, bits_of
def conversions(s):
    """What can be made of a type: (name of the output, type, how, expression of x)."""
    rows = []
    for t in TYPES:
        if t == s:
            continue
        rows.append((f"as_{t}", t, "as", f"x as {t}"))
        if t in FLOATS and s != "bool":
            rows.append((f"cut_{t}", t, "toward_zero", f"x.convert[{t}, rounding = toward_zero]()"))
        if t in INTEGERS and s in INTEGERS:
            rows.append((f"wrap_{t}", t, "wrap", f"x.wrap[{t}]()"))
        if bits_of(t) == bits_of(s) and "bool" not in (s, t):
            rows.append((f"bits_{t}", t, "bits", f"x.bits[{t}]()"))
    return rows


def arithmetic(t):
    """What integers do: (name of the output, type, expression of a and b)."""
    return [("div", t, "a / b"), ("rem", t, "a % b"), ("shl", t, "a << b"), ("shr", t, "a >> b"), ("add", t, "a + b"), ("sub", t, "a - b"),
            ("mul", t, "a * b"), ("least", t, "min(a, b)"), ("most", t, "max(a, b)"), ("negated", t, "-a"), ("magnitude", t, "abs(a)"),
            ("inverted", t, "~a"), ("ones", t, "popcount(a)"), ("zeros", t, "leading_zeros(a)"), ("less", "bool", "a < b"), ("same", "bool", "a == b")]


def kernel(name, inputs, outputs, tile):
    """Two kernels: `name` by tiles, `name_alone` with one number a block. inputs: (name, type); outputs: (name, type, expression)."""
    parameters = ", ".join([f"of_{x}: {t}[N]" for x, t in inputs] + [f"out {y}: {t}[N]" for y, t, _ in outputs])
    read = "".join(f"        let {x} = of_{x}.tile[{tile}](i, pad = {'true' if t == 'bool' else 1});\n" for x, t in inputs)
    write = "".join(f"        {y}.tile(i) = {e};\n" for y, _, e in outputs)
    text = f"export kernel {name}({parameters}) {{\n    launch (i in ceildiv(N, {tile})) {{\n{read}{write}    }}\n}}\n"
    read = "".join(f"        let {x} = of_{x}[i];\n" for x, _ in inputs)
    write = "".join(f"        {y}[i] = {e};\n" for y, _, e in outputs)
    return text + f"export kernel {name}_alone({parameters}) {{\n    launch (i in N) {{\n{read}{write}    }}\n}}\n"


# What of a line is asked: (name of the output, whether it is an index).
LINES = [("max", False), ("min", False), ("absmax", False), ("argmax", True), ("argmin", True)]


def lines(t):
    """Of lines of 4 and of 37 along either axis."""
    text = ""
    for width in (4, 37):
        for axis, shape in ((1, ("M", width)), (0, (width, "M"))):
            outputs = ", ".join(f"out {y}_: {'i32' if is_index else t}[M]" for y, is_index in LINES)
            tile = f"x.tile[{'16, ' + str(width) if axis else str(width) + ', 16'}]({'i, 0' if axis else '0, i'})"
            body = "".join(f"        {y}_.tile(i) = t.{y}(axis = {axis});\n" for y, _ in LINES)
            body = f"        let t = {tile.replace(')', ', pad = 1)')};\n{body}"
            text += f"export kernel lines{width}_{axis}_{t}(x: {t}[{shape[0]}, {shape[1]}], {outputs}) {{\n    launch (i in ceildiv(M, 16)) {{\n{body}    }}\n}}\n"
    return text


def text(tile):
    parts = [kernel(f"of_{s}", [("x", s)], [(y, t, e) for y, t, _, e in conversions(s)], tile) for s in TYPES]
    parts += [kernel(f"fma_{t}", [("a", t), ("b", t), ("c", t)], [("d", t, "fma(a, b, c)")], tile) for t in FLOATS]
    parts += [kernel(f"int_{t}", [("a", t), ("b", t)], arithmetic(t), tile) for t in INTEGERS]
    parts += [lines(t) for t in TYPES if t != "bool"]
    return "\n".join(parts)
