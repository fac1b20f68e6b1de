#!/usr/bin/env python3
"""What may go wrong with a run, and what is left behind.

    tests/live/test_luck.py PROGRAM

The program is met by full disks, servers of other people (with tables that
must stay as they are), wrong passwords, servers that refuse or die in the
middle, and is itself interrupted and killed.  Every time: one clear line,
status 2 where it failed, the history so far kept and judged rightly, and no
server and no directory left.  What the system does not allow is skipped with
the reason.
"""
import glob
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

failures = 0
program = os.path.abspath(sys.argv[1])
scratch = tempfile.mkdtemp(prefix="hf-luck-", dir="/var/tmp")
root = os.geteuid() == 0
AS = (["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
      if root else [])
PASSWORD = "Sesame99"


def complain(text, said=""):
    global failures
    failures += 1
    print("FAILED: " + text)
    for line in said.splitlines()[:10]:
        print("  | " + line)


def holdfast(*words, **more):
    return subprocess.run([program] + list(words), capture_output=True,
                          text=True, timeout=120, **more)


# It failed with one line that has this text, and no secret.
def bad(text, done, notes=0):
    said = done.stderr
    if done.returncode != 2:
        complain("status %d instead of 2" % done.returncode, said)
    if text not in said or PASSWORD in said + done.stdout:
        complain("expected to read %r" % text, said)
    if len(said.strip().splitlines()) > 1 + notes:
        complain("more than a line", said)


def is_valid(history):
    done = holdfast("check", history)
    if done.returncode != 0:
        complain("the history so far: status %d" % done.returncode,
                 done.stdout + done.stderr)


def path(name):
    return os.path.join(scratch, name)


def wait_until(what, seconds=30):
    until = time.time() + seconds
    while not what():
        if time.time() > until:
            return False
        time.sleep(0.02)
    return True


def size_of(name):
    return os.path.getsize(name) if os.path.exists(name) else 0


# ---- disks ----------------------------------------------------------------

def file_limit():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (400000, 400000))

    bad("File too large", holdfast("run", "--db", "store", "-t", "20s", "-o",
                                   path("limit.hf"), preexec_fn=limit))
    is_valid(path("limit.hf"))


# A file system of so much; None: there is none to be had.
def small_disk(name, size):
    small = path(name)
    os.mkdir(small)
    if root and not subprocess.run(["mount", "-t", "tmpfs", "-o",
                                    "size=" + size, "tmpfs",
                                    small]).returncode:
        return small
    print("skip: full disk: no file system can be mounted")
    return None


# The first piece of a history has to fit, also where the recorder gets its turn
# late.
def full_disk():
    small = small_disk("small", "4m")
    if small is None:
        return
    try:
        bad("No space left on device",
            holdfast("run", "--db", "store", "-t", "20s", "-o",
                     small + "/a.hf"))
        is_valid(small + "/a.hf")
        os.unlink(small + "/a.hf")
        bad("No space left on device",
            holdfast("test", "--db", "store", "-t", "20s", "-o", small + "/t"),
            notes=2)
        is_valid(small + "/t/history.hf")
    finally:
        subprocess.run(["umount", "-l", small])


def full_database():
    small = small_disk("smaller", "400k")
    if small is None:
        return
    try:
        bad("full", holdfast("run", "--db", "sqlite:" + small + "/db", "-t",
                             "20s", "-w", "rubis", "-o", path("db.hf")),
            notes=1)
    finally:
        subprocess.run(["umount", "-l", small])


def other_tables():
    name = path("theirs.db")
    db = sqlite3.connect(name)
    db.execute("CREATE TABLE kv (k INTEGER)")
    db.execute("INSERT INTO kv VALUES (7)")
    db.commit()
    bad("holds tables that are not ours",
        holdfast("run", "--db", "sqlite:" + name, "-w", "bank", "-t", "1s",
                 "-o", path("theirs.hf")))
    if db.execute("SELECT * FROM kv").fetchall() != [(7,)] or db.execute(
            "SELECT count(*) FROM sqlite_master").fetchall() != [(1,)]:
        complain("a file of others was changed")
    if os.path.exists(path("theirs.hf")):
        complain("a history of nothing was left")


