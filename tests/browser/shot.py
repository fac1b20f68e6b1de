#!/usr/bin/env python3
"""Pictures of a page: shot.py PAGE.html OUT.png [WIDTH] [dark]"""
import sys
import pathlib
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser

page_path, out = sys.argv[1:3]
width = next((int(a) for a in sys.argv[3:] if a.isdigit()), 1280)
with browser.Browser() as b:
    page = b.open(page_path, width, 900, "dark" in sys.argv)
    height = page.ask("Math.ceil(document.documentElement.scrollHeight)")
    page.size(width, min(height, 4000))
    page.frame()
    page.shot(out, False)
    print(height, page.ask("document.documentElement.dataset.ready"))
    print("\n".join(page.complaints()))
