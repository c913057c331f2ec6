"""Rules of CONTRIBUTING.md that can be read off the text: layers, sizes, banned constructs.

Prints one line per fault and ends 1 if there is any. `--self-test` proves that each rule can fail.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A layer may include itself and what it lists here.
BELOW = {
    "base": [],
    "protocol": ["base"],
    "metrics": ["base", "protocol"],
    "index": ["base", "protocol", "metrics"],
    "worker": ["base", "protocol", "metrics", "index"],
    "policy": ["base", "protocol", "metrics", "index", "worker"],
    "upstream": ["base", "protocol", "metrics", "index", "worker", "policy"],
    "proxy": ["base", "protocol", "metrics", "index", "worker", "policy", "upstream"],
    "control": ["base", "protocol", "metrics", "index", "worker", "policy", "upstream"],
    "server": ["base", "protocol", "metrics", "index", "worker", "policy", "upstream", "proxy", "control"],
    "app": ["base", "protocol", "metrics", "index", "worker", "policy", "upstream", "proxy", "control", "server"],
}
MAX_SOURCE_LINES = 600
MAX_HEADER_LINES = 150
MAX_FUNCTION_LINES = 60

INCLUDE = re.compile(r'#include "smg/(\w+)/')
COMMENT = re.compile(r"//.*?$|/\*.*?\*/", re.S | re.M)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')

# (name, pattern, where it applies)
BANNED = [
    ("std::atomic<std::shared_ptr>", r"std::atomic<\s*std::shared_ptr", "all"),
    ("std::regex", r"\bstd::regex\b", "all"),
    ("Boost.Beast", r"boost/beast", "all"),
    ("using namespace in a header", r"^\s*using namespace\b", "headers"),
    ("a sleep in a test", r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\s*\(", "tests"),
    ("a detached thread or coroutine", r"\basio::detached\b|\.detach\(\)", "product"),
    ("Asio or sockets in a pure layer", r"boost/asio|base/asio\.hpp|sys/socket\.h", "pure"),
    ("throw after start-up", r"^\s*throw\b", "no_throw"),
    ("a TODO", r"\b(?:TODO|FIXME|XXX)\b", "comments"),
]
PURE_LAYERS = {"protocol", "index", "worker", "policy", "metrics"}
MAY_THROW = {"app"}

# Wall-clock time is for what people read (dates in logs and answers), never for intervals.
WALL_CLOCK = re.compile(r"\bsystem_clock\b")
WALL_CLOCK_FILES = ("src/base/log", "src/base/wall", "include/smg/base/wall", "include/smg/base/clock")

# A variable of namespace scope that can change. Names in this project's style only, which is
# enough to catch slips.
MUTABLE_GLOBAL = re.compile(
    r"^(?:static |inline |thread_local )*(?:std::(?:string|vector|map|unordered_map|atomic|mutex|optional|unique_ptr|shared_ptr)\b[^()]*|int|bool|double|std::u?int\d+_t|std::size_t) \w+_? *(?:=[^=].*|\{.*\})?;"
)


def strip(text: str) -> str:
    """Code without comments; lines keep their numbers."""
    return COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text)


def kind_of(path: str) -> dict:
    parts = path.split("/")
    product = parts[0] in ("include", "src")
    layer = parts[2] if parts[0] == "include" else parts[1] if product else None
    return {
        "all": True,
        "comments": True,
        "headers": path.endswith(".hpp"),
        "tests": parts[0] == "tests",
        "product": product,
        "pure": product and layer in PURE_LAYERS,
        "no_throw": product and layer not in MAY_THROW,
        "layer": layer,
    }


def check(path: str, text: str) -> list:
    kind = kind_of(path)
    code = strip(text)
    bare = STRING.sub('""', code)
    lines = text.count("\n")
    faults = []

    def fault(line, message):
        faults.append(f"{path}:{line}: {message}")

    for name, pattern, where in BANNED:
        if kind[where]:
            subject = text if where == "comments" else code if "boost/" in pattern else bare
            for match in re.finditer(pattern, subject, re.M):
                fault(subject.count("\n", 0, match.start()) + 1, f"{name} is not used here")
    if not path.startswith(WALL_CLOCK_FILES):
        for match in WALL_CLOCK.finditer(bare):
            line = bare.count("\n", 0, match.start()) + 1
            if "wall clock:" not in text.split("\n")[line - 1]:
                fault(line, "system_clock: intervals are measured with Clock; a date that people "
                            "read says so with a comment `wall clock: why`")
    if kind["product"]:
        allowed = {kind["layer"], *BELOW.get(kind["layer"], [])}
        for match in INCLUDE.finditer(code):
            if match.group(1) not in allowed:
                fault(code.count("\n", 0, match.start()) + 1,
                      f"{kind['layer']} may not include {match.group(1)}")
        for number, line in enumerate(bare.split("\n"), 1):
            if MUTABLE_GLOBAL.match(line):
                fault(number, "a global that can change")
        for start, length in long_functions(bare):
            fault(start, f"a function of {length} lines (at most {MAX_FUNCTION_LINES})")
        limit = MAX_HEADER_LINES if kind["headers"] else MAX_SOURCE_LINES
        if lines > limit:
            fault(lines, f"{lines} lines (at most {limit})")
        if kind["headers"] and not text.startswith("//"):
            fault(1, "a header begins with the comment that is its contract")
    return faults


def long_functions(code: str):
    """Bodies that begin at column 0 with a line ending in '{' after ')' and end with '}' at column 0."""
    start = None
    for number, line in enumerate(code.split("\n"), 1):
        if start is None:
            if line[:1].strip() and line.endswith("{") and ")" in line and "namespace" not in line:
                start = number
        elif line.startswith("}"):
            length = number - start + 1
            if length > MAX_FUNCTION_LINES:
                yield start, length
            start = None


def files():
    for top in ("include", "src", "tests", "bench"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".hpp", ".cpp") and path.is_file():
                yield path.relative_to(ROOT).as_posix()


def self_test() -> None:
    head = "// Contract.\n#pragma once\n"
    bad = {
        "include/smg/base/a.hpp": [
            head + '#include "smg/server/x.hpp"\n', head + "using namespace std;\n", "#pragma once\n",
            head + "\n" * 150, head + "// TODO later\n", head + "inline int counter = 0;\n",
        ],
        "src/policy/a.cpp": [
            "std::atomic<std::shared_ptr<int>> x();\n", "#include <boost/asio.hpp>\n", "  throw 1;\n",
            "auto t = std::chrono::system_clock::now();\n", "\n" * 601, "#include <boost/beast.hpp>\n",
            "int f() {\n" + "  g();\n" * 60 + "}\n", "std::regex r();\n", "  t.detach();\n",
            'static std::string last;\n', '#include "smg/proxy/call.hpp"\n',
        ],
        "tests/unit/a_test.cpp": ["  std::this_thread::sleep_for(1ms);\n"],
    }
    good = {
        "include/smg/base/a.hpp": head + "class A {\n  int value_ = 0;\n};\n",
        "src/server/a.cpp": '#include "smg/base/a.hpp"\n// a throw in a comment\nint f() {\n  return 1;\n}\n'
                            'constexpr int kLimit = 3;\nauto d = system_clock::now();  // wall clock: Date\n',
    }
    for path, texts in bad.items():
        for text in texts:
            assert check(path, text), f"no fault found in {path}: {text[:60]!r}"
    for path, text in good.items():
        assert not check(path, text), check(path, text)


def main() -> int:
    self_test()
    if "--self-test" in sys.argv:
        return 0
    faults = [f for path in files() for f in check(path, (ROOT / path).read_text(encoding="utf-8"))]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


sys.exit(main())
