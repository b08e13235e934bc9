#!/usr/bin/env python3
"""heat.py SNAPSHOT -o COPY: a copy of a Gadget snapshot of an adiabatic simulation, with gas that is at least as warm as the
intergalactic medium that a UV background heats: T = 1.2e4 K (rho/mean rho)^0.4 up to ten times the mean density, about what is
measured at z = 3 (Gaikwad et al. 2021, MNRAS 506, 4389: T0 = 1.2e4 to 1.5e4 K, gamma = 1.2 to 1.5)."""

import argparse
import shutil

import h5py
import numpy as np

T0, SLOPE, MOST = 1.2e4, 0.4, 10.0
BOLTZMANN, PROTON, MU = 1.380649e-16, 1.67262192e-24, 0.588  # of ionised primordial gas


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snapshot")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    shutil.copyfile(arguments.snapshot, arguments.output)  # without its permissions
    with h5py.File(arguments.output, "r+") as file:
        gas, header = file["PartType0"], file["Header"].attrs
        density = gas["Density"][()].astype(float)
        mean = float(header["MassTable"][0]) * len(density) / float(header["BoxSize"]) ** 3
        temperature = T0 * np.minimum(density / mean, MOST) ** SLOPE
        energy = 1.5 * BOLTZMANN * temperature / (MU * PROTON) / 1e10  # (km/s)^2
        old = gas["InternalEnergy"][()]
        gas["InternalEnergy"][...] = np.maximum(old, energy.astype(old.dtype))
        print(f"heated {np.count_nonzero(energy > old)} of {len(old)} gas elements, whose density is {density.min() / mean:.2g} to "
              f"{density.max() / mean:.2g} times the mean")


if __name__ == "__main__":
    main()
