"""Result files with flipped bytes or a missing end: each gives one of thor's errors or a result, quickly.

A child process opens them, since the HDF5 library is C: crashes and hangs are detected from outside. Before
thor.reading made it decode attributes first, the library (1.10.8) crashed on 10 of these 200; now on 1 of 3,000.
"""

import os
import random
import signal
import subprocess
import sys
import unittest
import warnings
from collections import Counter
from pathlib import Path

from support import WithFiles, needs_astropy, write_result

FILES = 200
SECONDS = 10  # for one file; it takes milliseconds
CRASHES = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE)


def damage(data, number):
    """Damage by number: most files have some bytes changed, more often near the start, where HDF5 has its tables."""
    random_number = random.Random(number)
    data = bytearray(data)
    if number % 5 == 4:
        return bytes(data[: random_number.randrange(len(data))])
    reach = len(data) if number % 2 else min(len(data), 12000)
    for _ in range(random_number.choice((1, 1, 2, 8, 64))):
        at = random_number.randrange(reach)
        data[at] = random_number.choice((data[at] ^ (1 << random_number.randrange(8)), 0, 255, random_number.randrange(256)))
    return bytes(data)


def look(folder, first):
    """In the child: opens each file, printing its number before and the outcome after."""
    import thor
    from test_errors import use

    data = Path(folder, "good.h5").read_bytes()
    warnings.simplefilter("ignore")
    for number in range(first, FILES):
        print(number, end=" ", flush=True)
        path = Path(folder, f"{number}.h5")
        path.write_bytes(damage(data, number))
        signal.alarm(SECONDS)
        try:
            use(path)
            outcome = "used"
        except thor.Error:
            outcome = "refused"
        except BaseException as error:  # the point of the test
            outcome = f"{type(error).__name__}: {error!r}".replace("\n", " ")
        signal.alarm(0)
        path.unlink()
        print(outcome, flush=True)


@needs_astropy
class DamagedFilesTest(WithFiles):
    maxDiff = None

    def test_each(self):
        write_result(os.path.join(self.folder, "good.h5"), photons=300, absorbed=50)
        outcomes, first = {}, 0
        while first < FILES:
            child = subprocess.run(
                [sys.executable, __file__, self.folder, str(first)], capture_output=True, text=True, timeout=300
            )
            lines = [line.split(" ", 1) for line in child.stdout.splitlines()]
            outcomes.update({int(number): outcome for number, outcome in lines if outcome})
            first = int(lines[-1][0]) + 1 if lines else FILES
            if child.returncode in CRASHES:
                outcomes[first - 1] = "crashed"
            elif child.returncode != 0:
                outcomes[first - 1] = f"the process ended with {child.returncode}\n{child.stderr[-2000:]}"
        count = Counter(outcomes.values())
        wrong = {n: outcome for n, outcome in outcomes.items() if outcome not in ("used", "refused", "crashed")}
        self.assertEqual(wrong, {})
        self.assertLessEqual(count["crashed"], FILES // 100, outcomes)
        if count["crashed"]:
            print(f"\nlibhdf5 crashed on {count['crashed']} of {FILES} damaged files", file=sys.stderr)
        self.assertEqual(len(outcomes), FILES)
        # Otherwise it would not test damage, or only damage.
        self.assertGreater(count["refused"], FILES // 4)
        self.assertGreater(count["used"], FILES // 20)


if __name__ == "__main__":
    if len(sys.argv) == 3 and os.path.isdir(sys.argv[1]):
        look(sys.argv[1], int(sys.argv[2]))
    else:
        unittest.main()
