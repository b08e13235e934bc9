"""Fits of models to observed spectra (docs/fits.md)."""
