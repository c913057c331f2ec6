"""Compiles each header of include/ alone, so that none depends on what was included before it."""

import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-std=c++20", "-fsyntax-only", "-x", "c++", "-I", str(ROOT / "include"),
         "-DBOOST_ASIO_SEPARATE_COMPILATION", "-DBOOST_ASIO_NO_DEPRECATED", "-DSMG_VERSION=\"0\"",
         "-DSPDLOG_COMPILED_LIB", "-DSPDLOG_FMT_EXTERNAL"]


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
        faults = [f for f in pool.map(check, headers) if f]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


sys.exit(main())
