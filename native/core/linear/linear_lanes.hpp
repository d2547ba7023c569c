// The loops of the linear machine, compiled once per instruction set with those of lanes/lanes.hpp.
#pragma once

namespace abstain {

template <class T> struct LinearLanes {
    // out[i] = (x_i - centre) . p
    void (*rows_times)(const T* X, const double* centre, long rows, long features, const double* p, double* out);
    // out += sum_i coef_i (x_which[i] - centre)
    void (*rows_sum)(const T* X, const double* centre, const long* which, const double* coef, long count, long features,
                     double* out);
    // out[l] = x . w_l for a compressed row and eight vectors whose entries lie side by side; w_l += factor_l x
    void (*eight_times)(const T* values, const int* columns, long count, const double* w, double* out);
    void (*eight_add)(const T* values, const int* columns, long count, const double* factor, double* w);
};

// H[i][j] += sum_r panel[r][i] panel[r][j] for i in [first, last), j from about i to the end; `stride` is a multiple of 16,
// first and last of 4.
using Outer = void (*)(const double* panel, long rows, long stride, long first, long last, double* H);

// Coordinate descent over L problems (linear_descent.cpp), whose numbers lie side by side: of one row,
struct RowBeside {
    const double *sign, *slope, *edge;  // slope and edge of all pieces
    double* gamma;
    double squared;
    int pieces;
};
// and of all.
struct Beside {
    double *bias, *excess;
    const double *stretch, *live;
};
struct DescentLanes {
    bool (*respond)(const RowBeside&, const Beside&, const double* score, double resting, double* change);
    void (*row_gap)(const RowBeside&, const Beside&, const double* score, double* margins, double* gap, double* gaps);
    void (*loss_sums)(const double* slope, const double* edge, int pieces, const double* margins, const double* factor, long rows,
                      double* sums);
    void (*row_room)(const RowBeside&, const Beside&, double resting, double* room, double* total);
};

}  // namespace abstain
