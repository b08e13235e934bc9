"""Run the Monte Carlo line-transfer code thor, and read, compare and plot its results.

    import thor

    result = thor.run("sphere.yaml", "sphere.h5")  # or thor.open("sphere.h5")
    print(result)                                  # what was run, and the fate of the photons
    spectrum = result.spectra["emergent"]
    luminosity, error = spectrum.luminosity()      # erg/s
    fraction, error = result.escape_fraction()
    thor.plot_spectrum(result, axis="velocity")    # needs matplotlib
    x = result.photons["x_final"]                  # one number per recorded photon

    rays = thor.open("rays.h5")                    # of the raytracing driver
    rays.images["column"].plot()
    rays.absorption["forest"].plot([0, 1])

    sweep = thor.sweep("sphere.yaml", {"dataset.tau0": [1e5, 1e6]}, folder="sweep")
    sweep.plot(over="dataset.tau0")

    fit = thor.fit("spectrum.txt", "shells.emulator", redshift=(3.1, 0.0002), lsf=6000)
    print(fit)
"""

from . import needed  # isort: skip  # first: it says which package is missing
from . import analytic
from ._version import __version__
from .binary import find_binary
from .drawing import PAPER
from .errors import (
    ArgumentError,
    Error,
    FailedRunWarning,
    FitWarning,
    IncompleteRunWarning,
    MissingError,
    PackageError,
    ResultError,
    ReweightingWarning,
    RunError,
    SweepError,
    UnreliableRunWarning,
)
from .fitting.fit import Fit, fit
from .histogram import Histogram
from .line import Line
from .observing import Observed, observe
from .peel import Peel
from .photons import Photons
from .plot import plot_spectrum
from .postprocess import Reweighted, reweight
from .profile import Profile
from .ray_result import RayResult
from .rays import Absorption, Picture, RayImage, Traces
from .result import Result, open
from .running import run
from .sky import Cube, Image
from .spectrum import Spectrum
from .sweep_plot import plot_sweep
from .sweep_file import SweepFile
from .sweep_results import Sweep
from .sweeping import sweep

__all__ = [
    "Absorption",
    "ArgumentError",
    "Cube",
    "Error",
    "FailedRunWarning",
    "Fit",
    "FitWarning",
    "Histogram",
    "Image",
    "IncompleteRunWarning",
    "Line",
    "MissingError",
    "Observed",
    "PAPER",
    "PackageError",
    "Peel",
    "Photons",
    "Picture",
    "Profile",
    "RayImage",
    "RayResult",
    "Result",
    "ResultError",
    "Reweighted",
    "ReweightingWarning",
    "RunError",
    "Spectrum",
    "Sweep",
    "SweepError",
    "SweepFile",
    "Traces",
    "UnreliableRunWarning",
    "__version__",
    "analytic",
    "find_binary",
    "fit",
    "observe",
    "open",
    "plot_spectrum",
    "plot_sweep",
    "reweight",
    "run",
    "sweep",
]
