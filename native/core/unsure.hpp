// Rows that may be more unusual than a level, by bounds in single precision; all others surely are not.
//
//   z = (x - centre) / spread,   r_j = residuals_j . z,   f = sum_i coef_i exp(-gamma |middle_i - c|^2),   c = z clipped
//
// A row is unsure unless every |r_j| is below `most` and f is above `least`, each by more than rounding can change.
#pragma once

#include <vector>

#include "rows.hpp"

namespace abstain {

struct Bounds {
    const double *centre, *spread;
    DenseRows residuals;
    double most;
    DenseRows middles;
    const double* coef;
    double gamma, least;
    double clip;
};

std::vector<Index> unsure_rows(const DenseRows& X, const Bounds& bounds);

}  // namespace abstain
