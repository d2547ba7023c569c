// Visits to single rows of the linear machine, in each of their layouts, and a random order of visits.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lanes/lanes.hpp"
#include "linear/linear_rows.hpp"

namespace abstain {

template <class Row> constexpr bool compressed = requires(Row X) { X.starts; };

template <class Row> using Value = std::remove_const_t<std::remove_pointer_t<decltype(Row::values)>>;

template <class Row> Index entries(const Row& X, Index i) {
    if constexpr (compressed<Row>) return X.starts[i + 1] - X.starts[i];
    return X.features;
}

struct Entry {
    Index column;
    double value;
};
template <class Row> Entry entry(const Row& X, Index i, Index k) {
    if constexpr (compressed<Row>) return {X.columns[X.starts[i] + k], static_cast<double>(X.values[X.starts[i] + k])};
    else return {k, static_cast<double>(X.values[i * X.features + k]) - X.centre[k]};
}

// The products of a row with L vectors, whose entries lie side by side in w. Of one vector in four sums, of several in two:
// one after the other they would wait for each other.
template <int L, class Row> void times(const Row& X, Index i, const double* w, double* out) {
    if constexpr (L == 8 && compressed<Row>) {
        const Index start = X.starts[i];
        return linear_lanes<Value<Row>>().eight_times(X.values + start, X.columns + start, entries(X, i), w, out);
    }
    if constexpr (L == 1 && compressed<Row>) {
        const auto* const value = X.values + X.starts[i];
        const std::int32_t* const column = X.columns + X.starts[i];
        const Index count = entries(X, i), whole = count / 4 * 4;
        double sum[4] = {};
        for (Index k = 0; k < whole; k += 4)
            for (int part = 0; part < 4; ++part) sum[part] += static_cast<double>(value[k + part]) * w[column[k + part]];
        for (Index k = whole; k < count; ++k) sum[0] += static_cast<double>(value[k]) * w[column[k]];
        *out = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        return;
    }
    constexpr int parts = L == 1 ? 4 : 2;
    double sum[parts][L] = {};
    const Index count = entries(X, i), whole = count / parts * parts;
    const auto add = [&](Index k, double* to) {
        const auto [column, x] = entry(X, i, k);
        for (int l = 0; l < L; ++l) to[l] += x * w[column * L + l];
    };
    for (Index k = 0; k < whole; k += parts)
        for (int part = 0; part < parts; ++part) add(k + part, sum[part]);
    for (Index k = whole; k < count; ++k) add(k, sum[0]);
    for (int l = 0; l < L; ++l) out[l] = L == 1 ? (sum[0][l] + sum[1][l]) + (sum[parts - 2][l] + sum[parts - 1][l]) : sum[0][l] + sum[1][l];
}

// Adds multiples of a row to L vectors.
template <int L, class Row> void add_to(const Row& X, Index i, const double* factor, double* w) {
    const Index count = entries(X, i);
    if constexpr (L == 8 && compressed<Row>)
        return linear_lanes<Value<Row>>().eight_add(X.values + X.starts[i], X.columns + X.starts[i], count, factor, w);
    if constexpr (L == 1 && compressed<Row>) {
        const auto* const value = X.values + X.starts[i];
        const std::int32_t* const column = X.columns + X.starts[i];
        const double by = *factor;
        Index k = 0;
        for (; k + 4 <= count; k += 4)
            for (int part = 0; part < 4; ++part) w[column[k + part]] += by * static_cast<double>(value[k + part]);
        for (; k < count; ++k) w[column[k]] += by * static_cast<double>(value[k]);
        return;
    }
    for (Index k = 0; k < count; ++k) {
        const auto [column, x] = entry(X, i, k);
        for (int l = 0; l < L; ++l) w[column * L + l] += factor[l] * x;
    }
}

// Rows come in random order, so the next one is prefetched. (A call without effects would be left out.)
template <class Row> [[gnu::always_inline]] inline void fetch(const Row& X, Index i) {
    if constexpr (compressed<Row>) {
        const auto ahead = [](const auto* first, const auto* last) __attribute__((always_inline)) {
            for (const char* at = reinterpret_cast<const char*>(first); at < reinterpret_cast<const char*>(last); at += 64)
                __builtin_prefetch(at);
        };
        ahead(X.values + X.starts[i], X.values + X.starts[i + 1]);
        ahead(X.columns + X.starts[i], X.columns + X.starts[i + 1]);
    }
}

class RandomOrder {
  public:
    Index below(Index n) {  // xorshift (Marsaglia 2003), then the high part of a product
        state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
        return static_cast<Index>(((state_ >> 32) * static_cast<std::uint64_t>(n)) >> 32);
    }

  private:
    std::uint64_t state_ = 88172645463325252u;
};

}  // namespace abstain
