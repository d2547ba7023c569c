namespace {
constexpr int vector_bytes = 64, tile_vectors = 4;
}
#include "all_lanes.hpp"

constinit const abstain::LaneSet abstain::lanes_v4 = abstain::all_lanes("x86-64-v4");
