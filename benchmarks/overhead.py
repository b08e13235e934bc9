#!/usr/bin/python3
"""Cost of progress, live errors and tallies: alternating runs that differ only in these, and the median ratio of their
times.

    benchmarks/overhead.py --thor build/release/thor [--before OTHER/thor] [--threads N] [--repeats 7] [--photons 4096]

The static sphere of the transport benchmark (tau0 = 1e6, no core skipping). `bare` records nothing and shows nothing; `full`
bins two spectra and shows progress as on a terminal. With --before the same `full` run of another build is included.
"""
import argparse
import json
import os
import pty
import statistics
import subprocess
import sys
import tempfile
import threading

import h5py

SPECTRA = [{"type": "spectrum", "name": of, "of": of, "axis": "x", "range": [-50, 50], "bins": 1000}
           for of in ("escaped", "emitted")]


def configuration(photons, outputs):
    return {"line": "Lya", "dataset": {"type": "shell", "outer_radius": "1 kpc", "temperature": "2e4 K", "tau0": 1e6},
            "generators": [{"type": "point", "photons": photons}], "outputs": outputs, "output": {"path": "out.h5"}}


def swallow(descriptor):
    """Reads a terminal until it closes, like a user's terminal."""
    try:
        while os.read(descriptor, 65536):
            pass
    except OSError:
        pass


def seconds_per_scattering(binary, folder, photons, outputs, arguments, terminal):
    path, result = os.path.join(folder, "c.yaml"), os.path.join(folder, "out.h5")
    with open(path, "w") as file:
        json.dump(configuration(photons, outputs), file)
    command = [binary, "run", path, "--overwrite", *arguments]
    if terminal:
        leader, follower = pty.openpty()
        reader = threading.Thread(target=swallow, args=(leader,))
        reader.start()
        subprocess.run(command, check=True, stderr=follower, env={**os.environ, "TERM": "xterm"})
        os.close(follower)
        reader.join()
        os.close(leader)
    else:
        subprocess.run(command, check=True)
    with h5py.File(result) as file:
        summary = dict(file["summary"].attrs)
    return summary["transport_seconds"] / summary["scatterings"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thor", default="build/release/thor")
    parser.add_argument("--before")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--photons", type=int, default=4096)
    options = parser.parse_args()
    device = ["--device", "cpu", "--threads", options.threads]
    cases = {"bare": (options.thor, [], [*device, "--quiet"], False), "full": (options.thor, SPECTRA, device, True)}
    if options.before:
        cases["before"] = (options.before, SPECTRA, device, True)
    times = {name: [] for name in cases}
    with tempfile.TemporaryDirectory() as folder:
        for i in range(options.repeats):
            print(f"\r{i + 1} of {options.repeats}", end="", file=sys.stderr)
            for name, (binary, outputs, arguments, terminal) in cases.items():
                times[name].append(seconds_per_scattering(binary, folder, options.photons, outputs, arguments, terminal))
    print(file=sys.stderr)
    for name in cases:  # the shortest time is the least disturbed by the rest of the machine
        ratios = sorted(t / bare for t, bare in zip(times[name], times["bare"]))
        print(f"{name:<7} {1 / statistics.median(times[name]):.3e} scatterings/s; time over that of bare: "
              f"median {statistics.median(ratios):.4f} ({ratios[0]:.4f} to {ratios[-1]:.4f}), of the shortest "
              f"{min(times[name]) / min(times['bare']):.4f}")
    if options.before:
        ratios = sorted(t / b for t, b in zip(times["full"], times["before"]))
        print(f"full over before: median {statistics.median(ratios):.4f} ({ratios[0]:.4f} to {ratios[-1]:.4f}), of the "
              f"shortest {min(times['full']) / min(times['before']):.4f}")


if __name__ == "__main__":
    main()
