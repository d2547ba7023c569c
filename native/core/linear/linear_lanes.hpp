// The loops of the linear machine, compiled once per instruction set with those of lanes/lanes.hpp.
#pragma once

namespace abstain {

template <class T> struct LinearLanes {
    // out[i] = (x_i - centre) . p
    void (*rows_times)(const T* X, const double* centre, long rows, long features, const double* p, double* out);
    // out += sum_i coef_i (x_which[i] - centre)
    void (*rows_sum)(const T* X, const double* centre, const long* which, const double* coef, long count, long features,
                     double* out);
};

// H[i][j] += sum_r panel[r][i] panel[r][j] for i in [first, last), j from about i to the end; `stride` is a multiple of 16,
// first and last of 4.
using Outer = void (*)(const double* panel, long rows, long stride, long first, long last, double* H);

}  // namespace abstain
