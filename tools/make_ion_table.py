#!/usr/bin/env python3
"""Makes an ion table for `thor grid` (docs/emission.md, "Ion tables") from the results of a CLOUDY grid.

    make_ion_table.py grid.txt ions.h5 --source "CLOUDY 17.02, UV background of ..."
    make_ion_table.py --synthetic ions.h5

grid.txt has one line per model, in any order, and a first line that names the columns, such as

    # log_hydrogen_density log_temperature log_metallicity redshift ion:MgII line:MgII_2796

log10 of n_H [cm^-3], T [K] and Z [solar]; `ion:` is log10 of the fraction of the element in this ion, `line:` log10 of
the emissivity [erg s^-1 cm^-3]. The models must fill a grid: every combination of the four values once.

--synthetic writes a small table of invented smooth functions, for tests and examples. It is not physical.
"""
import argparse
import re
import sys

import h5py
import numpy as np

AXES = ("log_hydrogen_density", "log_temperature", "log_metallicity", "redshift")

# log10(N/N_H) + 12 of the present photosphere: Asplund et al. (2009, ARA&A 47, 481), table 1.
SOLAR = {"He": 10.93, "C": 8.43, "N": 7.83, "O": 8.69, "Na": 6.24, "Mg": 7.60, "Al": 6.45, "Si": 7.51, "S": 7.12,
         "Ca": 6.34, "Fe": 7.50, "Ni": 6.22, "Zn": 4.56}


def element(ion):
    found = re.fullmatch(r"([A-Z][a-z]?)([IVX]+)", ion)
    if not found:
        sys.exit(f"\"{ion}\" is not the name of an ion such as MgII")
    return found[1]


def read_grid(path):
    """Axes, and each column as an array over them."""
    with open(path) as file:
        names = file.readline().lstrip("#").split()
    if tuple(names[:4]) != AXES or len(names) < 5:
        sys.exit(f"{path}:1: the columns must be {' '.join(AXES)}, then ion:NAME and line:NAME")
    rows = np.loadtxt(path, comments="#", ndmin=2)
    if rows.shape[1] != len(names):
        sys.exit(f"{path}: {rows.shape[1]} columns, but {len(names)} names in the first line")
    if np.isnan(rows).any():
        sys.exit(f"{path}: {np.isnan(rows).any(axis=1).sum()} models with NaN: run these again")
    places = [np.unique(rows[:, i], return_inverse=True) for i in range(4)]
    axes = [values for values, _ in places]
    shape = tuple(len(a) for a in axes)
    flat = np.ravel_multi_index([index for _, index in places], shape)
    if len(rows) != np.prod(shape) or len(np.unique(flat)) != len(rows):
        sys.exit(f"{path}: {len(rows)} models do not fill a grid of {' x '.join(map(str, shape))}")
    columns = {}
    for i, name in enumerate(names[4:], start=4):
        columns[name] = np.empty(len(rows))
        columns[name][flat] = rows[:, i]
        columns[name] = columns[name].reshape(shape)
    return axes, columns


def synthetic():
    axes = [np.linspace(-6, 2, 9), np.linspace(3, 7, 17), np.array([-2.0, -1.0, 0.0, 0.5]), np.array([0.0, 2.0, 4.0, 6.0])]
    n, t, metal, z = np.meshgrid(*axes, indexing="ij")
    log_fraction = -((t - 4.1) / 0.25) ** 2 / 4 - np.log10(1 + 10 ** (-2 - n)) - 0.02 * z
    log_emissivity = -23.5 + metal - 2.2e4 / 10**t + log_fraction + 2 * n
    return axes, {"ion:MgII": np.maximum(log_fraction, -30), "line:MgII_2796": log_emissivity}


def write(path, axes, columns, source, solar):
    with h5py.File(path, "w") as out:
        out.attrs["format"], out.attrs["format_version"], out.attrs["source"] = "thor ion table", 1, source
        for name, values in zip(AXES, axes):
            out[name] = values
        for column, values in columns.items():
            kind, _, name = column.partition(":")
            if kind == "ion":
                if values.max() > 1e-3:
                    sys.exit(f"{column}: {values.max():g} is not log10 of a fraction")
                data = out.create_dataset(f"ions/{name}", data=values.astype("f4"))
                data.attrs["solar_abundance"] = 10 ** (solar[element(name)] - 12)
            elif kind == "line":
                density = axes[0].reshape(-1, 1, 1, 1)
                data = out.create_dataset(f"lines/{name}", data=(values - 2 * density).astype("f4"))
                data.attrs["units"] = "log10(erg cm3 s-1)"
            else:
                sys.exit(f"column {column}: begin its name with ion: or line:")
            print(f"{column}: {values.min():g} to {values.max():g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grid", nargs="?", help="text file of models")
    parser.add_argument("table", help="HDF5 file to write")
    parser.add_argument("--source", help="origin of the models: code, version, radiation field, abundances")
    parser.add_argument("--solar", action="append", default=[], metavar="EL=X",
                        help="log10(N/N_H) + 12 of an element at solar metallicity, if the models used another value")
    parser.add_argument("--synthetic", action="store_true", help="write a synthetic table instead")
    arguments = parser.parse_args()
    solar = dict(SOLAR)
    for text in arguments.solar:
        name, _, value = text.partition("=")
        solar[name] = float(value)
    if arguments.synthetic:
        axes, columns = synthetic()
        source = "synthetic: invented functions for tests, not physics"
    elif not arguments.grid or not arguments.source:
        parser.error("give the text file of models and --source, or --synthetic")
    else:
        axes, columns = read_grid(arguments.grid)
        source = arguments.source
    write(arguments.table, axes, columns, source, solar)


if __name__ == "__main__":
    main()
