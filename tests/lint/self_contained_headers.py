"""Proves that no header of include/ depends on what was included before it.

A header whose source file includes it first is proved by the build; each other one is compiled alone.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-std=c++20", "-fsyntax-only", "-x", "c++", "-I", str(ROOT / "include"),
         "-DBOOST_ASIO_SEPARATE_COMPILATION", "-DBOOST_ASIO_NO_DEPRECATED", "-DSMG_VERSION=\"0\"",
         "-DSPDLOG_COMPILED_LIB", "-DSPDLOG_FMT_EXTERNAL"]


def proved_by_the_build(header: Path) -> bool:
    name = header.relative_to(ROOT / "include/smg")
    source = (ROOT / "src" / name).with_suffix(".cpp")
    if not source.exists():
        return False
    first = re.search(r'^#include ["<](.*)[">]', source.read_text(encoding="utf-8"), re.M)
    return first is not None and first[1] == f"smg/{name.as_posix()}"


def check(header: Path) -> str:
    text = f'#include "{header.relative_to(ROOT / "include").as_posix()}"\n'
    done = subprocess.run(["g++", *FLAGS, "-"], input=text, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{header.relative_to(ROOT)} is not self-contained:\n{done.stderr}"


def main() -> int:
    headers = sorted((ROOT / "include").rglob("*.hpp"))
    if not headers:
        print("no headers found")
        return 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [f for f in pool.map(check, [h for h in headers if not proved_by_the_build(h)]) if f]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


sys.exit(main())
