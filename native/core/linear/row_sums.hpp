// Products and sums of the linear machine's rows in each of their layouts.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "lanes/lanes.hpp"
#include "linear/linear_policy.hpp"
#include "linear/linear_rows.hpp"

namespace abstain {

template <class Row> double dot_row(const Row& X, Index i, const double* p) {
    double sum = 0;
    if constexpr (requires { X.starts; }) {
        for (Index e = X.starts[i]; e < X.starts[i + 1]; ++e) sum += static_cast<double>(X.values[e]) * p[X.columns[e]];
    } else {
        linear_lanes<std::remove_const_t<std::remove_pointer_t<decltype(X.values)>>>().rows_times(X.values + i * X.features, X.centre, 1,
                                                                                                  X.features, p, &sum);
    }
    return sum;
}

template <class T> void times_rows(const DenseLinearRows<T>& X, Index first, Index last, const double* p, double* out) {
    linear_lanes<T>().rows_times(X.values + first * X.features, X.centre, last - first, X.features, p, out + first);
}

template <class T> void times_rows(const SparseLinearRows<T>& X, Index first, Index last, const double* p, double* out) {
    for (Index i = first; i < last; ++i) out[i] = dot_row(X, i, p);
}

template <class T>
void sum_rows(const DenseLinearRows<T>& X, const std::vector<Index>& which, const std::vector<double>& coef, double* out) {
    static_assert(sizeof(long) == sizeof(Index));
    linear_lanes<T>().rows_sum(X.values, X.centre, reinterpret_cast<const long*>(which.data()), coef.data(),
                               static_cast<long>(which.size()), X.features, out);
}

template <class T>
void sum_rows(const SparseLinearRows<T>& X, const std::vector<Index>& which, const std::vector<double>& coef, double* out) {
    for (std::size_t r = 0; r < which.size(); ++r)
        for (Index e = X.starts[which[r]]; e < X.starts[which[r] + 1]; ++e)
            out[X.columns[e]] += coef[r] * static_cast<double>(X.values[e]);
}

template <class T> void pack_row(const DenseLinearRows<T>& X, Index i, double* out) {
    const T* row = X.values + i * X.features;
    for (Index j = 0; j < X.features; ++j) out[j] = static_cast<double>(row[j]) - X.centre[j];
}

template <class T> void pack_row(const SparseLinearRows<T>& X, Index i, double* out) {
    std::fill(out, out + X.features, 0.0);
    for (Index e = X.starts[i]; e < X.starts[i + 1]; ++e) out[X.columns[e]] += static_cast<double>(X.values[e]);
}

// H += sum of (x_i, 1)(x_i, 1)' over some rows, less that over others, if they have so few entries that this is faster than
// dense rows.
template <class Row> bool outer_rows(const Row& X, const std::vector<Index>& rows, const std::vector<Index>& less, double* H) {
    if constexpr (requires { X.starts; }) {
        const Index width = X.features + 1;
        double products = 0;
        for (const auto* which : {&rows, &less})
            for (const Index i : *which) {
                const double count = static_cast<double>(X.starts[i + 1] - X.starts[i]);
                products += count * count;
            }
        if (products > linear_policy::sparse_outer * static_cast<double>((rows.size() + less.size()) * width * width)) return false;
        const auto add = [&](Index i, double sign) {
            for (Index e = X.starts[i]; e < X.starts[i + 1]; ++e) {
                const double value = sign * static_cast<double>(X.values[e]);
                double* line = H + X.columns[e] * width;
                for (Index f = X.starts[i]; f < X.starts[i + 1]; ++f) line[X.columns[f]] += value * static_cast<double>(X.values[f]);
                line[X.features] += value;
                H[X.features * width + X.columns[e]] += value;
            }
            H[width * width - 1] += sign;
        };
        for (const Index i : rows) add(i, 1.0);
        for (const Index i : less) add(i, -1.0);
        return true;
    }
    return false;
}

}  // namespace abstain
