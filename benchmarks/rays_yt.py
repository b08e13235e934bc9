#!/usr/bin/env python3
"""rays_yt.py THOR [CELLS [PIXELS]]: projections and a picture of one grid by yt (Debian: python3-yt) and by thor, on one core, one after the
other. Prints the times, and the mass in each projection over that of the grid.

yt has all numbers in double precision; thor reads 32-bit fields and traces in single precision. Times of yt are those of the calls that make
the image, after the data are in memory; those of thor are `transport_seconds`, after the fields are."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

NORMAL, UP = [1., -2., 1.5], [0., 0., 1.]


def by_thor(thor, folder, operator, camera):
    config = f"""driver: raytrace
dataset: {{type: uniform_grid, path: grid.h5}}
cameras: [{camera}]
operators: [{operator}]
output: {{path: out.h5}}
"""
    (folder / "c.yaml").write_text(config)
    best = np.inf
    for _ in range(3):
        subprocess.run([thor, "run", folder / "c.yaml", "--overwrite", "--quiet", "--device", "cpu", "--threads", "1"], check=True)
        with h5py.File(folder / "out.h5") as file:
            best = min(best, file["summary"].attrs["transport_seconds"])
            image = file["images/a/value"][()] if "value" in file["images/a"] else None
            width = np.diff(file["images/a/edges_right"][()])[0]
    return best, image, width


def main():
    thor = sys.argv[1]
    cells = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    pixels = int(sys.argv[3]) if len(sys.argv) > 3 else 512
    import yt
    yt.set_log_level("error")
    kpc = 3.0856775814913673e21
    density = np.exp(np.random.default_rng(1).normal(0, 2, (cells,) * 3)) * 1e-27
    mass = density.sum() * (kpc / cells) ** 3
    data = yt.load_uniform_grid({"density": (density, "g/cm**3")}, density.shape, length_unit="kpc",
                                bbox=np.array([[-0.5, 0.5]] * 3), nprocs=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with h5py.File(folder / "grid.h5", "w") as file:
            file.attrs.update({"cell_size": kpc / cells, "origin_x": -kpc / 2, "origin_y": -kpc / 2, "origin_z": -kpc / 2})
            file["density"] = density.astype("f4")
            file["density"].attrs["units"] = "g cm-3"
        field = ("gas", "density")
        data.all_data().quantities.total_quantity(field)  # read once

        begin = time.perf_counter()
        yt.off_axis_projection(data, [0, 0, 0], NORMAL, 0.1, 4, field)
        first = time.perf_counter() - begin
        begin = time.perf_counter()
        image = yt.off_axis_projection(data, data.arr([0, 0, 0], "kpc"), NORMAL, data.quan(1.8, "kpc"), pixels, field, north_vector=UP)
        seconds = time.perf_counter() - begin
        of_yt = float(image.sum().to("g/cm**2")) * (1.8 * kpc / pixels) ** 2 / mass
        camera = f"{{name: c, direction: {NORMAL}, up: {UP}, width: 1.8 kpc, pixels: {pixels}}}"
        ours, image, width = by_thor(thor, folder, "{type: projection, name: a, camera: c, field: density}", camera)
        of_thor = image.sum() * (width * kpc) ** 2 / mass
        print(f"off-axis projection {pixels}^2: yt {seconds:.3f} s (mass {of_yt:.5f}), thor {ours:.3f} s (mass {of_thor:.5f}): {seconds / ours:.1f} times")

        begin = time.perf_counter()
        scene = yt.create_scene(data, field=field)
        cam = scene.add_camera()
        cam.resolution, cam.width = (pixels, pixels), data.quan(1.8, "kpc")
        cam.switch_orientation(normal_vector=NORMAL, north_vector=UP)
        scene[0].transfer_function = yt.ColorTransferFunction((-29, -25))
        scene[0].transfer_function.add_layers(4, colormap="gist_rainbow")
        scene.render()
        seconds = time.perf_counter() - begin
        ours, _, _ = by_thor(thor, folder, "{type: render, name: a, camera: c, field: density, transfer: {range: [1e-29, 1e-25], map: inferno, opacity: 1}}",
                             camera)
        print(f"picture of the volume {pixels}^2: yt {seconds:.2f} s, thor {ours:.3f} s: {seconds / ours:.0f} times (first call of yt: {first:.2f} s)")


if __name__ == "__main__":
    main()
