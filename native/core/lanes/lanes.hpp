// The hot loops, written once over vectors of any width and compiled once per instruction set.
//
// Rows of X are packed in blocks of `block_rows` so that one feature of a whole block is one contiguous
// load; support vectors are packed by fours so that a tile of (block x 4) kernel values stays in registers.
#pragma once

namespace abstain {

// How a kernel value is made of features that were scaled beforehand (see dense_kernel.cpp):
//   rbf_dot         2^(x.s - |x|^2/2 - |s|^2/2)
//   rbf_difference  2^-|x - s|^2          slower, exact when points lie far from the centre
//   linear          x.s
//   poly            (x.s + coef0)^degree
//   sigmoid         tanh(x.s + coef0)
enum class Form { rbf_dot, rbf_difference, linear, poly, sigmoid };

template <class T> inline constexpr int block_rows = 256 / static_cast<int>(sizeof(T));
inline constexpr int support_tile = 4;

template <class T> struct Shape {
    Form form;
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

// FR02's smoothed step loss h''(xi, eps) with the numbers that stay the same over all rows; see embedded/loss.hpp.
template <class T> struct StepLoss {
    T steepness, margin_cost, reject_step, error_step, slack_penalty, least_slack, eps;
};

template <class T> struct Lanes {
    const char* name;
    // sums[row] += sum_s coef_s k(x_row, s) over one block of rows; partial sums of 64 terms in T, the rest in double.
    void (*accumulate)(const Shape<T>&, const T* block, const T* half, const T* support, const T* support_half,
                       const T* coef, int tiles, double* sums);
    // out[s][first + row] = k(x_row, s) over one block of rows.
    void (*values)(const Shape<T>&, const T* block, const T* half, const T* support, const T* support_half,
                   int tiles, T* const* out, long first);
    // sums[row] += sum_r coef_r rows[r][row]: the same sum from rows that a cache holds.
    void (*combine)(const T* const* rows, const T* coef, int count, long first, long last, double* sums);
    // F += di Ki + dj Kj, and where (up - F) is largest; size a multiple of 64. Ties go to the lower index.
    Rising<T> (*step)(int size, T* F, const T* Ki, const T* Kj, T di, T dj, const T* up);
    // Where v^2 / (Kii + diagonal - 2 Ki) is largest for v = best - (down - F) > 0, and the smallest (down - F).
    Falling<T> (*partner)(int size, const T* F, const T* Ki, const T* diagonal, const T* down, T Kii, T best);
    T (*dot)(const T* a, const T* b, long size);                // a.b
    void (*add)(T* a, const T* b, T factor, long size);         // a += factor b
    // Over blocks of rows (features of a block in turn, as in `accumulate`) with margins m = rows . point:
    // gradient = d/dpoint sum_i weight_i phi(m_i, eps), sums = {that sum, its derivative by eps}. scratch: features * 16.
    void (*step_losses)(const StepLoss<T>&, int features, const T* rows, const T* weight, const T* point, long blocks,
                        T* gradient, T* sums, T* scratch);
    // min_e base[e] + sum_k factor[k] row[k][e] over whole vectors; out[e] holds the sums where it is given.
    T (*least_sum)(const T* base, const T* const* row, const T* factor, int count, int size, T* out);
};

template <class T> const Lanes<T>& lanes();  // the widest that this processor runs

}  // namespace abstain
