"""Fuzz everything that reads what a user wrote.

    python tests/fuzz/run.py --inputs 1000000 --seed 1 [--only names --only cli] [--first 0]

Input n of a target depends on the seed, the target and n alone, so a run can be made in pieces.
What must not happen is printed, made small, and kept in tests/fuzz/corpus, which pytest plays.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))

from hunting import Finding, Slow, Target, kept, minimised, playground, tried
from targets import TARGETS, furnish

KEEP = 40  # findings of a target that are told apart; more are counted alone


@dataclass
class Count:
    """What came of a target."""

    inputs: int = 0
    seconds: float = 0.0
    slow: list[int] = field(default_factory=list)
    findings: dict[str, Finding] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)


def hunt(target: Target, seed: int, first: int, last: int, watch: float = 0.0) -> Count:
    """Inputs first..last-1 of a target, in the playground."""
    found = Count()
    start = said = time.monotonic()
    for n in range(first, last):
        data = target.make(Random(f"{seed}/{target.name}/{n}"))
        try:
            finding = tried(target, data)
        except Slow:
            found.slow.append(n)
            continue
        finally:
            found.inputs += 1
        if finding is not None:
            found.times[finding.key] = found.times.get(finding.key, 0) + 1
            if finding.key not in found.findings and len(found.findings) < KEEP:
                found.findings[finding.key] = minimised(target, finding)
        now = time.monotonic()
        if watch and now - said > watch:
            said = now
            rate = found.inputs / (now - start)
            left = (last - 1 - n) / rate
            told = f"{target.name}: {n + 1 - first:,} of {last - first:,}, {rate:,.0f} a second"
            told += f", {left:,.0f} s left, {len(found.findings)} findings"
            print(told, file=sys.stderr, flush=True)
    found.seconds = time.monotonic() - start
    return found


def main() -> int:
    """Run all targets, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="over all targets")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="thousandths of inputs done before")
    parser.add_argument("--only", action="append", choices=list(TARGETS), help="some targets")
    parser.add_argument("--no-keep", action="store_true", help="leave the corpus as it is")
    asked = parser.parse_args()
    whole = sum(target.share for target in TARGETS.values())
    counts: dict[str, Count] = {}
    for name in asked.only or TARGETS:
        target = TARGETS[name]
        number = max(1, asked.inputs * target.share // whole)
        with playground():
            if name == "cli":
                furnish()
            counts[name] = hunt(target, asked.seed, asked.first, asked.first + number, watch=10)
        _say(counts[name], keep=not asked.no_keep)
    print(f"{'target':<12}{'inputs':>10}{'seconds':>10}{'slow':>6}{'findings':>10}")
    for name, one in counts.items():
        row = f"{name:<12}{one.inputs:>10,}{one.seconds:>10.1f}{len(one.slow):>6}"
        print(f"{row}{len(one.times):>10}")
    total = sum(one.inputs for one in counts.values())
    findings = sum(len(one.times) for one in counts.values())
    print(f"{total:,} inputs, {findings} findings")
    return 1 if findings else 0


def _say(one: Count, keep: bool) -> None:
    for key, finding in one.findings.items():
        where = kept(finding) if keep else ""
        print(f"\n{key} ({one.times[key]:,} times) {where}\n  {finding.data[:300]!r}")
        print("  " + "\n  ".join(finding.told.strip().splitlines()[-4:]), flush=True)
    if one.slow:
        print(f"slow: inputs {one.slow[:10]}")


if __name__ == "__main__":
    sys.exit(main())
