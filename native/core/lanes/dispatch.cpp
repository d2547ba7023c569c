#include "lanes/dispatch.hpp"

#include <atomic>

namespace abstain {

namespace {

std::atomic<const LaneSet*> current = nullptr;

}  // namespace

std::span<const LaneSet* const> lane_sets() {
#ifdef ABSTAIN_X86
    static const LaneSet* const all[] = {&lanes_v2, &lanes_v3, &lanes_v4};
    static const std::size_t count = __builtin_cpu_supports("x86-64-v4") ? 3 : __builtin_cpu_supports("x86-64-v3") ? 2 : 1;
#else
    static const LaneSet* const all[] = {&lanes_v2};
    constexpr std::size_t count = 1;
#endif
    return {all, count};
}

const LaneSet& current_lanes() {
    const LaneSet* lanes = current.load(std::memory_order_relaxed);
    if (!lanes) current.store(lanes = lane_sets().back(), std::memory_order_relaxed);
    return *lanes;
}

void use_lanes(const LaneSet& lanes) { current.store(&lanes, std::memory_order_relaxed); }

template <> const Lanes<float>& lanes<float>() { return current_lanes().in_single; }
template <> const Lanes<double>& lanes<double>() { return current_lanes().in_double; }
template <> const LinearLanes<float>& linear_lanes<float>() { return current_lanes().linear_single; }
template <> const LinearLanes<double>& linear_lanes<double>() { return current_lanes().linear_double; }

}  // namespace abstain
