namespace {
constexpr int vector_bytes = 16, tile_vectors = 2;
}
#include "all_lanes.hpp"

constinit const abstain::LaneSet abstain::lanes_v2 = abstain::all_lanes("baseline");