# ---- servers of other people ----------------------------------------------

class Postgres:
    name, level = "postgres", "repeatable-read"

    def __init__(self):
        self.bin = subprocess.run(["pg_config", "--bindir"], text=True,
                                  capture_output=True).stdout.strip()
        self.dir = path("pg")
        os.mkdir(self.dir)
        os.chmod(scratch, 0o755)
        os.chmod(self.dir, 0o777)
        with open(self.dir + "/secret", "w") as f:
            f.write(PASSWORD + "\n")
        self.port = 54000 + os.getpid() % 900
        subprocess.run(AS + [self.bin + "/initdb", "-D", self.dir + "/data",
                             "-A", "scram-sha-256", "-U", "boss", "--no-sync",
                             "--pwfile", self.dir + "/secret"],
                       check=True, capture_output=True, cwd=self.dir)
        self.start()

    def start(self):
        subprocess.run(
            AS + [self.bin + "/pg_ctl", "-D", self.dir + "/data", "-w", "-l",
                  self.dir + "/log", "-o", "-c listen_addresses=127.0.0.1 -c "
                  "fsync=off -p %d -k %s" % (self.port, self.dir), "start"],
            check=True, capture_output=True, cwd=self.dir)
        with open(self.dir + "/data/postmaster.pid") as f:
            self.pid = int(f.readline())

    def address(self, password=PASSWORD, port=None):
        return "postgres://boss:%s@127.0.0.1:%d/postgres" % (
            password, port or self.port)

    def tool(self, *words):
        return subprocess.run(list(words), check=True, text=True,
                              capture_output=True, cwd=self.dir,
                              env=dict(os.environ, PGPASSWORD=PASSWORD,
                                       PGHOST="127.0.0.1", PGUSER="boss",
                                       PGPORT=str(self.port))).stdout

    def sql(self, text):
        return self.tool(self.bin + "/psql", "-qAtc", text, "postgres")

    def dump(self):
        # newer ones begin with a random word
        return "\n".join(
            line for line in self.tool(self.bin + "/pg_dumpall").splitlines()
            if not line.startswith(("\\restrict", "\\unrestrict")))

    wrong_password = "password authentication failed"
    tables = ("CREATE SCHEMA theirs; CREATE TABLE theirs.kv (k INT PRIMARY "
              "KEY, v TEXT); INSERT INTO theirs.kv SELECT i, i::text FROM "
              "generate_series(1, 1000) i; CREATE TABLE public.kv (k INT); "
              "INSERT INTO public.kv VALUES (1); CREATE VIEW theirs.w AS "
              "SELECT k FROM theirs.kv;")


