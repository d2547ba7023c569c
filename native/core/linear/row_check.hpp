// The sums over rows that a linear machine's certificate needs, in one pass.
#pragma once

#include "linear/linear_rows.hpp"

namespace abstain {

struct RowCheck {
    std::vector<double> scores;  // (x_i - c) . w + b
    std::vector<double> sum;     // sum_i beta_i (x_i - c)
    double reach = 0;            // sum_i w_i^2 |x_i - c|^2
};

// `point` has w and, last, b; `beta` and `weight` have an entry for each row.
RowCheck check_rows(const LinearRows& rows, const double* point, const double* beta, const double* weight);

}  // namespace abstain
