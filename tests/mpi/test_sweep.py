"""A sweep whose models are dealt to ranks: the file of one process, also where it goes on with another number of ranks.

    /usr/bin/python3 tests/mpi/test_sweep.py --thor build/dev/thor [unittest arguments]
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from test_ranks import RankCase  # noqa: E402
from support import main, thor  # noqa: E402

SWEEP = """
model:
  line: Lya
  dataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e3}
  generators: [{type: point, photons: 2000}]
  outputs: [{type: spectrum, name: v, axis: velocity, range: [-300 km/s, 300 km/s], bins: 12}]
design: latin
models: 24
keys: {dataset.tau0: {range: [1e2, 1e4], spacing: log}}
output: {path: sweep.h5}
"""


class RankSweep(RankCase):
    def test_one_file_of_all_ranks(self):
        (self.folder / "sweep.yaml").write_text(SWEEP)
        self.assertEqual(thor("sweep", "sweep.yaml", "-o", "one.h5", "--device", "cpu", cwd=self.folder).returncode, 0)
        self.launch(3, "sweep", "sweep.yaml", "-o", "three.h5")
        # Stopped by a kill on three ranks, it goes on with two.
        command = self.command(3, "sweep", "sweep.yaml", "--threads", 1, at_once=True)
        job = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.DEVNULL)
        while job.poll() is None and len([n for n in os.listdir(self.folder) if ".models" in n]) < 3:
            time.sleep(0.005)
        job.kill()
        job.wait()
        subprocess.run(["pkill", "-9", "-f", str(self.folder)], check=False)
        for _ in range(200):  # until the ranks have let go of their files
            done = subprocess.run(self.command(2, "sweep", "sweep.yaml", "--overwrite"), capture_output=True, text=True,
                                  cwd=self.folder, timeout=120)
            if "another process" not in done.stderr:
                break
            time.sleep(0.1)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.folder / "one.h5") as one:
            for name in ("three.h5", "sweep.h5"):
                with h5py.File(self.folder / name) as file:
                    self.assertEqual(set(file["status"][:]), {1})
                    for array in ("spectra/v/flux", "spectra/v/error", "escape_fraction", "seed"):
                        np.testing.assert_array_equal(one[array], file[array])
        self.assertEqual([n for n in os.listdir(self.folder) if ".models" in n], [])


if __name__ == "__main__":
    main()