class MariaDB:
    name, level = "mariadb", "repeatable-read"

    def __init__(self):
        self.dir = path("my")
        os.mkdir(self.dir)
        os.chmod(scratch, 0o755)
        os.chmod(self.dir, 0o777)
        subprocess.run(
            AS + ["mariadb-install-db", "--no-defaults", "--skip-test-db",
                  "--datadir=" + self.dir + "/data",
                  "--auth-root-authentication-method=normal"],
            check=True, capture_output=True, cwd=self.dir)
        self.start()
        self.sql("CREATE USER boss@localhost IDENTIFIED BY '%s'; GRANT ALL "
                 "ON *.* TO boss@localhost;" % PASSWORD)

    def start(self):
        self.server = subprocess.Popen(
            AS + ["mariadbd", "--no-defaults", "--datadir=" + self.dir +
                  "/data", "--socket=" + self.dir + "/s", "--skip-networking",
                  "--pid-file=" + self.dir + "/pid",
                  "--innodb-flush-log-at-trx-commit=0"], cwd=self.dir,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid = self.server.pid

        def answers():
            return subprocess.run(
                ["mariadb", "--no-defaults", "-S", self.dir + "/s", "-uroot",
                 "-e", "SELECT 1"], capture_output=True).returncode == 0

        if not wait_until(answers):
            raise OSError("mariadbd did not start")

    def address(self, password=PASSWORD, port=None):
        return "mariadb://boss:%s@localhost/holdfast?socket=%s/%s" % (
            password, self.dir, "none" if port else "s")

    def sql(self, text):
        return subprocess.run(
            ["mariadb", "--no-defaults", "-S", self.dir + "/s", "-uroot", "-N",
             "-e", text], check=True, text=True, capture_output=True).stdout

    def dump(self):
        return subprocess.run(
            ["mariadb-dump", "--no-defaults", "-S", self.dir + "/s", "-uroot",
             "--all-databases", "--skip-dump-date", "--routines",
             "--ignore-table=mysql.innodb_index_stats",
             "--ignore-table=mysql.innodb_table_stats",
             "--ignore-table=mysql.transaction_registry"],
            check=True, text=True, capture_output=True).stdout

    wrong_password = "Access denied"
    tables = ("CREATE DATABASE theirs; CREATE TABLE theirs.kv (k INT PRIMARY "
              "KEY, v TEXT); INSERT INTO theirs.kv VALUES (1, 'a'), (2, 'b'); "
              "CREATE VIEW theirs.w AS SELECT k FROM theirs.kv;")


# Nobody may connect any more, who is there may stay: the look at the
# invariants fails, and that is not passed over.
def unchecked(server):
    for words, status in ((("test", "-i", "serializable"), 3),
                          (("test", "-i", "repeatable-read"), 0),
                          (("test", "-i", "serializable", "--expect", "valid"),
                           1), (("run", "-q"), 0)):
        place = path("unchecked" + (".hf" if words[0] == "run" else ""))
        child = subprocess.Popen(
            [program, *words, "--db", server.address(), "-w", "bank", "-t",
             "6s", "--clients", "4", "-o", place], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # four clients, and who looks after the schema; who loads the rows
        # has gone before they come
        wait_until(lambda: int(server.tool(
            server.bin + "/psql", "-qAtc", "SELECT count(*) FROM "
            "pg_stat_activity WHERE datname = 'postgres'", "template1")) == 5)
        server.tool(server.bin + "/psql", "-qc", "ALTER DATABASE postgres "
                    "ALLOW_CONNECTIONS false", "template1")
        out, said = child.communicate(timeout=60)
        server.tool(server.bin + "/psql", "-qc", "ALTER DATABASE postgres "
                    "ALLOW_CONNECTIONS true", "template1")
        if child.returncode != status:
            complain("invariants not looked at: %s: status %d instead of %d" %
                     (" ".join(words), child.returncode, status), out + said)
        if "looked at" not in out + said or "accepting" not in out + said:
            complain("invariants not looked at: not a word", out + said)
        shutil.rmtree(place) if os.path.isdir(place) else os.unlink(place)


def others(kind, missing):
    if not shutil.which(missing):
        print("skip: %s: no program %s" % (kind.name, missing))
        return
    server = kind()
    history = path(kind.name + ".hf")

    def run(address, *words):
        return holdfast("run", "--db", address, "-w", "bank", "-q", "-t",
                        "1s", "-o", history, *words)

    bad(kind.wrong_password, run(server.address(PASSWORD + "x")))
    # a password that is part of other words garbles none of them
    bad(kind.wrong_password, run(server.address("a")))
    bad("", run(server.address(port=1)))
    bad("has no isolation level", run(server.address(), "-i", "rubbish"))
    server.sql(server.tables)
    before = server.dump()
    bad("was not made by holdfast",
        run(server.address(), "--schema", "theirs"))
    if os.path.exists(history):
        complain(kind.name + ": a history of nothing was left")
    for workload in ("bank", "wikipedia"):
        done = run(server.address(), "-w", workload)
        if done.returncode != 0:
            complain("%s on a server of others: status %d" % (
                workload, done.returncode), done.stderr)
        is_valid(history)
        os.unlink(history)
    if server.dump() != before:
        complain(kind.name + ": something of others was changed")
    # interrupted: the schema is gone; killed: the next run clears it up
    for how, left in ((signal.SIGINT, 0), (signal.SIGKILL, 1)):
        child = subprocess.Popen(
            [program, "run", "--db", server.address(), "-w", "bank", "-t",
             "60s", "-o", history], stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL)
        wait_until(lambda: size_of(history) > 20000)
        child.send_signal(how)
        child.wait()
        is_valid(history)
        os.unlink(history)
        if left == 0 and server.dump() != before:
            complain(kind.name + ": Ctrl-C left something behind")
    done = run(server.address())
    if done.returncode != 0 or server.dump() != before:
        complain(kind.name + ": the schema of a killed run is in the way",
                 done.stderr)
    os.unlink(history)
    if kind is Postgres:
        unchecked(server)
    # it dies and does not come back
    child = subprocess.Popen(
        [program, "run", "--db", server.address(), "-w", "bank", "-q", "-t",
         "8s", "-o", history], stderr=subprocess.PIPE, text=True)
    wait_until(lambda: size_of(history) > 20000)
    os.kill(server.pid, signal.SIGKILL)
    said = child.communicate(timeout=60)[1]
    if child.returncode != 2 or "is gone" not in said:
        complain("a server that died: status %d" % child.returncode, said)
    is_valid(history)
    if kind is MariaDB:
        server.server.wait()


# ---- signals --------------------------------------------------------------

# timeout(1) sends its signal twice; a run ends in good order all the same.
def signalled_twice():
    for i in range(30):
        how = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i % 3]
        history = path("twice.hf")
        child = subprocess.Popen(
            [program, "run", "--db", "store", "-w", "bank", "-t", "60s", "-o",
             history, "--force"], stdout=subprocess.PIPE, text=True,
            stderr=subprocess.STDOUT)
        wait_until(lambda: size_of(history) > 20000)
        child.send_signal(how)
        time.sleep(i * 1e-5)
        child.send_signal(how)
        said = child.communicate(timeout=60)[0]
        if child.returncode != 0 or "invariants: all hold" not in said:
            complain("%s twice: status %d" % (how, child.returncode), said)
        os.unlink(history)


# ---- TMPDIR ---------------------------------------------------------------

def elsewhere():
    place = os.path.join(scratch, "t")
    os.mkdir(place, 0o755)
    os.chmod(scratch, 0o755)
    history = path("elsewhere.hf")

    def run(db, directory, *words):
        return [program, "run", "--db", db, "-w", "bank", "-o", history,
                "--force"] + list(words), dict(os.environ, TMPDIR=directory)

    for db, needs in (("sqlite", "true"), ("sqlite-processes", "true"),
                      ("rocksdb", "true"), ("postgres", "pg_config"),
                      ("mariadb", "mariadbd")):
        if not shutil.which(needs):
            continue
        words, environment = run(db, place, "-t", "60s")
        child = subprocess.Popen(words, env=environment, text=True,
                                 stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE)
        if not wait_until(lambda: size_of(history) > 20000):
            complain("%s: does not run in TMPDIR" % db)
        if not glob.glob(place + "/holdfast-*"):
            complain("%s: nothing is in TMPDIR" % db)
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=60)[1]
        if os.listdir(place):
            complain("%s: left in TMPDIR: %s" % (db, os.listdir(place)), said)
        os.unlink(history)
    long = os.path.join(place, "x" * 100)
    os.mkdir(long, 0o755)
    closed = os.path.join(place, "closed")
    os.mkdir(closed, 0o700)
    cases = [(long, "too long for the name of a socket")]
    if root:
        cases.append((closed, "cannot be entered"))
    for directory, text in cases:
        words, environment = run("sqlite", directory, "-n", "10")
        done = subprocess.run(words, env=environment, capture_output=True,
                              text=True, timeout=120)
        if done.returncode != 0 or text not in done.stderr:
            complain("no note: %r" % text, done.stderr)
    words, environment = run("sqlite", place + "/none", "-n", "10")
    bad("none", subprocess.run(words, env=environment, capture_output=True,
                               text=True, timeout=120))


