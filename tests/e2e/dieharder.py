"""The random streams of thor tested with dieharder (R. G. Brown), and weak ones that must fail.

    cmake --preset dev -DTHOR_DIEHARDER=ON && cmake --build --preset dev --target random_words    # and Debian's dieharder
    /usr/bin/python3 tests/e2e/dieharder.py --words build/dev/tests/e2e/random_words [--only xoshiro]
    /usr/bin/python3 tests/e2e/dieharder.py --words ... --full [--only xoshiro] [--layout interleaved] [--seed 1]

The first takes six seconds: a few tests of the default generator with fewer samples than dieharder's own choice, and the part
`weak`: that each test fails a weak generator, with a fifth of them. THOR_THOROUGH=2 tests all generators. --full takes hours:
all tests, where WEAK gets more samples until it is PASSED or FAILED. Exit 0: nothing FAILED; 77: dieharder is not installed.
"""

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

NO_DIEHARDER = "*** SKIPPED: dieharder is not installed (Debian: dieharder): THE STREAMS ARE NOT TESTED WITH IT ***"

# Tests that read few numbers, as options of dieharder, and a weak generator that each must fail. 100 p-values of a test are
# combined by Kolmogorov-Smirnov.
QUICK = {
    "-d 0": ("twice16", "interleaved"),  # birthday spacings
    "-d 2 -t 4000": ("xorshift32", "long"),  # rank of 32 x 32 matrices
    "-d 3 -t 10000": ("lcg32", "long"),  # rank of 6 x 8 matrices
    "-d 15": ("overlapping", "interleaved"),  # runs
    "-d 200 -n 4 -t 10000": ("lcg32", "long"),  # distribution of groups of 4 bits
    "-d 202 -n 5 -t 10000": ("minus_id", "interleaved"),  # order of 5 words
}
MORE = "-p 400"
FEWER = "-p 20"  # enough for a weak generator

COLUMNS = "504"  # name, ntuple, tsamples, psamples, p-value, assessment


@dataclass
class Result:
    test: str
    p: float
    assessment: str


def dieharder(words, generator, layout, seed, options, echo=False):
    """The results of dieharder with these options on a sequence of words."""
    source = subprocess.Popen([words, generator, layout, str(seed)], stdout=subprocess.PIPE)
    judge = subprocess.Popen(["dieharder", "-g", "200", "-D", COLUMNS, *options.split()], stdin=source.stdout,
                             stdout=subprocess.PIPE, text=True)
    source.stdout.close()  # the source ends when dieharder does
    results = []
    for line in judge.stdout:
        if echo:
            print(line, end="", flush=True)
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 6:
            results.append(Result(f"{fields[0]} {fields[1]}", float(fields[4]), fields[5]))
    source.wait()
    if judge.wait() != 0 or not results:
        sys.exit(f"dieharder {options} gave no result for {generator}, {layout}")
    return results


def quick(words, generators):
    """Generators of thor that do not pass, in lines of text."""
    wrong = []
    for generator in generators:
        for options in QUICK:
            results = dieharder(words, generator, "interleaved", 1, options)
            repeated = any(result.assessment == "WEAK" for result in results)
            if repeated:
                again = dieharder(words, generator, "interleaved", 2, f"{options} {MORE}")
                results = [r for r in results if r.assessment == "FAILED"] + again
            for result in results:
                print(f"{generator:12} {result.test:28} p = {result.p:.4f}  {result.assessment}"
                      f"{' after WEAK' if repeated else ''}", flush=True)
                if result.assessment != "PASSED":
                    wrong.append(f"{generator}: {result}")
    return wrong


def quick_weak(words):
    """Tests that do not fail the weak generator that they should, in lines of text."""
    wrong = []
    for options, (generator, layout) in QUICK.items():
        results = dieharder(words, generator, layout, 1, f"{options} {FEWER}")
        for result in results:
            print(f"{generator:12} {result.test:28} p = {result.p:.4f}  {result.assessment}", flush=True)
        if not any(result.assessment == "FAILED" for result in results):
            wrong.append(f"weak {generator} is not failed by dieharder {options}: {results}")
    return wrong


def full(words, generator, layout, seed):
    print(f"{generator}, {layout}, seed {seed}", flush=True)
    results = dieharder(words, generator, layout, seed, "-a -k 2 -Y 1", echo=True)
    return [f"{generator}: {result}" for result in results if result.assessment == "FAILED"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", required=True, help="the program random_words")
    parser.add_argument("--full", action="store_true", help="all tests of dieharder")
    parser.add_argument("--only", help="only this generator, default (all with THOR_THOROUGH=2), or weak")
    parser.add_argument("--layout", default="interleaved", help="for --full: the order of words, see random_words")
    parser.add_argument("--seed", type=int, default=1, help="for --full")
    arguments = parser.parse_args()
    if shutil.which("dieharder") is None:
        print(NO_DIEHARDER, file=sys.stderr)
        return 77
    listed = subprocess.run([arguments.words], capture_output=True, text=True, check=True).stdout.splitlines()
    if arguments.only and arguments.only not in f"{listed[0]} {listed[1]} default weak".split():
        parser.error(f"no generator is called {arguments.only}: {listed[0]}{listed[1]}")
    generators = [arguments.only] if arguments.only not in (None, "default") else listed[0].split()
    if arguments.only != "weak" and not arguments.full and int(os.environ.get("THOR_THOROUGH", "1")) < 2:
        generators = generators[:1]
    if arguments.full:
        wrong = [line for g in generators for line in full(arguments.words, g, arguments.layout, arguments.seed)]
    else:
        wrong = quick(arguments.words, [g for g in generators if g != "weak"])
        if arguments.only in (None, "weak"):
            wrong += quick_weak(arguments.words)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
