"""Rays on several ranks: each traces some of them, or those in its parts of a grid.

    /usr/bin/python3 tests/mpi/test_rays.py --thor build/dev/thor [unittest arguments]
"""

import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from test_ranks import RankCase  # noqa: E402
from support import INPUT, USAGE, main  # noqa: E402
import test_rays as in_one  # noqa: E402


class Same(RankCase, in_one.RayCase):
    def test_every_rank_has_all_gas(self):
        """Bit for bit, since each ray is traced by one rank."""
        config = in_one.rays(in_one.EVERYTHING)
        whole = self.run_thor(config, "--device", "cpu")
        for ranks in (2, 3):
            self.assert_alike(whole, self.on_ranks(ranks, config, "--threads", 1), 0)

    def test_every_rank_has_parts(self):
        config = in_one.rays(in_one.EVERYTHING, precision="double")
        whole = self.run_thor(config, "--device", "cpu")
        for ranks, domains in ((2, 2), (3, 4), (4, 8)):
            with self.subTest(ranks=ranks, domains=domains):
                out = self.on_ranks(ranks, config, "--domains", domains, "--threads", 1)
                in_one.Results.assert_same_but_for_pieces(self, whole, out)

    def test_gas_beyond_the_ends(self):
        """Images of a periodic box, and what sightlines cover of an open one, are found from parts that several ranks have."""
        config = in_one.rays([in_one.absorption(range=["-200 km/s", "900 km/s"], bins=300)], precision="double")
        for periodic in (1, 0):
            in_one.write_grid(self.folder / "grid.h5", periodic=periodic, hubble=1e-14)
            whole = in_one.arrays(self.run_thor(config, "--device", "cpu"))
            for ranks, domains in ((2, 2), (3, 4)):
                parts = in_one.arrays(self.on_ranks(ranks, config, "--domains", domains, "--threads", 1))
                self.assertEqual(parts.keys(), whole.keys())
                for name, values in whole.items():
                    np.testing.assert_allclose(parts[name], values, rtol=1e-5, atol=1e-6, err_msg=name)
            share = np.mean(np.isnan(whole["absorption/forest/flux"]))
            self.assertEqual(share == 0, bool(periodic))
            self.assertLess(share, 0.9)

    def test_a_mistake_in_a_part(self):
        """Of a rank that is not the first: nothing is left behind."""
        with h5py.File(self.folder / "grid.h5", "a") as file:
            file["HI_density"][-1, -1, -1] = np.nan
        out = self.on_ranks(2, in_one.rays(in_one.EVERYTHING), "--domains", 2, "--threads", 1, expect=INPUT)
        self.assertIn("no finite number", self.done.stderr)
        self.assertEqual(list(self.folder.glob(out.name + "*")), [])

    def test_more_ranks_than_parts(self):
        out = self.on_ranks(3, in_one.rays(in_one.EVERYTHING), "--domains", 2, "--threads", 1, expect=USAGE)
        self.assertIn("--domains", self.done.stderr)
        self.assertEqual(list(self.folder.glob(out.name + "*")), [])


if __name__ == "__main__":
    main()
