#!/usr/bin/env python3
"""What gate.py reads out of texts and images, and what it says of it. Needs no assembler."""
import contextlib
import io
import unittest

import gate
import machine_code
import text_code


def instruction(what, to=None, predicate=7, generation=80):
    """Sixteen bytes; `to`: the distance of a branch in instructions from the next one."""
    word = what | predicate << 12 | 7 << 87
    if to is not None:
        units = to * 4
        word |= (units >> 8 & (1 << 48) - 1) << 34 | (units & 0xFF) << 16 if generation >= 90 else (units & (1 << 48) - 1) << 34
    return word.to_bytes(16, "little")


LOOP = """
\tmov.u32 %r1, 0;
$L__BB0_1:
\tINSIDE;
\t@%p1 bra $L__BB0_1;
\tBEHIND;
\tbra.uni $L__BB0_3;
$L__BB0_2:
\tELSEWHERE;
$L__BB0_3:
\tret;
"""


class Text(unittest.TestCase):
    def releases(self, where, what):
        return text_code.cluster_releases_in_loops(LOOP.replace(where, what))

    def test_a_release_to_the_cluster_counts_in_a_loop_alone(self):
        for what in ("fence.acq_rel.cluster", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1]", "barrier.cluster.arrive.aligned",
                     "fence.mbarrier_init.release.cluster"):
            self.assertEqual(self.releases("INSIDE", what), 1, what)
            self.assertEqual(self.releases("BEHIND", what), 0, what)
            self.assertEqual(self.releases("ELSEWHERE", what), 0, what)
        for what in ("barrier.cluster.arrive.relaxed.aligned", "barrier.cluster.wait.acquire.aligned", "mbarrier.arrive.release.cta.b64 _, [%r1]"):
            self.assertEqual(self.releases("INSIDE", what), 0, what)

    def test_held_up_products_are_told_of(self):
        for words in ("in the function", "in function"):
            line = f"ptxas info    : (C7510) Potential Performance Loss: products are serialized due to something {words} 'f_0_launch0_sm_90a'"
            self.assertEqual(gate.HELD_UP.findall(line), [("C7510", "f_0_launch0_sm_90a")])


class Image(unittest.TestCase):
    def accesses(self, generation, code):
        saved, machine_code.sections = machine_code.sections, lambda image: {".text.f": image, ".nv.info": b""}
        try:
            return machine_code.stack_accesses_in_loops(b"".join(code), generation)["f"]
        finally:
            machine_code.sections = saved

    def test_the_stack_counts_in_loops_alone(self):
        load, store, end = (instruction(what) for what in (machine_code.LOAD_STACK, machine_code.STORE_STACK, machine_code.END))
        for generation in (80, 90):
            back = instruction(machine_code.BRANCH, -3, 0, generation)
            self.assertEqual(self.accesses(generation, [store, load, store, back, load, end]), 2)
            self.assertEqual(self.accesses(generation, [store, load, store, end]), 0)

    def test_a_way_out_of_line_and_back_is_no_loop(self):
        load, end, other = instruction(machine_code.LOAD_STACK), instruction(machine_code.END), instruction(0x100)
        for generation in (80, 90):
            out = instruction(machine_code.BRANCH, 2, 0, generation)    # from 1 to 4
            back = instruction(machine_code.BRANCH, -4, 7, generation)  # from 5 to 2
            self.assertEqual(self.accesses(generation, [other, out, load, end, other, back]), 0)

    def test_a_branch_out_of_its_function_is_another_encoding(self):
        with self.assertRaises(AssertionError):
            self.accesses(80, [instruction(machine_code.BRANCH, 9)])


class Limits(unittest.TestCase):
    def problems(self, counts, limit):
        with contextlib.redirect_stdout(io.StringIO()) as told:
            found = gate.compared({("m", "f"): counts}, {("m", "f"): limit})
        return found, told.getvalue()

    def test_what_is_worse_fails_and_what_is_better_is_told(self):
        limit = dict.fromkeys(gate.RISES + gate.FALLS, 5)
        self.assertEqual(self.problems(dict(limit), limit), ([], ""))
        for what in gate.RISES + gate.FALLS:
            worse, better = (6, 4) if what in gate.RISES else (4, 6)
            self.assertEqual(self.problems(limit | {what: worse}, limit), ([f"m f: {what} {worse}, 5 is the limit"], ""))
            self.assertEqual(self.problems(limit | {what: better}, limit), ([], f"m f: {what} {better}, 5 was recorded: the limit may follow\n"))

    def test_no_limit_allows_the_stack_in_a_loop(self):
        self.assertEqual(gate.stacked("m", {"f": 0, "g": 2}), ["m g: 2 instructions load from the stack or store to it in a loop"])
        self.assertFalse({key for counts in gate.read_record().values() for key in counts} - set(gate.RISES + gate.FALLS))

    def test_a_new_function_has_no_stack(self):
        found, _ = self.problems({"registers": 32, "stack": 8}, {})
        self.assertIn("m f: stack 8, 0 is the limit", found)
        self.assertIn("m f: no limits are recorded for it; --record does", found)


if __name__ == "__main__":
    unittest.main()
