"""Reads the Prometheus text format."""

import re

_SAMPLE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$")
_LABEL = re.compile(r'([A-Za-z_]\w*)="((?:\\.|[^"\\])*)",?')


class Metrics:
    def __init__(self, text: str):
        self.text = text
        self.types, self.helps, self.samples = {}, {}, []
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                assert name not in self.types, f"{name} has two TYPE lines"
                self.types[name] = kind
            elif line.startswith("# HELP "):
                _, _, name, *words = line.split(" ", 3)
                self.helps[name] = words[0] if words else ""
            elif line and not line.startswith("#"):
                match = _SAMPLE.match(line)
                assert match, f"not a sample: {line!r}"
                labels = {n: re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], v)
                          for n, v in _LABEL.findall(match[2] or "")}
                self.samples.append((match[1], labels, float(match[3])))

    def series(self, name, **labels):
        return [(have, value) for n, have, value in self.samples
                if n == name and all(have.get(k) == v for k, v in labels.items())]

    def value(self, name, **labels):
        """The sum over all series of that name with those labels; 0 if there is none."""
        return sum(value for _, value in self.series(name, **labels))

    def labels(self, name):
        return [have for n, have, _ in self.samples if n == name]
