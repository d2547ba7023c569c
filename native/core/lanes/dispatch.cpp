#include "lanes.hpp"

namespace abstain {

const LaneSet& widest_lanes() {
    static const LaneSet& widest = []() -> const LaneSet& {
#ifdef ABSTAIN_X86
        if (__builtin_cpu_supports("x86-64-v4")) return lanes_v4;
        if (__builtin_cpu_supports("x86-64-v3")) return lanes_v3;
#endif
        return lanes_v2;
    }();
    return widest;
}

template <> const Lanes<float>& lanes<float>() { return widest_lanes().in_single; }
template <> const Lanes<double>& lanes<double>() { return widest_lanes().in_double; }
template <> const LinearLanes<float>& linear_lanes<float>() { return widest_lanes().linear_single; }
template <> const LinearLanes<double>& linear_lanes<double>() { return widest_lanes().linear_double; }

}  // namespace abstain
