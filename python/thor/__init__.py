"""Read, compare and plot results of the Monte Carlo line-transfer code thor.

    import thor

    result = thor.open("out.h5")
    print(result)                                  # what was run, and what became of the photons
    spectrum = result.spectra["emergent"]
    luminosity, error = spectrum.luminosity()      # erg/s
    thor.plot_spectrum(result, axis="velocity")    # needs matplotlib
    x = result.photons["x_final"]                  # one number per escaped photon
"""

from . import analytic
from .plot import plot_spectrum
from .result import IncompleteRunWarning, Photons, Result, ResultError, open
from .spectrum import Spectrum

__all__ = [
    "IncompleteRunWarning",
    "Photons",
    "Result",
    "ResultError",
    "Spectrum",
    "analytic",
    "open",
    "plot_spectrum",
]
