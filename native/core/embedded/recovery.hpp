// From the multipliers of FR02's dual back to a machine: w by equation 26, the value of the dual, then b and eps.
#pragma once

#include "embedded/dual.hpp"

namespace abstain {

struct Recovered {
    Point point;       // u, b, eps
    double value = 0;  // F / C there
    double bound = 0;  // W / C at the multipliers, which no F / C goes below
};

// W takes its minimum over eps (equation 29) between the values of the dual's grid too: on the grid alone it comes out
// too high and bounds nothing. That eps is ill-determined, and b is not given at all; so b and eps are those that
// minimise F for the w found, the eps of equation 29 being one candidate (eps = 0 alone where w_R >= 1/2).
Recovered recover(const EmbeddedRows& rows, const EmbeddedLoss& loss, const DualOutcome& dual, Watch& watch);

}  // namespace abstain
