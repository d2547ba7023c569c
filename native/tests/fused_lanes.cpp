// The lanes with fused products and sums: what the same bits are lost by, for the control of test_same_bits.cpp.
namespace {
constexpr int vector_bytes = 32, tile_vectors = 2;
}
#include "lanes/all_lanes.hpp"

extern const abstain::LaneSet fused_lanes;
constinit const abstain::LaneSet fused_lanes = abstain::all_lanes("fused");
