"""Counts the results of test runs.

    tally.py JUNIT.xml...   prints "passed failed" and, on stderr, the name of each failed test

A test that was skipped, disabled or not run counts as failed: nothing is left out in silence.
"""

import sys
import xml.etree.ElementTree as xml


def main() -> None:
    passed = failed = 0
    for path in sys.argv[1:]:
        for case in xml.parse(path).getroot().iter("testcase"):
            bad = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
            if bad or case.get("status", "run") not in ("run", ""):
                failed += 1
                print(f"  {bad[0] if bad else case.get('status')}: {case.get('classname')}.{case.get('name')}",
                      file=sys.stderr)
            else:
                passed += 1
    print(passed, failed)


main()
