#include "thor/gridding/deposit/cell_values.hpp"

#include <atomic>
#include <cmath>
#include <cstring>

#include "thor/core/parallel_for.hpp"
#include "thor/gridding/gas/gas_state.hpp"

namespace thor::gridding {

namespace {

/// Below this density of atoms [cm^-3] a species has no temperature of its own: its sums reach the limit of single
/// precision.
constexpr double fewest_atoms = 1e-30;

const char* const axes[] = {"_x", "_y", "_z"};

}  // namespace

std::vector<CellArray> cell_arrays(const FieldList& fields) {
  std::vector<CellArray> out{{"density", "g cm-3", "mass density of all gas", mass}};
  if (fields.mass_weighted) {
    for (int a = 0; a < 3; ++a) {
      out.push_back({std::string("velocity") + axes[a], "km s-1", "peculiar velocity of all gas", momentum_x + a});
    }
    out.push_back({"temperature", "K", "temperature of all gas; conserves thermal energy", energy});
  }
  out.push_back({"HI_density", "cm-3", "neutral hydrogen", HI});
  out.push_back({"HII_density", "cm-3", "ionized hydrogen", HII});
  out.push_back({"electron_density", "cm-3", "free electrons", electrons});
  for (int s = 0; s < fields.species(); ++s) {
    const std::string name = fields.species_name(s);
    const int first = fields.moment(s, 0);
    out.push_back({name + "_temperature", "K", "mean over the atoms of " + name, first + moment_T});
    for (int a = 0; a < 3; ++a) {
      out.push_back({name + "_velocity" + axes[a], "km s-1", "peculiar velocity, mean over the atoms of " + name,
                     first + moment_vx + a});
    }
  }
  if (fields.metals >= 0) {
    out.push_back({"metallicity", "", "mass fraction of metals in solar units", fields.metals});
    out.push_back({"dust", "cm-3", "(n_HI + f_ion n_HII) Z/Z_sun", fields.dust});
  }
  if (fields.recombination >= 0) {
    out.push_back({"emissivity_recombination", "erg s-1 cm-3", "Lya from recombination", fields.recombination});
    out.push_back({"emissivity_collisional", "erg s-1 cm-3", "Lya from collisional excitation", fields.collisional});
  }
  for (std::size_t k = 0; k < fields.ions.size(); ++k) {
    out.push_back({fields.ions[k] + "_density", "cm-3", fields.ions[k], fields.first_ion + int(k)});
  }
  for (std::size_t k = 0; k < fields.lines.size(); ++k) {
    out.push_back({"emissivity_" + fields.lines[k], "erg s-1 cm-3", fields.lines[k], fields.first_line + int(k)});
  }
  return out;
}

template <class T>
std::vector<double> sum_layers(const CellSums<T>& sums, int threads) {
  const auto planes = std::size_t(sums.layers().count()), count = std::size_t(sums.fields());
  std::vector<double> part(planes * count, 0.);
  parallel_for(threads, planes, 1, [&](std::size_t x, std::size_t) {
    const T* value = sums.row(sums.layers().first + std::int64_t(x), 0);
    const std::int64_t cells = sums.lattice().cells[1] * sums.lattice().cells[2];
    double* sum = part.data() + x * count;
    for (std::int64_t c = 0; c < cells; ++c) {
      for (std::size_t f = 0; f < count; ++f) sum[f] += double(*value++);
    }
  });
  return part;
}

void add_layers(const std::vector<double>& layers, std::vector<double>& total) {
  for (std::size_t i = 0; i < layers.size(); ++i) total[i % total.size()] += layers[i];
}

std::vector<double> in_cgs(std::vector<double> total, const FieldList& fields, const Lattice& lattice) {
  for (std::size_t f = 0; f < total.size(); ++f) total[f] *= fields.unit(int(f)) * lattice.volume();
  return total;
}

void cell_values(const double* sums, const FieldList& fields, double solar_metallicity, float* values) {
  const double m = sums[mass];  // in units of m_H
  values[mass] = float(m * hydrogen_mass);
  if (!(m > 0)) {
    std::fill(values, values + fields.count, 0.f);
    values[energy] = float(empty_temperature);
    for (int s = 0; s < fields.species(); ++s) values[fields.moment(s, moment_T)] = float(empty_temperature);
    return;
  }
  for (int f = momentum_x; f <= momentum_z; ++f) values[f] = float(sums[f] / (m * constants::km));
  const double particles = 0.25 * (m + 3 * (sums[HI] + sums[HII])) + sums[electrons];
  values[energy] = float((adiabatic_index - 1) * sums[energy] / (constants::k_B * particles));
  for (int f = HI; f < fields.count; ++f) values[f] = float(sums[f] * fields.unit(f));
  if (fields.metals >= 0) values[fields.metals] = float(sums[fields.metals] / m / solar_metallicity);
  for (int s = 0; s < fields.species(); ++s) {
    const double atoms = sums[fields.number_of(s)];
    const bool some = atoms > fewest_atoms;
    const int T = fields.moment(s, moment_T), v = fields.moment(s, moment_vx);
    values[T] = some ? float(sums[T] / atoms) : values[energy];
    for (int a = 0; a < 3; ++a) {
      values[v + a] = some ? float(sums[v + a] / (atoms * constants::km)) : values[momentum_x + a];
    }
  }
}

template <class T>
std::uint64_t finish(CellSums<T>& sums, const FieldList& fields, double solar_metallicity, int threads) {
  const auto length = std::size_t(sums.lattice().cells[2]), count = std::size_t(fields.count);
  std::atomic<std::uint64_t> empty{0};
  parallel_for(threads, sums.columns(), 256, [&](std::size_t begin, std::size_t end) {
    std::vector<double> cell(count);
    std::vector<float> values(count), row(length * count);
    std::uint64_t found = 0;
    for (std::size_t column = begin; column < end; ++column) {
      T* data = sums.column(column);
      for (std::size_t z = 0; z < length; ++z) {
        std::copy(data + z * count, data + (z + 1) * count, cell.begin());
        if (!(cell[mass] > 0)) ++found;
        cell_values(cell.data(), fields, solar_metallicity, values.data());
        for (std::size_t f = 0; f < count; ++f) row[f * length + z] = values[f];
      }
      std::memcpy(static_cast<void*>(data), row.data(), row.size() * sizeof(float));
    }
    empty += found;
  });
  return empty;
}

template <class T>
void copy_array(const CellSums<T>& sums, int field, float* out, int threads) {
  const auto length = std::size_t(sums.lattice().cells[2]);
  parallel_for(threads, sums.columns(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t column = begin; column < end; ++column) {
      const auto* bytes =
          reinterpret_cast<const std::byte*>(sums.column(column)) + std::size_t(field) * length * sizeof(float);
      std::memcpy(out + column * length, bytes, length * sizeof(float));
    }
  });
}

template std::vector<double> sum_layers(const CellSums<float>&, int);
template std::vector<double> sum_layers(const CellSums<double>&, int);
template std::uint64_t finish(CellSums<float>&, const FieldList&, double, int);
template std::uint64_t finish(CellSums<double>&, const FieldList&, double, int);
template void copy_array(const CellSums<float>&, int, float*, int);
template void copy_array(const CellSums<double>&, int, float*, int);

}  // namespace thor::gridding
