// The kernel matrix as the solvers use it: a block of it, its diagonal, and the active rows of its product with a sparse
// vector.
#pragma once

#include <vector>

#include "index.hpp"

namespace abstain {

// A vector over all rows, by its entries other than 0.
struct SparseVector {
    std::vector<Index> rows;
    std::vector<double> values;

    void reserve(std::size_t size) {
        rows.reserve(size);
        values.reserve(size);
    }
    void add(Index row, double value) {
        if (value == 0) return;
        rows.push_back(row);
        values.push_back(value);
    }
};

// Kernel values that are all in memory.
template <class T> struct Block {
    const T* values = nullptr;
    Index stride = 0;

    const T* row(Index a) const { return values + a * stride; }
};

template <class T> class KernelMatrix {
  public:
    virtual ~KernelMatrix() = default;
    virtual double diagonal(Index i) const = 0;
    // out[a * stride + b] = k(x_rows[a], x_rows[b]); stride a multiple of 64, at least `rows.size()` rounded up to one,
    // and room for as many rows.
    virtual void block(const std::vector<Index>& rows, T* out, Index stride) = 0;
    // The whole matrix if it is in memory, with rows as long as pair steps read them; else no values.
    virtual Block<T> whole() const { return {}; }
    // The rows of `accumulate` and `row` from now on; ascending.
    virtual void activate(const std::vector<Index>& rows) = 0;
    // sums[a] += sum_s coef_s k(x_active[a], x_s); `sums` has room for the active rows rounded up to 64.
    virtual void accumulate(const SparseVector& coef, double* sums) = 0;
    // out[a] = k(x_active[a], x_i), finite in the padding up to a multiple of 64.
    virtual void row(Index i, T* out) = 0;
};

}  // namespace abstain
