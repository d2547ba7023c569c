// Which of the loops run: for tests and benchmarks, which compare them.
#pragma once

#include <span>

#include "lanes/lanes.hpp"

namespace abstain {

std::span<const LaneSet* const> lane_sets();  // all that this processor runs, the narrowest first
void use_lanes(const LaneSet& lanes);         // from now on

}  // namespace abstain
