#include "thor/mock/options.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "thor/core/error.hpp"

namespace thor::mock {
namespace {

template <class Options, class T>
void refuses(T Options::*member, T value, const std::string& name) {
  Options options;
  check(options);
  options.*member = value;
  try {
    check(options);
    FAIL() << name << " " << value << " was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_TRUE(std::string(error.what()).starts_with(name + ": ")) << error.what();
  }
}

TEST(MockOptions, ImpossibleOnesAreNamed) {
  using G = GalaxyOptions;
  using B = BoxOptions;
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const std::uint64_t n : {0ull, 99ull, 100'000'000'000ull})
    refuses(&G::gas_particles, std::uint64_t(n), "--gas-particles");
  for (const std::uint64_t n : {0ull, 100'000'000'000ull}) refuses(&G::stars, std::uint64_t(n), "--stars");
  for (const std::uint64_t n : {0ull, 4ull, 48ull, 1024ull})
    refuses(&B::particles_per_side, std::uint64_t(n), "--particles-per-side");
  refuses(&G::seed, std::uint64_t(-1), "--seed");
  for (const double bad : {-1., nan, infinity, 1e30}) {
    refuses(&G::redshift, bad, "--redshift");
    refuses(&B::redshift, bad, "--redshift");
    refuses(&B::box_size, bad, "--box-size");
    refuses(&G::halo_mass, bad, "--halo-mass");
    refuses(&G::gas_mass, bad, "--gas-mass");
    refuses(&G::cgm_mass, bad, "--cgm-mass");
    refuses(&G::stellar_mass, bad, "--stellar-mass");
    refuses(&G::disc_scale, bad, "--disc-scale");
    refuses(&G::outflow_speed, bad, "--outflow-speed");
  }
  refuses(&G::gas_mass, 2e11, "--gas-mass");
  refuses(&G::disc_scale, 20., "--disc-scale");
  refuses(&B::box_size, 0., "--box-size");
}

TEST(MockOptions, TheHaloHasThatMass) {
  // 4 pi/3 R^3 200 rho_crit(z), in M_sun and kpc: rho_crit = 277.5 h^2 M_sun/kpc^3 today
  GalaxyOptions options;
  const double r = virial_radius(options), e2 = 0.3089 * 27 + 0.6911;
  EXPECT_NEAR(4. / 3 * 3.14159 * r * r * r * 200 * 277.5 * 0.6774 * 0.6774 * e2 / 1e11, 1, 0.01);
}

}  // namespace
}  // namespace thor::mock
