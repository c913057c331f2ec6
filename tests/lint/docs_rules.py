"""Checks the Markdown files: links that lead inside the repository lead somewhere, and the scripts
and files they name exist."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"`(?:\./)?((?:scripts|docs|tests|include|src|cmake)/[\w./-]+)`")


def anchors(text: str) -> set:
    titles = re.findall(r"^#+ +(.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


def main() -> int:
    faults = []
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for page in sorted(pages):
        text = page.read_text(encoding="utf-8")
        for match in [*LINK.finditer(text), *NAMED.finditer(text)]:
            target = match.group(1)
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            base = ROOT if match.re is NAMED else page.parent
            file = (base / path) if path else page
            line = text.count("\n", 0, match.start()) + 1
            if not file.exists():
                faults.append(f"{page.relative_to(ROOT)}:{line}: {target} does not exist")
            elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
                faults.append(f"{page.relative_to(ROOT)}:{line}: no heading for #{anchor}")
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


sys.exit(main())
