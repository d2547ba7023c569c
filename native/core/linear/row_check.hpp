// The sums over rows that a linear machine's certificate needs, in one pass: for several sets of coefficients.
#pragma once

#include <vector>

#include "linear/linear_rows.hpp"

namespace abstain {

struct RowCheck {
    std::vector<double> sums;   // sum_i beta_i (x_i - c), one after another
    std::vector<double> reach;  // sum_i w_i^2 |x_i - c|^2
};

// `beta` and `weight` have an entry for each row, `count` times.
RowCheck check_rows(const LinearRows& rows, const double* beta, const double* weight, Index count);

}  // namespace abstain
