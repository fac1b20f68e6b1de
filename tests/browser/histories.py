"""Histories that the tests of the page show."""
import json
import random

EVIL = "</script><img src=x onerror=\"document.title='owned'\"><!--"
CLIENTS = 6


def line(**fields):
    return json.dumps(fields)


class Maker:
    """Clients that run one transaction after the other; what they do happens
    in the order of the calls, so that it is serializable."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = [line(holdfast=1, time="ns", name=EVIL)]
        self.now = {}
        self.values = {}
        self.last = 0

    def span(self, session, length):
        begin = max(self.now.get(session, 0), self.last)
        begin += self.random.randrange(1000, 40000)
        self.now[session] = begin + length
        return begin, begin + length

    def transaction(self, session, ops, outcome="committed", length=None,
                    span=None):
        length = length or self.random.randrange(150000, 900000)
        begin, end = span or self.span(session, length)
        fields = {"session": session, "ops": [], "begin": begin}
        if outcome != "unknown":
            fields["end"] = end
        step = (end - begin) // (len(ops) + 1)
        for i, (kind, key, value) in enumerate(ops):
            at = begin + i * step
            fields["ops"].append({"op": kind, "key": key, "value": value,
                                  "at": [at, at + step // 2]})
        fields["outcome"] = outcome
        self.lines.append(line(**fields))
        return begin, end

    def plain(self, session, n, outcome):
        key = "k%d" % self.random.randrange(200)
        ops = [("r", key, self.values.get(key)), ("w", key, n)]
        if outcome == "committed":
            self.values[key] = n
        self.transaction(session, ops, outcome)
        self.last = max(self.last, self.now[session] - 1200000)

    def fault(self, text, at, length):
        self.lines.append(line(session="faults", outcome="aborted", begin=at,
                               end=at + length, ops=[
                                   {"op": "sql", "text": text,
                                    "at": [at, at + length]}]))


def run(n=6000, skew=True, seed=7):
    """Some thousand transactions of six clients with names that are meant to
    do harm, faults, an unknown outcome after which a client connects again,
    and in the middle a write skew."""
    m = Maker(seed)
    sessions = list(range(CLIENTS - 1)) + [EVIL]
    for i in range(1, n + 1):
        session = sessions[i % len(sessions)]
        outcome = "aborted" if m.random.random() < 0.06 else "committed"
        if i == n // 3:
            m.fault("-- kill: server 0", m.last, 4000000)
            m.transaction(2, [("w", "lost" + EVIL, 1)], "unknown")
            m.now["2.1"] = m.now[2]
            sessions[2] = "2.1"
        if i == n // 4 * 3:
            m.fault("-- pause " + EVIL, m.last, 2500000)
        m.plain(session, i, outcome)
        if skew and i == n // 2:
            begin = max(m.now.values()) + 1000
            x, y = "x" + EVIL, "y"
            for session, written in ((1, x), (3, y)):
                m.transaction(session, [("r", x, None), ("r", y, None),
                                        ("w", written, EVIL)],
                              span=(begin + 50000 * session,
                                    begin + 50000 * session + 800000))
            m.last = begin + 1000000
            for session in m.now:
                m.now[session] = max(m.now[session], m.last)
    return "\n".join(m.lines) + "\n"


def many_sessions():
    """Each transaction is a session of its own, without times."""
    lines = [line(session="s%d" % i, ops=[["w", "k%d" % i, 1]])
             for i in range(300)]
    return "\n".join(lines) + "\n"


def ring(n=9):
    """A circle of n transactions: each reads what the next one overwrites."""
    lines = [line(session=i, ops=[["r", "k%d" % i, None],
                                  ["w", "k%d" % ((i + 1) % n), i + 1]])
             for i in range(n)]
    return "\n".join(lines) + "\n"


def dirty():
    """A read of what an aborted transaction wrote."""
    return "\n".join([
        line(session="a", ops=[["w", "x", EVIL]], outcome="aborted"),
        line(session="b", ops=[["r", "x", EVIL], ["w", "z", 1]])]) + "\n"


def choices():
    """Nobody says in which order x was written, but no order will do."""
    return "\n".join(line(session=name, ops=ops) for name, ops in [
        ("a", [["w", "x", 1]]), ("b", [["w", "x", 2]]),
        ("c", [["r", "x", 1], ["w", "y", 1]]),
        ("d", [["r", "y", 1], ["r", "x", 2]]),
        ("e", [["r", "x", 2], ["w", "z", 1]]),
        ("f", [["r", "z", 1], ["r", "x", 1]])]) + "\n"


def statements():
    """A statement that nobody judges."""
    return line(session="a", ops=[{"op": "sql", "text": EVIL}],
                begin=1, end=9) + "\n"
