namespace {
constexpr int vector_bytes = 32, tile_vectors = 2;
}
#include "all_lanes.hpp"

constinit const abstain::LaneSet abstain::lanes_v3 = abstain::all_lanes("x86-64-v3");
