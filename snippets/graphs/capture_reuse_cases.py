"""Six captures as steps: s1 may reuse x where every node with a star runs before s1's next."""


def run(steps):
    """Return the markers (last on each stream at the free), s1's terminals, and its past."""
    behind, last = {}, {"s1": set(), "s2": set()}

    def past(stream):
        return set().union(*(behind[node] for node in last[stream]))

    for step in steps:
        stream, action = step.split(" ", 1)
        if step == "free x":
            markers = last["s1"] | last["s2"]
        elif action.startswith("waits"):
            last[stream] = last[stream] | last[action.removeprefix("waits ")]
        else:
            behind[step] = past(stream) | {step}
            last[stream] = {step}
    return markers, last["s1"], past("s1")


def line(steps, markers, terminals):
    """The steps in their order: a star is a marker, a ring a node that s1's next is attached to."""
    return " > ".join(step + "*" * (step in markers) + "°" * (step in terminals) for step in steps)


opening = ["s1 new", "s2 waits s1", "s1 f(x)", "s2 g(x)"]
cases = {
    "0  no join": ["free x"],
    "1  s1 waits for s2": ["free x", "s1 waits s2"],
    "2  s2 waits for s1": ["free x", "s2 waits s1"],
    "3  both wait": ["free x", "s1 waits s2", "s2 waits s1"],
    "4  join, then free": ["s1 waits s2", "s1 h", "free x"],
    "5  join, s2 goes on, then free": ["s1 waits s2", "s2 h", "free x"],
}
for case, steps in cases.items():
    markers, terminals, past = run(opening + steps)
    print(f"case {case}")
    print("    " + line([*opening, *steps, "s1 y?"], markers, terminals))
    missing = " and ".join(sorted(markers - past))
    verdict = f"no, {missing} may still run" if missing else "yes"
    print(f"    y may take the block of x: {verdict}\n")

# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.capture]
# title = "Six captures, step by step"
#
# [tool.capture.values]
# case_0 = '^case 0.*\n.*\n +y may take the block of x: (.+)'
# case_1 = '^case 1.*\n.*\n +y may take the block of x: (.+)'
# case_2 = '^case 2.*\n.*\n +y may take the block of x: (.+)'
# case_3 = '^case 3.*\n.*\n +y may take the block of x: (.+)'
# case_4 = '^case 4.*\n.*\n +y may take the block of x: (.+)'
# case_5 = '^case 5.*\n.*\n +y may take the block of x: (.+)'
# steps_0 = '^case 0 .*\n +(s1 .+)'
# steps_1 = '^case 1 .*\n +(s1 .+)'
# steps_2 = '^case 2 .*\n +(s1 .+)'
# steps_3 = '^case 3 .*\n +(s1 .+)'
# steps_4 = '^case 4 .*\n +(s1 .+)'
# steps_5 = '^case 5 .*\n +(s1 .+)'
#
# [tool.capture.claims.the-allocating-stream-must-wait]
# says  = "a wait of s1 for s2 frees the block for s1, a wait of s2 for s1 does not"
# holds = 'case_1 == "yes" and case_2 != "yes"'
#
# [tool.capture.claims.free-before-the-other-goes-on]
# says  = "a join before the free is enough, unless the other stream has gone on meanwhile"
# holds = 'case_4 == "yes" and case_5 != "yes"'
# ///
