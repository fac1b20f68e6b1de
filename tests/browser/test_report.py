#!/usr/bin/env python3
"""The page of `holdfast check --html` in a real browser.

    tests/browser/test_report.py HOLDFAST [--shots DIRECTORY]

Status 77: there is no browser.  With --shots pictures are left to look at.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import browser  # noqa: E402
import histories  # noqa: E402

FAILURES = []
PROGRAM = None
SHOTS = None


def check(what, is_true, more=""):
    if not is_true:
        FAILURES.append(what)
        print("FAIL", what, more)


def equal(what, found, expected):
    check(what, found == expected, "found %r, expected %r" % (found, expected))


def write_page(directory, name, text, *options, level="serializable"):
    history, page = directory / (name + ".jsonl"), directory / (name + ".html")
    if text is not None:
        history.write_text(text)
    done = subprocess.run([PROGRAM, "check", "-q", "--level", level, "--html",
                           str(page), *options, str(history)],
                          capture_output=True, timeout=60)
    return page, done.returncode


def clean(name, page):
    equal(name + ": ready", page.ask("document.documentElement.dataset.ready"),
          "yes")
    equal(name + ": no errors, no requests", page.complaints(), [])
    equal(name + ": nothing of the input became markup",
          page.ask("document.querySelectorAll('img, iframe, object, embed, "
                   "link, base, a[href]').length"), 0)
    check(name + ": no script of the input ran",
          page.ask("document.title") != "owned")
    equal(name + ": the page is not wider than the window",
          page.ask("document.documentElement.scrollWidth <= innerWidth + 1"),
          True)
    check(name + ": no stray values", not re.search(
        r"\b(undefined|NaN|null|false|\[object)",
        page.ask("document.getElementById('main').innerText")))


def shoot(page, name):
    if SHOTS:
        height = page.ask("document.documentElement.scrollHeight")
        width = page.ask("innerWidth")
        page.size(width, min(height, 5000))
        page.frame()
        page.shot(os.path.join(SHOTS, name + ".png"), False)
        page.size(width, 900)
        page.frame()


def text(page, selector):
    return page.ask("document.querySelector(%s).innerText"
                    % json.dumps(selector))


def number(page, selector):
    return page.ask("document.querySelectorAll(%s).length"
                    % json.dumps(selector))


# ---- one run, in all detail ----

def the_verdict(page):
    equal("h1", text(page, "h1"), "This history is not serializable: write "
          "skew between T3003 and T3004.")
    check("promise", "as if the transactions had run" in text(page, ".promise"))
    equal("badge", text(page, ".badge"), "invalid")


def is_whole(name, page):
    """Nothing of the graph is cut off."""
    equal(name + ": labels and nodes are inside", page.ask("""(() => {
      const box = document.querySelector('#graph').getBoundingClientRect();
      return [...document.querySelectorAll('#graph .pill, #graph .node rect')]
        .map((n) => n.getBoundingClientRect())
        .filter((b) => b.width > 0 && (b.top < box.top - 1 ||
                b.bottom > box.bottom + 1 || b.left < box.left - 1 ||
                b.right > box.right + 1)).length; })()"""), 0)


def the_graph(page):
    is_whole("run", page)
    equal("nodes", number(page, "#graph .node"), 2)
    equal("edges", number(page, "#graph .edge"), 2)
    page.click('#graph .edge[data-edge="1"] .pill')
    details = text(page, "#details")
    check("an edge tells its sentence", "T3004 reads" in details, details)
    check("... and the write of the other side", "write x</script>" in details)
    check("... with its value, as text", "<img src=x" in details)
    check("... and when", "\u00b5s" in details, details)
    equal("... both sides", number(page, "#details .side"), 2)
    check("the edge is marked", page.ask(
        "document.querySelector('[data-edge=\"1\"]')"
        ".classList.contains('on')"))
    page.click('#graph .edge[data-edge="0"] .pill')
    check("another edge tells another", "T3003 reads y = nil" in
          text(page, "#details"))
    page.click("#graph .node .name")
    equal("a transaction tells all its operations",
          number(page, "#details ol.ops li"), 3)
    page.ask("document.querySelector('[data-step=\"1\"]').focus()")
    page.key("Enter")
    check("the keyboard works", "T3004 reads" in text(page, "#details"))


def view(page):
    return page.ask("(() => { const v = document.querySelector('.view');"
                    "return [+v.getAttribute('x'), +v.getAttribute('width')];"
                    "})()")


def the_timeline(page):
    # six clients; the one that connected again has one lane
    equal("lanes", number(page, "#lanes .lane"), histories.CLIENTS)
    equal("evidence in it", number(page, "#lanes .bar.witness"), 2)
    check("what is left out", "4,000 of 6,003" in text(page, "#left-out"))
    before = view(page)
    page.click('#timeline button[aria-label="zoom in"]')
    check("zoom in", view(page)[1] <= before[1])
    page.click('#timeline button[aria-label="show the whole run"]')
    whole = view(page)
    check("whole run", whole[1] > 500, str(whole))
    drawn = number(page, "#lanes .bar")
    check("all bars are drawn", 3990 <= drawn <= 4000, str(drawn))
    check("what has none is hatched", number(page, "#lanes .gone") > 0)
    equal("faults in it", number(page, "#lanes .lanes .fault"), 2)
    page.click('#timeline button[aria-label="zoom in"]')
    page.click('#timeline button[aria-label="zoom in"]')
    start = view(page)
    page.drag("#lanes .lanes", -200)
    check("drag moves", view(page)[0] > start[0] + 10,
          str((start, view(page))))
    x, y = page.middle("#lanes .lanes")
    start = view(page)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300, modifiers=2)
    page.frame()
    check("Ctrl and wheel zoom", view(page)[1] < start[1])
    page.click('#timeline button[aria-label="show the evidence"]')
    x, y = page.middle("#lanes .bar.witness")
    page.mouse("mouseMoved", x, y)
    tip = text(page, ".tip")
    check("tooltip", tip.startswith("T3003 \u00b7 session 1 \u00b7 committed")
          and "800 \u00b5s" in tip, tip)
    page.click("#lanes .bar.witness")
    equal("a bar tells its operations",
          number(page, "#bar-details ol.ops li"), 3)
    page.ask("document.querySelector('#lanes .lanes').focus()")
    page.key("0", "0")
    whole = view(page)
    check("a key shows all", whole[1] > 500)
    page.key("+", "+")
    check("a key zooms", view(page)[1] < whole[1] * 0.8)


def the_statistics(page):
    tiles = text(page, ".tiles")
    equal("transactions", re.search(r"Transactions\s+([\d,]+)", tiles).group(1),
          "6,003")
    check("unknown", re.search(r"Outcome unknown\s+1\s", tiles), tiles)
    equal("charts", number(page, ".charts svg[role=img]"), 2)
    check("faults", "pause </script>" in text(page, "#statistics"))
    check("how to repeat it", "holdfast check --level serializable" in
          text(page, "#repeat"))


def whole_run(b, directory):
    path, status = write_page(directory, "run", histories.run())
    equal("run: status", status, 1)
    check("run: size", path.stat().st_size < 400000)
    raw = path.read_text()
    equal("run: scripts end where they should", raw.count("</script"), 2)
    check("run: no comment is opened", "<!--" not in raw)
    page = b.open(path)
    clean("run", page)
    the_verdict(page)
    shoot(page, "run")
    the_graph(page)
    the_timeline(page)
    the_statistics(page)
    equal("run: still no errors", page.complaints(), [])
    for width in (700, 390):
        page.size(width, 800)
        page.frame()
        clean("run at %d" % width, page)
        is_whole("run at %d" % width, page)
        check("run at %d: lanes fit" % width, page.ask(
            "document.querySelector('#lanes svg').clientWidth <= innerWidth"))
    shoot(page, "run-phone")
    pdf = page.pdf()
    check("prints", pdf.startswith(b"%PDF") and len(pdf) > 20000)
    page.close()
    dark = b.open(path, dark=True)
    equal("dark", dark.ask("getComputedStyle(document.body).backgroundColor"),
          "rgb(18, 19, 23)")
    shoot(dark, "run-dark")
    dark.close()
    silent = b.open(path, script=False)
    equal("without a script the verdict is there", silent.call(
        "DOM.getDocument", depth=-1)["root"]["nodeName"], "#document")
    tree = json.dumps(silent.call("DOM.getDocument", depth=-1))
    check("... and the text", "a circle" in tree and "is not serializable"
          in tree)
    silent.close()


# ---- the other answers ----

def valid(b, directory):
    path, status = write_page(directory, "valid", histories.many_sessions())
    equal("valid: status", status, 0)
    page = b.open(path)
    clean("valid", page)
    equal("valid: h1", text(page, "h1"), "This history is serializable.")
    equal("valid: an order", number(page, ".order button[data-txn]"), 60)
    page.click(".order .rest")
    equal("valid: all of it", number(page, ".order button[data-txn]"), 300)
    page.click(".order button[data-txn]")
    check("valid: its operations", "write k0 = 1" in text(page, "#details"))
    equal("valid: lanes", number(page, "#lanes .lane"), 64)
    check("valid: lanes left out", "64 of 300 sessions" in
          text(page, "#left-out"))
    shoot(page, "valid")
    page.close()


def ring(b, directory):
    path, status = write_page(directory, "ring", histories.ring(9))
    equal("ring: status", status, 1)
    page = b.open(path)
    clean("ring", page)
    equal("ring: nodes", number(page, "#graph .node"), 9)
    equal("ring: edges", number(page, "#graph .edge"), 9)
    overlaps = page.ask("""(() => {
      const boxes = [...document.querySelectorAll('.node rect')]
        .map((n) => n.getBoundingClientRect());
      return boxes.filter((a, i) => boxes.some((b, k) => k < i &&
        a.left < b.right && b.left < a.right &&
        a.top < b.bottom && b.top < a.bottom)).length; })()""")
    equal("ring: nodes do not overlap", overlaps, 0)
    is_whole("ring", page)
    shoot(page, "ring")
    page.close()


def operations(b, directory):
    path, status = write_page(directory, "dirty", histories.dirty())
    equal("dirty: status", status, 1)
    page = b.open(path)
    clean("dirty", page)
    check("dirty: h1", "G1a between T" in text(page, "h1"))
    equal("dirty: its transactions", number(page, "#evidence .cards .panel"), 2)
    check("dirty: what happened", "aborted" in text(page, "#evidence ol.steps"))
    shoot(page, "dirty")
    page.close()


def proof(b, directory):
    path, status = write_page(directory, "proof", histories.choices())
    equal("proof: status", status, 1)
    page = b.open(path)
    clean("proof", page)
    check("proof: story", "a circle" in text(page, ".story"))
    check("proof: what is not certain", number(page, ".edge.assumed") > 0)
    page.click(".story button")
    check("proof: a name tells its transaction",
          number(page, "#details ol.ops li") > 0)
    is_whole("proof", page)
    shoot(page, "proof")
    page.close()


def several(b, directory):
    text_ = histories.dirty() + histories.ring(2)
    path, status = write_page(directory, "several", text_)
    equal("several: status", status, 1)
    page = b.open(path)
    clean("several", page)
    equal("several: findings", number(page, ".chips [data-finding]"), 2)
    page.click('.chips [data-finding="1"]')
    equal("several: the second", number(page, "#graph .edge"), 2)
    is_whole("several", page)
    page.click('.chips [data-finding="0"]')
    equal("several: the first again", number(page, "#graph .edge"), 0)
    page.close()


def unknown(b, directory):
    path, status = write_page(directory, "unknown", histories.statements())
    equal("unknown: status", status, 3)
    page = b.open(path)
    clean("unknown", page)
    check("unknown: h1", text(page, "h1").startswith("It is not known whether"))
    check("unknown: why", "SQL" in text(page, ".lede"))
    shoot(page, "unknown")
    page.close()


def empty(b, directory):
    path, status = write_page(directory, "empty", '{"ops":[]}\n')
    equal("empty: status", status, 0)
    page = b.open(path)
    clean("empty", page)
    page.close()


def main():
    global PROGRAM, SHOTS
    PROGRAM = os.path.abspath(sys.argv[1])
    if "--shots" in sys.argv:
        SHOTS = sys.argv[sys.argv.index("--shots") + 1]
    if not browser.find():
        print("no browser: install chromium")
        return 77
    with tempfile.TemporaryDirectory() as scratch, browser.Browser(240) as b:
        for test in (whole_run, valid, ring, operations, proof, several,
                     unknown, empty):
            try:
                test(b, pathlib.Path(scratch))
            except browser.Failed as e:
                check(test.__name__, False, str(e))
    print("%d failures" % len(FAILURES))
    return 1 if FAILURES else 0


sys.exit(main())
