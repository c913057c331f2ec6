"""Runs clang-tidy over src/, two files at a time, with the compile commands of a build folder.

    clang_tidy.py BUILD_DIR

A file that was clean and has not changed since, nor any header nor .clang-tidy, is not looked at
again: BUILD_DIR/tidy keeps an empty file named by the hash of all of that.
"""

import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def digest(*parts: bytes) -> str:
    h = hashlib.sha256()
    for part in parts:
        h.update(len(part).to_bytes(8, "little"))
        h.update(part)
    return h.hexdigest()


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    stamps = build / "tidy"
    stamps.mkdir(exist_ok=True)
    commands = json.loads((build / "compile_commands.json").read_text())
    sources = sorted({Path(c["file"]) for c in commands if Path(c["file"]).is_relative_to(ROOT / "src")})
    if not sources:
        print("no sources in compile_commands.json")
        return 1
    headers = [p.read_bytes() for p in sorted((ROOT / "include").rglob("*.hpp"))]
    headers += [p.read_bytes() for p in sorted((ROOT / "src").rglob("*.hpp"))]
    common = digest((ROOT / ".clang-tidy").read_bytes(), *headers).encode()

    def check(source: Path) -> str:
        stamp = stamps / digest(common, str(source.relative_to(ROOT)).encode(), source.read_bytes())
        if stamp.exists():
            return ""
        done = subprocess.run(
            ["clang-tidy-16", "--quiet", "-p", str(build), "--extra-arg=-Wno-unknown-warning-option",
             "--extra-arg=-Wno-unused-command-line-argument", str(source)],
            capture_output=True, text=True)
        if done.returncode == 0:
            stamp.touch()
            return ""
        return done.stdout + done.stderr

    # asio_impl.cpp is Asio's own source and nothing else.
    sources = [s for s in sources if s.name != "asio_impl.cpp"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [f for f in pool.map(check, sources) if f]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


sys.exit(main())
