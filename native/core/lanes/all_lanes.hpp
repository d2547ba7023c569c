// Every loop, for the vector_bytes and tile_vectors that the including file sets.
//
// Everything here has internal linkage, and no standard templates are used: a function compiled for a newer processor must
// never be the copy that the linker keeps for the rest of the program.
#include "lanes.hpp"
#include "exp2_powers.hpp"  // numbers only
#include "policy.hpp"       // numbers only
#include "vectors.hpp"
#include "formulas.hpp"
#include "sums.hpp"
#include "selection.hpp"
#include "embedded/step_losses.hpp"
#include "linear.hpp"
#include "descent.hpp"

namespace abstain {
namespace {

template <class T> constexpr Lanes<T> lanes_of() {
    return {accumulate<T>, values<T>, row<T>, combine<T>, step<T>, partner<T>, dot<T>, dots<T>, add<T>};
}
template <class T> constexpr LinearLanes<T> linear_lanes_of() { return {rows_times<T>, rows_sum<T>, eight_times<T>, eight_add<T>}; }
constexpr LaneSet all_lanes(const char* name) {
    return {name,  lanes_of<float>(), lanes_of<double>(), {step_losses, least_sum}, linear_lanes_of<float>(), linear_lanes_of<double>(),
            outer, descent_lanes_of<1>(), descent_lanes_of<8>()};
}

}  // namespace
}  // namespace abstain
