"""What an image says that its assembler does not: which instructions of a function run in a loop.

Instructions are 16 bytes each. The low 12 bits say which it is, the next four under which predicate it runs (7: always). A branch has its
distance, in units of 4 bytes from the next instruction, in bits 34 to 81, from generation 9 on with eight lower ones in bits 16 to 23; it
may have a second predicate in bits 87 to 90. Found out by looking: who meets a branch that leads elsewhere has found another encoding.
"""
import struct

BYTES = 16
LOAD_STACK, STORE_STACK, BRANCH, END = 0x983, 0x387, 0x947, 0x94D
ALWAYS = 7


def sections(image):
    """The contents of each section by its name."""
    start, = struct.unpack_from("<Q", image, 40)
    count, names = struct.unpack_from("<HH", image, 60)
    rows = [struct.unpack_from("<IIQQQQIIQQ", image, start + 64 * i) for i in range(count)]
    text = rows[names][4]
    return {image[text + row[0]:image.index(b"\0", text + row[0])].decode(): image[row[4]:row[4] + row[5]] for row in rows if row[1] != 8}


def in_loops(ways):
    """The nodes of a graph that a path leads back to: `ways` has the nodes behind each."""
    # Tarjan's components, without recursion.
    order, low, stack, on_stack, found = {}, {}, [], set(), set()
    for root in range(len(ways)):
        if root in order:
            continue
        work = [(root, iter(ways[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for to in rest:
                if to not in order:
                    order[to] = low[to] = len(order)
                    stack.append(to)
                    on_stack.add(to)
                    work.append((to, iter(ways[to])))
                    break
                if to in on_stack:
                    low[node] = min(low[node], order[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    part = []
                    while not part or part[-1] != node:
                        part.append(stack.pop())
                        on_stack.discard(part[-1])
                    if len(part) > 1 or node in ways[node]:
                        found.update(part)
    return found


def decoded(code, generation):
    """(what, under no condition, index of the instruction that a branch leads to) of each instruction."""
    found = []
    for at in range(0, len(code) - BYTES + 1, BYTES):
        word = int.from_bytes(code[at:at + BYTES], "little")
        what, is_always, to = word & 0xFFF, word >> 12 & 15 == ALWAYS, None
        if what == BRANCH:
            distance = word >> 34 & (1 << 48) - 1
            distance -= (distance >> 47) << 48
            if generation >= 90:
                distance = distance << 8 | word >> 16 & 0xFF
            to = (at + BYTES + 4 * distance) // BYTES
            is_always &= word >> 87 & 15 == ALWAYS
            assert (at + BYTES + 4 * distance) % BYTES == 0 and 0 <= to <= len(code) // BYTES, f"a branch at {at} leads out of its function"
        found.append((what, is_always, to))
    return found


def stack_accesses_in_loops(image, generation):
    """How many instructions of each function load from the stack, or store to it, in a loop."""
    counts = {}
    for name, code in sections(image).items():
        if not name.startswith(".text."):
            continue
        instructions = decoded(code, generation)
        ways = []
        for i, (what, is_always, to) in enumerate(instructions):
            goes_on = [] if is_always and what in (BRANCH, END) else [i + 1]
            ways.append([n for n in goes_on + ([to] if what == BRANCH else []) if n < len(instructions)])
        looping = in_loops(ways)
        counts[name.removeprefix(".text.")] = sum(instructions[i][0] in (LOAD_STACK, STORE_STACK) for i in looping)
    return counts
