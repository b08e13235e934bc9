"""The share of the photons that cross thin gas without scattering, which is known analytically.

    /usr/bin/python3 tests/e2e/test_thin_gas.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py. Seeds are fixed, so a statistical test (4
or 5 sigma) always passes or always fails; where cheap, the same test is shown to reject a wrong number.
"""

import math
import sys
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import slab, sphere  # noqa: E402
from support import Case, main  # noqa: E402


class ThinGas(Case):
    PHOTONS = 200_000
    FIELDS = [{"type": "photons", "fields": ["id", "scatterings"]}]

    def unscattered(self, tau0, *how):
        return self.run_photons(sphere(tau0, self.PHOTONS, outputs=self.FIELDS), *how)["scatterings"] == 0

    def expected(self, tau0, a=4.718e-4):
        return math.exp(-tau0 * (1 - 2 * a / math.sqrt(math.pi)))  # H(a, 0) = 1 - 2a/sqrt(pi) + ...

    def test_share_that_does_not_scatter(self):
        for how in ((), ("--precision", "double"), ("--one-lane", "--seed", "5")):
            free = self.unscattered(0.25, *how)
            self.assert_share(np.count_nonzero(free), self.PHOTONS, self.expected(0.25), message=str(how))
            # Neighbouring ids are independent: block fractions and pairs have the expected scatter.
            p = self.expected(0.25)
            for block in (10, 1000):
                z = (free.reshape(-1, block).sum(axis=1) - block * p) / math.sqrt(block * p * (1 - p))
                spread = math.sqrt(2 / len(z) + (1 / (p * (1 - p)) - 6) / (block * len(z)))
                self.assert_mean(z**2, 1, spread, message=f"blocks of {block}")
            self.assert_share(np.count_nonzero(free[::2] & free[1::2]), self.PHOTONS // 2, p * p, message="pairs")

    def test_rejects_a_wrong_optical_depth(self):
        for wrong in (0.97, 1.03):
            free = self.unscattered(0.25 * wrong)
            with self.assertRaises(AssertionError):
                self.assert_share(np.count_nonzero(free), self.PHOTONS, self.expected(0.25))

    def test_beam_through_a_slab(self):
        """Along n the slab is 2 tau0/n_z thick."""
        beam = {"type": "extended", "shape": "beam", "radius": "3 kpc", "direction": [0.6, 0, 0.8]}
        p = self.run_photons(slab(0.25, self.PHOTONS, source=beam, outputs=self.FIELDS))
        self.assert_share(np.count_nonzero(p["scatterings"] == 0), self.PHOTONS, self.expected(2 * 0.25 / 0.8))

    def test_wing(self):
        """Far from line centre gas is thin; dust is not."""
        config = sphere(100, 50_000, spectrum={"type": "delta", "offset": "3000 km/s"}, dust={"tau": 0.5, "albedo": 0})
        s = self.assert_closed(self.run_thor(config))
        self.assert_share(s["escaped"], 50_000, math.exp(-0.5))


if __name__ == "__main__":
    main()