# Of /tmp nothing is used then: two runs at a time are in nobody's way.
def tmp_is_closed():
    try:
        place = tempfile.mkdtemp(prefix="hf-luck-", dir="/dev/shm")
    except OSError:
        print("skip: /tmp is closed: no /dev/shm")
        return
    os.chmod(place, 0o755)
    mine = shutil.copy(program, place)
    try:
        for db, needs in (("sqlite", "true"), ("sqlite-processes", "true"),
                          ("rocksdb", "true"), ("postgres", "pg_config"),
                          ("postgres-standby", "pg_config"),
                          ("mariadb", "mariadbd")):
            if not root or not shutil.which(needs):
                print("skip: /tmp is closed: " + db)
                continue
            done = subprocess.run(
                ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                 "mount -t tmpfs -o ro tmpfs /tmp || exit 77; exec \"$@\"",
                 "sh", mine, "run", "--db", db, "-w", "bank", "-n", "100",
                 "-o", place + "/h.hf", "--force"], capture_output=True,
                env=dict(os.environ, TMPDIR=place), text=True, timeout=200)
            if done.returncode == 77 or "unshare" in done.stderr:
                print("skip: /tmp is closed: no file system can be mounted")
                return
            if done.returncode != 0:
                complain("%s: /tmp is closed: status %d" % (
                    db, done.returncode), done.stderr)
            left = sorted(os.listdir(place))
            if left != ["h.hf", os.path.basename(mine)]:
                complain("%s: left in TMPDIR: %s" % (db, left))
    finally:
        shutil.rmtree(place, ignore_errors=True)


