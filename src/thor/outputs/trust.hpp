#pragma once
#include <vector>

#include "thor/outputs/binned.hpp"

/// Whether the Monte Carlo error of a bin can be trusted.
namespace thor {

/// The error of a sum over the groups of photons from their sums S: sqrt(G/(G - 1) sum (S - <S>)^2).
double error_of_groups(const double (&sums)[id_groups]);

/// Variance of the variance: sum (S - <S>)^4/(sum (S - <S>)^2)^2 - 1/G (MCNP manual; Camps & Baes 2018, ApJ 861, 80).
/// The error is itself good to sqrt(VOV)/2. It is 2/G where many photons make the light (Gaussian groups), and nearly 1
/// where one of them does; 0 where the groups are all alike.
double vov_of_groups(const double (&sums)[id_groups]);

/// An error is trusted if it is at most this part of the light of its bin, and its VOV at most that. Few photons are
/// found out by the first (by chance each may be in a group of its own), few bright ones by the second, which Gaussian
/// groups exceed in 0.4 % of the bins.
inline constexpr double most_relative_error = 0.2, most_vov = 0.15;

/// Share of the light that is in bins whose errors are trusted; 0 without light. An error by histories has no VOV: it
/// is known only that this is at least the square of the relative error, so the share is an upper limit.
double trusted_share(const BinnedLight& binned);

}  // namespace thor
