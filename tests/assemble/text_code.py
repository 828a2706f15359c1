"""What the text of a function says of its loops."""
import re

import machine_code

LABEL = re.compile(r"^\s*([$\w]+):\s*$")
BRANCH = re.compile(r"^\s*(@!?%\w+\s+)?bra(?:\.uni)?\s+([$\w]+)\s*;")
ENDS = re.compile(r"^\s*(?:ret|exit|trap)\s*;")
# What other blocks of a cluster wait for: arriving at the cluster's barrier releases unless it says `relaxed`.
RELEASE = re.compile(r"\.(?:release|acq_rel|sc)\.cluster\b|\bbarrier\.cluster\.arrive(?!\.relaxed)|\bfence\.cluster\b")


def cluster_releases_in_loops(body):
    """How many instructions of a function tell other blocks of its cluster of writes, in a loop."""
    lines = body.splitlines()
    if not any(RELEASE.search(line) for line in lines):
        return 0
    labels = {found[1]: i for i, line in enumerate(lines) if (found := LABEL.match(line))}
    ways = []
    for i, line in enumerate(lines):
        branch = BRANCH.match(line)
        goes_on = not (branch and not branch[1]) and not ENDS.match(line)
        to = [labels[branch[2]]] if branch else []
        ways.append([n for n in ([i + 1] if goes_on else []) + to if n < len(lines)])
    return sum(RELEASE.search(lines[i]) is not None for i in machine_code.in_loops(ways))
