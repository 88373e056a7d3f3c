"""During capture a freed block may be reused once every new operation runs after its last uses."""


class Capture:
    def __init__(self):
        self.behind = {}  # node -> the nodes that run before it, and itself
        self.terminals = {"s1": set(), "s2": set()}  # what the next operation attaches to

    def op(self, stream, name):
        self.behind[name] = self.reach(stream) | {name}
        self.terminals[stream] = {name}

    def wait(self, stream, other):  # adds dependencies and no node
        self.terminals[stream] = self.terminals[stream] | self.terminals[other]

    def free(self, empty_nodes):  # the markers: an empty node on each stream, or what is last there
        if empty_nodes:
            for stream in self.terminals:
                self.op(stream, f"marker on {stream}")
        return set().union(*self.terminals.values())

    def reach(self, stream):  # all that the next operation on the stream runs after
        return set().union(*(self.behind[node] for node in self.terminals[stream]))

    def before_all(self, markers, stream):
        return all(markers <= self.behind[node] for node in self.terminals[stream])


def run(steps, empty_nodes):
    capture = Capture()
    for step in ["s1 make x", "s2 waits s1", "s1 f1(x)", "s2 f2(x)", *steps]:
        stream, name = step.split(" ", 1)
        if step == "free x":
            markers = capture.free(empty_nodes)
        elif name.startswith("waits "):
            capture.wait(stream, name.removeprefix("waits "))
        else:
            capture.op(stream, name)
    return capture, markers


cases = {"0 no join": ["free x"], "1 s1 waits for s2": ["free x", "s1 waits s2"]}
cases |= {"2 s2 waits for s1": ["free x", "s2 waits s1"]}
cases |= {"3 both wait": ["free x", "s1 waits s2", "s2 waits s1"]}
cases |= {"4 join, then free": ["s1 waits s2", "s1 g1", "free x"]}
cases |= {"5 join, s2 goes on": ["s1 waits s2", "s2 g2", "free x"]}
names, yes = ("strong", "stream", "shipped", "safe"), [0, 0, 0, 0]
print(f"{'may s1 reuse x?':20s}{'asked':10s}{'terminals':11s}yes by")
for case, steps in cases.items():
    for asked, more in {"at once": [], "op later": ["s1 next", "s2 also next"]}.items():
        capture, markers = run(steps + more, empty_nodes=True)
        stream = capture.before_all(markers, "s1")
        now, its_markers = run(steps + more, empty_nodes=False)
        rules = [stream and capture.before_all(markers, "s2"), stream]
        rules += [its_markers <= now.reach("s1"), {"f1(x)", "f2(x)"} <= now.reach("s1")]
        assert rules == sorted(rules)  # each rule allows all that the one to its left allows
        yes = [a + b for a, b in zip(yes, rules, strict=True)]
        agree = ", ".join(name for name, allowed in zip(names, rules, strict=True) if allowed)
        print(f"{case:20s}{asked:10s}{len(capture.terminals['s1']):<11d}{agree or 'none'}")
print(f"yes of {2 * len(cases)}: strong {yes[0]}, stream {yes[1]}, shipped {yes[2]}, safe {yes[3]}")

# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.capture]
# title = "Four rules for reuse during capture, six cases"
#
# [tool.capture.values]
# once_0 = '^0 .* at once +\d+ +(.+)'
# later_0 = '^0 .* op later +\d+ +(.+)'
# once_1 = '^1 .* at once +\d+ +(.+)'
# later_1 = '^1 .* op later +\d+ +(.+)'
# once_2 = '^2 .* at once +\d+ +(.+)'
# later_2 = '^2 .* op later +\d+ +(.+)'
# once_3 = '^3 .* at once +\d+ +(.+)'
# later_3 = '^3 .* op later +\d+ +(.+)'
# once_4 = '^4 .* at once +\d+ +(.+)'
# later_4 = '^4 .* op later +\d+ +(.+)'
# once_5 = '^5 .* at once +\d+ +(.+)'
# later_5 = '^5 .* op later +\d+ +(.+)'
# join_terminals = '^1 s1 waits for s2 +at once +(\d+)'
# later_terminals = '^1 s1 waits for s2 +op later +(\d+)'
# questions = '^yes of (\d+):'
# strong = 'strong (\d+),'
# stream = 'stream (\d+),'
# shipped = 'shipped (\d+),'
# safe = 'safe (\d+)$'
#
# [tool.capture.claims.each-rule-allows-more]
# says  = "the strong rule allows less than the per-stream rule, that less than the shipped rule"
# holds = "strong < stream and stream < shipped"
#
# [tool.capture.claims.the-shipped-rule-is-cautious]
# says  = "the shipped rule refuses some reuse that would be safe"
# holds = "shipped < safe"
#
# [tool.capture.claims.two-terminals-at-the-join]
# says  = "at the join the stream has two terminals, one operation later it has one"
# holds = "join_terminals == 2 and later_terminals == 1"
# ///