# ---- nothing is left ------------------------------------------------------

# Processes whose directory was in that /tmp.
def processes_in(place):
    n = 0
    for cwd in glob.glob("/proc/[0-9]*/cwd"):
        try:
            n += os.readlink(cwd).startswith("/tmp/holdfast-") and \
                os.path.samefile(cwd.replace("/cwd", "/root/tmp"), place)
        except OSError:
            pass
    return n


def nothing_left():
    holder = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c",
         "mount -t tmpfs tmpfs /tmp && chmod 1777 /tmp && echo ready && "
         "exec sleep 600"], stdout=subprocess.PIPE, text=True)
    if holder.stdout.readline() != "ready\n":
        print("skip: what is left in /tmp: no file system can be mounted")
        return
    enter = ["nsenter", "-t", str(holder.pid), "--mount"]
    tmp = "/proc/%d/root/tmp" % holder.pid
    history = path("left.hf")
    hidden = shutil.copy(program, path("holdfast"))  # /tmp may have ours
    try:
        for db, needs in (("sqlite", "true"), ("sqlite-processes", "true"),
                          ("rocksdb", "true"),
                          ("postgres", "pg_config"),
                          ("mariadb", "mariadbd")):
            if not shutil.which(needs):
                print("skip: %s: no program %s" % (db, needs))
                continue
            for how in (None, signal.SIGINT, signal.SIGKILL):
                child = subprocess.Popen(
                    enter + [hidden, "run", "--db", db, "-w", "bank", "-q",
                             "-t", "0.3s" if how is None else "60s", "-o",
                             history], stderr=subprocess.PIPE, text=True)
                if how is not None:
                    wait_until(lambda: size_of(history) > 20000)
                    child.send_signal(how)
                said = child.communicate(timeout=60)[1]
                if how is None and child.returncode != 0:
                    complain("%s: status %d" % (db, child.returncode), said)
                is_valid(history)
                os.unlink(history)
                # a killed process without a server leaves its files to the
                # next run
                if how == signal.SIGKILL and needs == "true":
                    holdfast_again = subprocess.run(
                        enter + [hidden, "run", "--db", db, "-w", "bank",
                                 "-q", "-n", "10", "-o", history])
                    if holdfast_again.returncode == 0:
                        os.unlink(history)
                if not wait_until(lambda: not os.listdir(tmp) and
                                  processes_in(tmp) == 0, 15):
                    complain("%s, signal %s: left behind: %s, %d processes" % (
                        db, how, os.listdir(tmp), processes_in(tmp)))
    finally:
        holder.kill()
        holder.wait()


def main():
    try:
        file_limit()
        full_disk()
        full_database()
        other_tables()
        others(Postgres, "pg_config")
        others(MariaDB, "mariadb-install-db")
        signalled_twice()
        elsewhere()
        tmp_is_closed()
        nothing_left()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("%d failures" % failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
