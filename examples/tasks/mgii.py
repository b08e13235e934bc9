"""mgii.py RESULT...: the ratio of the Mg II lines in the halo of each result, and doublet.png, their spectra."""

import sys

import matplotlib.pyplot as plt
import thor

plt.style.use(thor.PAPER)
fig, ax = plt.subplots()
for path in sys.argv[1:]:
    with thor.open(path) as result:
        blue, blue_error = result.spectra["halo_2796"].luminosity()
        red, red_error = result.spectra["halo_2803"].luminosity()
        ratio = blue / red
        error = ratio * ((blue_error / blue) ** 2 + (red_error / red) ** 2) ** 0.5
        print(f"{path}: 2796/2803 = {ratio:.2f} +- {error:.2f}")
        thor.plot_spectrum(result, ax, name="doublet", label=path)
fig.savefig("doublet.png")
