#include "thor/emission/ionization.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "thor/core/error.hpp"
#include "thor/emission/axis.hpp"
#include "thor/emission/hydrogen_rates.hpp"
#include "thor/emission/uv_background.hpp"

namespace thor::emission {
namespace {

/// n_He/n_H for 24 % helium by mass. Helium is assumed to be singly ionised where hydrogen is: n_e = (1 + y) n_HII.
constexpr double helium = 0.24 / (4 * 0.76);

/// With a = alpha_A n_e/x_HII and b the same for collisional ionisation, the balance Gamma x + b x (1-x) = a (1-x)^2 of
/// x = n_HI/n_H is (a + b) x^2 - (Gamma + b + 2a) x + a = 0. Returns its smaller root, without cancellation.
double balance(double rate, double hydrogen_density, double temperature) {
  const double electrons = (1 + helium) * hydrogen_density;
  const double a = alpha_A(temperature) * electrons, b = collisional_ionization(temperature) * electrons;
  const double sum = rate + b;
  return 2 * a / (sum + 2 * a + std::sqrt(sum * sum + 4 * a * rate));
}

/// "Ion fraction as a function of (logd, logt, redshift)" names the axes in order.
std::vector<std::string> axes_in_info(const std::string& path, const std::string& info) {
  const auto open = info.rfind('('), close = info.rfind(')');
  std::vector<std::string> names;
  if (open != std::string::npos && close != std::string::npos && open < close) {
    std::string name;
    for (const char c : info.substr(open + 1, close - open)) {
      if (c == ',' || c == ')') {
        names.push_back(std::exchange(name, {}));
      } else if (c != ' ') {
        name += c;
      }
    }
  }
  const std::vector<std::string> needed = {"logd", "logt", "redshift"};
  if (!std::ranges::is_permutation(names, needed)) {
    throw Error(
        ExitCode::input,
        fmt::format("{}: array \"ionbal\" must give the order of its axes in an attribute `info`, such as \"Ion "
                    "fraction as a function of (logd, logt, redshift)\"; it has \"{}\"",
                    path, info));
  }
  return names;
}

void make_logarithms(const std::string& path, bool logarithms, std::vector<double>& values) {
  constexpr double smallest = -30;
  for (double& v : values) {
    if (logarithms ? v > 1e-3 : v < 0 || v > 1.001) {
      throw Error(ExitCode::input, fmt::format("{}: array \"ionbal\" has {:g}, which is not {} of a neutral fraction; "
                                               "`info` must begin with log10 if the values are logarithms",
                                               path, v, logarithms ? "the logarithm" : "a value"));
    }
    v = std::clamp(logarithms ? v : std::log10(v), smallest, 0.0);
  }
}

}  // namespace

struct Ionization::Impl {
  std::string description;
  std::function<double(double hydrogen_density, double temperature, bool& outside)> fraction;
  mutable std::atomic<std::uint64_t> clamped{0};

  Impl(std::string text, decltype(fraction) function) : description(std::move(text)), fraction(std::move(function)) {}
};

Ionization::Ionization(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Ionization Ionization::equilibrium(const std::string& treecool, double redshift, bool self_shielding) {
  const double rate = photoionization_rate(treecool, redshift);
  return Ionization(std::make_shared<Impl>(
      fmt::format("photoionisation equilibrium with the UV background of {} at z = {:.4g} (Gamma_HI = {:.4g} /s), {}",
                  treecool, redshift, rate,
                  self_shielding ? "self-shielding after Rahmati et al. (2013)" : "without self-shielding"),
      [=](double density, double temperature, bool&) {
        double left = 1;
        if (self_shielding && rate > 0) {
          left = shielding(density, shielding_density(rate, temperature, redshift));
        }
        return density > 0 || rate > 0 ? balance(left * rate, density, temperature) : 1;
      }));
}

Ionization Ionization::collisional() {
  return Ionization(
      std::make_shared<Impl>("collisional ionisation equilibrium, without radiation",
                             [](double, double temperature, bool&) { return balance(0, 1, temperature); }));
}

Ionization Ionization::table(const std::string& path, double redshift) {
  const io::Input file(path);
  const std::string info = file.has("ionbal") ? file.text("ionbal", "info").value_or("") : "";
  std::vector<Axis> axes;
  for (const char* name : {"logd", "logt", "redshift"}) axes.push_back(read_axis(file, name));
  if (!file.has("ionbal")) {
    throw Error(ExitCode::input, fmt::format("{}: no array \"ionbal\"; a table of neutral fractions has it, and its "
                                             "axes \"logd\", \"logt\" and \"redshift\"",
                                             path));
  }
  const std::vector<std::string> names = axes_in_info(path, info);
  std::array<std::size_t, 3> order{}, lengths{};
  std::vector<Axis> stored;
  for (std::size_t i = 0; i < 3; ++i) {
    order[i] = std::size_t(std::ranges::find(axes, names[i], &Axis::name) - axes.begin());
    stored.push_back(axes[order[i]]);
    lengths[i] = stored[i].values.size();
  }
  std::vector<double> values = read_table(file, "ionbal", stored);
  make_logarithms(path, info.starts_with("log"), values);
  const AxisPosition z = locate_redshift(axes[2], redshift, path);
  return Ionization(std::make_shared<Impl>(
      fmt::format("neutral fraction from the table {} at z = {:.4g} (log n_H {:g} to {:g}, log T {:g} to {:g})", path,
                  redshift, axes[0].values.front(), axes[0].values.back(), axes[1].values.front(),
                  axes[1].values.back()),
      [=, values = std::move(values)](double density, double temperature, bool& outside) {
        const std::array<AxisPosition, 3> at = {locate(axes[0], std::log10(density)),
                                                locate(axes[1], std::log10(temperature)), z};
        outside = at[0].outside || at[1].outside;
        return std::pow(10, interpolate<3>(values, lengths, {at[order[0]], at[order[1]], at[order[2]]}));
      }));
}

double Ionization::neutral_fraction(double hydrogen_density, double temperature) const {
  if (!(hydrogen_density >= 0) || !(temperature > 0)) return std::numeric_limits<double>::quiet_NaN();
  bool outside = false;
  const double fraction = impl_->fraction(hydrogen_density, temperature, outside);
  if (outside) impl_->clamped.fetch_add(1, std::memory_order_relaxed);
  return fraction;
}

std::uint64_t Ionization::clamped() const { return impl_->clamped.load(); }
std::string Ionization::describe() const { return impl_->description; }

}  // namespace thor::emission
