#pragma once
#include "thor/outputs/binned.hpp"

/// Whether the Monte Carlo error of a bin can be trusted.
namespace thor {

/// A bin, in quanta of 2^-32 w: its light, the error sqrt(sum s^2), and the variance of the variance, sum s^4/(sum
/// s^2)^2 - 1/N (MCNP manual; Camps & Baes 2018, ApJ 861, 80) of N photons. The error is itself good to sqrt(VOV)/2.
/// The VOV is 1/n where n equal photons make the light, and nearly 1 where one of them does.
///
/// Sums of less than 64 quanta tell little, and those that have no room nothing: the error is then all light, or the
/// VOV 1.
struct BinError {
  double light, error, vov;
};
BinError error_of(const BinSums& sums, double photons);

/// An error is trusted if it is at most this part of the light of its bin, and its VOV at most that.
inline constexpr double most_relative_error = 0.2, most_vov = 0.1;

/// Share of the light that is in bins whose errors are trusted; 0 without light.
double trusted_share(const BinnedLight& binned);

}  // namespace thor
