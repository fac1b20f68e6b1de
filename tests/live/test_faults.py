#!/usr/bin/env python3
"""What was injected is in the history: kind, whom it struck, and when.

    tests/live/test_faults.py PROGRAM

Each fault is injected alone and read back from the recorded text.  The notes
must be as many as the program counted, agree one by one with what it said
meanwhile, and with what the clients saw: a server that was killed or stopped
answers nobody from the begin of its note to the end, a stopped client does
nothing, a client that was cut or killed goes on as another session.  What the
system does not allow is skipped with the reason.

A hundred clients (processes) of SQLite are killed, and ten servers: the verdict
is right each time.  (Kills of the program itself are in test_run.c.)

Read back as well: what a standby serves of a workload whose transactions all
write, those of odd clients that end before their first write.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

failures = 0
program = os.path.abspath(sys.argv[1])
scratch = tempfile.mkdtemp(prefix="hf-faults-")
EVERY = 1.2  # seconds; a fault lasts for a third of that
MARGIN = 150 * 1000 * 1000  # ns: an answer may be on its way

# database, fault, program that is needed, whom it may strike
CASES = [
    ("sqlite", "cut-client", None, r"client \d"),
    ("store", "cut-client", None, r"client \d"),
    ("sqlite-processes", "kill", None, r"client \d"),
    ("sqlite-processes", "pause", None, r"client \d"),
    ("postgres", "kill", "pg_config", "the server"),
    ("postgres", "pause", "pg_config", "the server"),
    ("postgres", "restart", "pg_config", "the server"),
    ("postgres", "cut-client", "pg_config", r"client \d"),
    ("postgres-standby", "partition", "pg_config", "primary from standby"),
    ("postgres-standby", "kill", "pg_config", "the primary|the standby"),
    ("mariadb", "kill", "mariadbd", "the server"),
]


def complain(text, *more):
    global failures
    failures += 1
    print("FAILED: " + text)
    for one in more:
        print("  | %s" % (one,))


def read(path):
    notes, transactions = [], []
    with open(path) as f:
        for line in f:
            t = json.loads(line)
            if t.get("session") == "faults":
                notes.append(t)
            elif "session" in t:
                transactions.append(t)
    return notes, transactions


# When somebody was answered, and who: of sessions "3", "3.1", ... client 3.
def answers(transactions):
    for t in transactions:
        for op in t["ops"]:
            at = op.get("at") if isinstance(op, dict) else None
            if at and at[1] is not None:
                yield int(str(t["session"]).split(".")[0]), at[1]


def check_silence(what, note, whom, seen):
    # a killed server is started again before the note ends
    begin = note["begin"] + MARGIN
    end = min(note["end"] - MARGIN, note["begin"] + int(EVERY / 3 * 1e9))
    client = int(whom.split()[1]) if whom.startswith("client") else None
    loud = [a for a in seen if begin < a[1] < end and client in (None, a[0])]
    if loud:
        complain("%s: answers between %d and %d" % (what, begin, end),
                 *loud[:3])


# A client that lost its connection at that time is another session then.
def check_cut(what, note, whom, transactions):
    client = int(whom.split()[1])
    later = {str(t["session"]) for t in transactions
             if t["begin"] > note["begin"] and
             int(str(t["session"]).split(".")[0]) == client}
    before = {str(t["session"]) for t in transactions
              if t["begin"] < note["begin"] - MARGIN and
              int(str(t["session"]).split(".")[0]) == client}
    last = max((t["begin"] for t in transactions), default=0)
    if note["end"] < last - 10 * MARGIN and not later - before:
        complain("%s: client %d has no new session" % (what, client),
                 before, later)


def one(db, fault, pattern):
    what = "%s, %s" % (db, fault)
    path = os.path.join(scratch, "h.jsonl")
    done = subprocess.run(
        [program, "run", "--db", db, "-w", "bank", "-c", "4", "-t", "3.5s",
         "--faults", fault, "--fault-every", "%gs" % EVERY, "--seed", "5",
         "--json", "-o", path, "--force"], capture_output=True, text=True,
        timeout=200)
    if done.returncode == 2 and "is not possible" in done.stderr:
        print("skip: " + done.stderr.strip())
        return
    if done.returncode != 0:
        complain("%s: status %d" % (what, done.returncode), done.stderr)
        return
    said = re.findall(r"fault after ([\d.]+) s: ([\w-]+), (.*)", done.stderr)
    counted = json.loads(done.stdout.splitlines()[-1])["faults"]
    notes, transactions = read(path)
    if not notes or not len(notes) == counted == len(said):
        complain("%s: %d notes, %d counted, %d said" % (
            what, len(notes), counted, len(said)))
        return
    notes.sort(key=lambda n: n["begin"])
    seen = list(answers(transactions))
    first = min(t["begin"] for t in transactions)
    for note, (when, kind, whom) in zip(notes, said):
        text = note["ops"][0]["text"]
        if text != "-- fault: %s, %s" % (kind, whom) or kind != fault:
            complain("%s: the note is %r" % (what, text), said)
        if not re.fullmatch(pattern, whom):
            complain("%s: struck %r" % (what, whom))
        if note["outcome"] != "aborted" or not note["begin"] < note["end"]:
            complain("%s: %r" % (what, note))
        if abs((note["begin"] - first) / 1e9 - float(when)) > 0.3:
            complain("%s: after %s s, but the note begins at %d, clients at "
                     "%d" % (what, when, note["begin"], first))
        if fault in ("kill", "pause") and whom == "the server" or \
                fault == "pause":
            check_silence(what, note, whom, seen)
        if whom.startswith("client") and fault != "pause":
            check_cut(what, note, whom, transactions)
    print("%s: %d notes" % (what, len(notes)))


# The verdict about runs with so many kills in all.
def kills(db, every, seconds, wanted):
    done = 0
    for _ in range(6):
        place = os.path.join(scratch, "kills")
        ended = subprocess.run(
            [program, "test", "--db", db, "-w", "bank", "-c", "6", "-t",
             seconds, "--faults", "kill", "--fault-every", every, "--json",
             "--expect", "valid", "-o", place], capture_output=True, text=True,
            timeout=300)
        if ended.returncode != 0:
            complain("%s, kills: status %d" % (db, ended.returncode),
                     ended.stdout[-300:], ended.stderr[-300:])
            return
        run = json.loads(ended.stdout.splitlines()[0])
        done += run["faults"]
        if run["broken"] or run["committed"] == 0:
            complain("%s, kills: %s" % (db, run))
        shutil.rmtree(place)
        if done >= wanted:
            break
    if done < wanted:
        complain("%s: %d kills only" % (db, done))
    print("%s: %d kills, valid" % (db, done))


def standby_reads():
    path = os.path.join(scratch, "h.jsonl")
    done = subprocess.run(
        [program, "run", "--db", "postgres-standby", "-w", "write-skew",
         "-c", "4", "-t", "2s", "-o", path, "--force"], capture_output=True,
        text=True, timeout=200)
    if done.returncode != 0 or "ends before its first write" not in \
            done.stderr or "served no read" in done.stderr:
        complain("standby: status %d" % done.returncode, done.stderr)
        return
    looks = [0, 0]  # of even and odd clients
    for t in read(path)[1]:
        kinds = {op["op"] for op in t["ops"]}
        if t.get("outcome", "committed") == "committed" and "w" not in kinds:
            looks[int(str(t["session"]).split(".")[0]) % 2] += "r" in kinds
    if looks[0] != 0 or looks[1] == 0:
        complain("standby: %d and %d transactions only read" % tuple(looks))
    print("standby: %d transactions only read" % looks[1])


def main():
    try:
        for db, fault, needs, pattern in CASES:
            if needs and not shutil.which(needs):
                print("skip: %s: no program %s" % (db, needs))
                continue
            one(db, fault, pattern)
        kills("sqlite-processes", "50ms", "6s", 100)
        if shutil.which("pg_config"):
            kills("postgres", "400ms", "8s", 10)
        if shutil.which("pg_config"):
            standby_reads()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("%d failures" % failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
