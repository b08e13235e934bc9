#pragma once
#include "thor/mock/options.hpp"
#include "thor/mock/snapshot.hpp"

namespace thor::mock {

/// A periodic cosmological box with galaxies at the peaks of its density: docs/mock.md#a-box.
Snapshot make_box(const BoxOptions& options, int threads = 1);

/// Cosmic star formation rate density [M_sun/yr/Mpc^3, comoving]: Madau & Dickinson (2014, ARA&A 52, 415), eq. 15.
double sfr_density(double redshift);

}  // namespace thor::mock
