#include "sparse_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "lanes/lanes.hpp"
#include "policy.hpp"

namespace abstain {

namespace {
constexpr double log2_e = 1.4426950408889634;
constexpr Index batch = 64;  // rows computed between two checks of the clock

double merged_distance(const SparseRows& X, Index i, const SparseRows& Y, Index j, bool squared) {
    double sum = 0;
    Index a = X.starts[i], b = Y.starts[j];
    const Index last_a = X.starts[i + 1], last_b = Y.starts[j + 1];
    while (a < last_a || b < last_b) {
        const Index k = a < last_a ? X.columns[a] : X.features, l = b < last_b ? Y.columns[b] : Y.features;
        const double apart = (k <= l ? X.values[a] : 0) - (l <= k ? Y.values[b] : 0);
        sum += squared ? apart * apart : std::abs(apart);
        a += k <= l, b += l <= k;
    }
    return sum;
}
}  // namespace

SparseColumns::SparseColumns(const KernelSpec& spec, const SparseRows& X)
    : spec_(spec), X_(X), norm_(X.rows), values_(X.starts[X.rows]), rows_(X.starts[X.rows]), starts_(X.features + 1, 0) {
    const Index stored = X.starts[X.rows];
    for (Index e = 0; e < stored; ++e) ++starts_[X.columns[e] + 1];
    for (Index k = 0; k < X.features; ++k) starts_[k + 1] += starts_[k];
    std::vector<Index> next(starts_.begin(), starts_.end() - 1);
    for (Index i = 0; i < X.rows; ++i)
        for (Index e = X.starts[i]; e < X.starts[i + 1]; ++e) {
            const Index to = next[X.columns[e]]++;
            const double x = values_[to] = X.values[e];
            rows_[to] = static_cast<std::int32_t>(i);
            norm_[i] += spec.name == KernelName::laplacian ? std::abs(x) : x * x;
        }
}

void SparseColumns::overlaps(const SparseRows& from, Index row, double* out) const {
    std::fill_n(out, rows(), 0.0);
    for (Index e = from.starts[row]; e < from.starts[row + 1]; ++e) {
        const double x = from.values[e], low = std::min(x, 0.0), high = std::max(x, 0.0);
        const Index first = starts_[from.columns[e]], last = starts_[from.columns[e] + 1];
        if (spec_.name == KernelName::laplacian)
            for (Index c = first; c < last; ++c) out[rows_[c]] += std::abs(std::min(std::max(values_[c], low), high));
        else
            for (Index c = first; c < last; ++c) out[rows_[c]] += x * values_[c];
    }
}

double SparseColumns::term(const SparseRows& from, Index row, double norm, double overlap, Index j) const {
    if (!spec_.shift_invariant()) return spec_.value(spec_.scale() * overlap, 0);
    const double sizes = norm + norm_[j];
    double distance = std::max(sizes - 2 * overlap, 0.0);
    // also where an overflow left a distance that is not a number
    if (!(distance >= policy::cancelled_share * sizes) && !(spec_.gamma * sizes <= policy::rounded_exponent))
        distance = merged_distance(from, row, X_, j, spec_.name == KernelName::rbf);
    return spec_.scale() * log2_e * distance;
}

void SparseColumns::finish(double* terms, Index count) const {
    if (!spec_.shift_invariant()) return;
    constexpr Index B = block_rows<double>;
    const Shape<double> none{KernelName::rbf, false, 0, 0, 0};  // 2^-half of no features
    const auto block = [&](double* of) { lanes<double>().row(none, nullptr, of, nullptr, 0, of); };
    for (; count >= B; terms += B, count -= B) block(terms);
    alignas(64) double rest[B] = {};
    std::copy_n(terms, count, rest);
    block(rest);
    std::copy_n(rest, count, terms);
}

void sparse_values(const KernelSpec& spec, const SparseRows& X, const SparseRows& Y, double* out, ThreadPool& pool, Watch& watch) {
    const SparseColumns columns(spec, Y), own(spec, X);
    for (Index first = 0; first < X.rows; first += batch, watch.look())
        pool.run(std::min(batch, X.rows - first), [&](Index p) {
            double* to = out + (first + p) * Y.rows;
            columns.overlaps(X, first + p, to);
            for (Index j = 0; j < Y.rows; ++j) to[j] = columns.term(X, first + p, own.norm(first + p), to[j], j);
            columns.finish(to, Y.rows);
        });
}

SparseKernel::SparseKernel(const KernelSpec& spec, const SparseRows& X, double cache_bytes, ThreadPool& pool, Watch& watch)
    : spec_(spec), X_(X), columns_(spec, X), cache_(X.rows, cache_bytes), pool_(pool), watch_(watch) {}

void SparseKernel::make_row(Index i, const std::vector<Index>& columns, Index padded, double* scratch, double* out) const {
    columns_.overlaps(X_, i, scratch);
    for (std::size_t c = 0; c < columns.size(); ++c)
        out[c] = columns_.term(X_, i, columns_.norm(i), scratch[columns[c]], columns[c]);
    columns_.finish(out, std::ssize(columns));
    std::fill(out + columns.size(), out + padded, 0.0);
}

void SparseKernel::block(const std::vector<Index>& rows, double* out, Index stride) {
    const Index count = std::ssize(rows);
    for (Index first = 0; first < count; first += batch, watch_.look()) {
        Aligned<double> scratch(std::min(batch, count - first) * X_.rows);
        pool_.run(std::min(batch, count - first), [&](Index p) {
            make_row(rows[first + p], rows, stride, scratch.data() + p * X_.rows, out + (first + p) * stride);
        });
    }
}

void SparseKernel::activate(const std::vector<Index>& rows) {
    cache_.select(active_, rows);
    active_ = rows;
}

void SparseKernel::row(Index i, double* out) {
    Aligned<double> scratch(X_.rows);
    make_row(i, active_, rounded_up(std::ssize(active_)), scratch.data(), out);
}

void SparseKernel::accumulate(const SparseVector& coef, double* sums) {
    const std::vector<Index>& support = coef.rows;
    const Index padded = rounded_up(std::ssize(active_));
    const Index total = std::ssize(support), most = std::min(batch, total);
    Aligned<double> scratch(most * X_.rows);
    Aligned<double> made(cache_.capacity() < most ? most * padded : 0);
    for (Index first = 0; first < total; first += batch, watch_.look()) {
        const Index count = std::min(batch, total - first);
        std::vector<double*> rows(count);
        std::vector<Index> missing;
        std::vector<double> factors(count);
        for (Index s = 0; s < count; ++s) {
            factors[s] = coef.values[first + s];
            rows[s] = made.empty() ? cache_.find(support[first + s]) : nullptr;
            if (!rows[s]) missing.push_back(s);
        }
        for (Index m : missing) rows[m] = made.empty() ? cache_.insert(support[first + m]) : made.data() + m * padded;
        pool_.run(std::ssize(missing), [&](Index p) {
            make_row(support[first + missing[p]], active_, padded, scratch.data() + p * X_.rows, rows[missing[p]]);
        });
        pool_.run((padded + 4095) / 4096, [&](Index p) {
            lanes<double>().combine(rows.data(), factors.data(), static_cast<int>(count), p * 4096,
                                    std::min(padded, (p + 1) * 4096), sums);
        });
    }
}

}  // namespace abstain
