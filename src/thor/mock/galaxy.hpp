#pragma once
#include "thor/mock/options.hpp"
#include "thor/mock/snapshot.hpp"

namespace thor::mock {

/// A disc galaxy in the middle of a periodic cube, rotating about +z: docs/mock.md#a-galaxy.
Snapshot make_galaxy(const GalaxyOptions& options, int threads = 1);

}  // namespace thor::mock
