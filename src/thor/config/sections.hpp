#pragma once
#include "thor/config/config.hpp"
#include "thor/config/reader.hpp"
#include "thor/core/constants.hpp"

/// One function per section of the file; each reads all its keys and finishes its reader.
namespace thor::config {

inline constexpr Bounds below_light{.low = -constants::c, .high = constants::c, .low_open = true, .high_open = true};

Dataset read_dataset(Reader reader);
Generator read_generator(Reader reader);
void read_outputs(std::vector<Reader> readers, Config& config);

}  // namespace thor::config
