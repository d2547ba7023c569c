// The hot loops, written once over vectors of any width and compiled once per instruction set. All give the same bits.
//
// Rows of X are packed in blocks of `block_rows` so that one feature of a whole block is one contiguous
// load; support vectors are packed by fours so that a tile of (block x 4) kernel values stays in registers.
#pragma once

#include "embedded/step_lanes.hpp"
#include "kernel.hpp"
#include "linear/linear_lanes.hpp"

namespace abstain {

template <class T> inline constexpr int block_rows = 256 / static_cast<int>(sizeof(T));
inline constexpr int support_tile = 4;
inline constexpr int dots_side = 4;

// How a kernel value is made of features that were scaled beforehand (dense_kernel.cpp); formulas.hpp has the formulas.
template <class T> struct Shape {
    KernelName kernel;
    bool by_difference;  // rbf and laplacian by x - s itself: slower, exact when points lie far from the centre
    int features;
    T coef0;
    int degree;
};

template <class T> struct Rising {
    T gain;
    int index;
};

template <class T> struct Falling {
    T lowest;
    int index;  // -1: no v is positive
};

template <class T> struct Lanes {
    // sums[row] += sum_s coef_s k(x_row, s) over one block of rows; partial sums of 64 terms in T, the rest in double.
    void (*accumulate)(const Shape<T>&, const T* block, const T* half, const T* support, const T* support_half, const T* coef,
                       int tiles, double* sums);
    // out[s][first + row] = k(x_row, s) over the first `count` rows of a block, and perhaps some that follow them in it.
    void (*values)(const Shape<T>&, const T* block, const T* half, const T* support, const T* support_half, int tiles,
                   T* const* out, long first, long count);
    // out[row] = k(x_row, s) over one block of rows, for one support vector whose features are contiguous.
    void (*row)(const Shape<T>&, const T* block, const T* half, const T* support, T support_half, T* out);
    // sums[row] += sum_r coef_r rows[r][row]: the same sum from rows that a cache holds.
    void (*combine)(const T* const* rows, const T* coef, int count, long first, long last, double* sums);
    // F += di Ki + dj Kj, and where (up - F) is largest; size a multiple of block_rows. Ties go to the lower index.
    Rising<T> (*step)(int size, T* F, const T* Ki, const T* Kj, T di, T dj, const T* up);
    // Where v^2 / (Kii + diagonal - 2 Ki) is largest for v = best - (down - F) > 0, and the smallest (down - F).
    Falling<T> (*partner)(int size, const T* F, const T* Ki, const T* diagonal, const T* down, T Kii, T best);
    T (*dot)(const T* a, const T* b, long size);         // a.b
    // out[r * dots_side + s] = a_r.b_s for so many rows a_r and b_s, which begin a stride apart.
    void (*dots)(const T* a, long a_stride, const T* b, long b_stride, long size, T* out);
    void (*add)(T* a, const T* b, T factor, long size);  // a += factor b
};

// All loops for one instruction set.
struct LaneSet {
    const char* name;
    Lanes<float> in_single;
    Lanes<double> in_double;
    StepLanes steps;
    LinearLanes<float> linear_single;
    LinearLanes<double> linear_double;
    Outer outer;
    DescentLanes descent_of_one, descent_of_eight;
};
extern const LaneSet lanes_v2;  // runs everywhere
#ifdef ABSTAIN_X86
extern const LaneSet lanes_v3, lanes_v4;
#endif

const LaneSet& current_lanes();  // the widest that this processor runs, unless dispatch.hpp chose others
template <class T> const Lanes<T>& lanes();
template <class T> const LinearLanes<T>& linear_lanes();

}  // namespace abstain
