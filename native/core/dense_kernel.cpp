#include "dense_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "mirror.hpp"
#include "policy.hpp"

namespace abstain {

namespace {

// Of the features, for lanes/formulas.hpp; rbf and laplacian take powers of 2.
double factor_of(const KernelSpec& spec, bool far) {
    const double factor = std::sqrt(spec.scale()), powers = (far ? 1 : 2) * std::numbers::log2e;
    if (spec.name == KernelName::laplacian) return spec.scale() * powers;
    return spec.name == KernelName::rbf ? factor * std::sqrt(powers) : factor;
}

// A sum over features in four parts, so that no addition has to wait for the one before.
template <class Term> double sum_of(Index features, const Term& term) {
    double part[4] = {};
    Index k = 0;
    for (; k + 4 <= features; k += 4)
        for (int j = 0; j < 4; ++j) part[j] += term(k + j);
    for (; k < features; ++k) part[0] += term(k);
    return (part[0] + part[1]) + (part[2] + part[3]);
}

// |x|^2 / 2, for laplacian the sum of x_k / 2, where x(k) are the scaled features.
template <class Feature> double half_of(const KernelSpec& spec, Index features, const Feature& x) {
    if (spec.name == KernelName::laplacian) return sum_of(features, [&](Index k) { return 0.5 * x(k); });
    return sum_of(features, [&](Index k) { return 0.5 * x(k) * x(k); });
}

// The same entries, the next one always of the sign that brings the running sum back to 0. The lanes add up 64 terms in T: of
// rows sorted by class these would have one sign, and the rounding of their sums is three times as large.
SparseVector interleaved(const SparseVector& coef) {
    SparseVector mixed;
    mixed.rows.reserve(coef.rows.size());
    mixed.values.reserve(coef.values.size());
    double sum = 0;
    const std::size_t count = coef.rows.size();
    for (std::size_t next[2] = {0, 0};;) {  // the first negative entry not taken yet, and the first positive one
        for (const bool positive : {false, true})
            while (next[positive] < count && (coef.values[next[positive]] > 0) != positive) ++next[positive];
        const bool positive = next[1] < count && (sum <= 0 || next[0] == count);
        const std::size_t s = next[positive]++;
        if (s >= count) return mixed;
        mixed.add(coef.rows[s], coef.values[s]);
        sum += coef.values[s];
    }
}

}  // namespace

std::vector<double> column_means(const DenseRows& X) {
    std::vector<double> means(X.features, 0.0);
    for (Index i = 0; i < X.rows; ++i)
        lanes<double>().add(means.data(), X.values + i * X.features, 1.0 / static_cast<double>(X.rows), X.features);
    return means;
}

double spread(const KernelSpec& spec, const DenseRows& X, const double* centre) {
    const double factor = factor_of(spec, false);
    const std::vector<double> origin(X.features, 0.0);
    const double* c = centre ? centre : origin.data();
    double widest = 0;
    for (Index i = 0; i < X.rows; ++i) {
        const double* x = X.values + i * X.features;
        const double half = half_of(spec, X.features, [=](Index k) { return std::abs((x[k] - c[k]) * factor); });
        widest = half <= widest ? widest : half;  // nan counts as widest
    }
    return widest;
}

template <class T>
ScaledRows<T>::ScaledRows(const KernelSpec& spec, const DenseRows& X, const double* centre, bool far)
    : shape{spec.name, far, static_cast<int>(X.features), static_cast<T>(spec.coef0), spec.degree}, values(X.rows * X.features),
      half(X.rows) {
    const double factor = factor_of(spec, far);
    const std::vector<double> origin(X.features, 0.0);
    const double* c = centre ? centre : origin.data();
    for (Index i = 0; i < X.rows; ++i) {
        const double* x = X.values + i * X.features;
        T* to = values.data() + i * X.features;
        for (Index k = 0; k < X.features; ++k) to[k] = static_cast<T>((x[k] - c[k]) * factor);
        half[i] = static_cast<T>(half_of(spec, X.features, [=](Index k) { return static_cast<double>(to[k]); }));
    }
}

template <class T>
ScaledRows<T>::ScaledRows(const KernelSpec& spec, const DenseRows& X)
    : ScaledRows([&] {
          std::vector<double> centre;
          if (spec.may_be_centred()) centre = column_means(X);
          const double* middle = centre.empty() ? nullptr : centre.data();
          const bool far = spec.shift_invariant() && !(spread(spec, X, middle) < policy::far_spread);
          return ScaledRows<T>(spec, X, middle, far);
      }()) {}

template <class T>
ScaledRows<T>::ScaledRows(const ScaledRows& all, std::span<const Index> which)
    : shape(all.shape), values(std::ssize(which) * all.shape.features), half(which.size()) {
    const Index d = shape.features;
    for (std::size_t a = 0; a < which.size(); ++a) {
        std::copy_n(all.values.data() + which[a] * d, d, values.data() + static_cast<Index>(a) * d);
        half[a] = all.half[which[a]];
    }
}

template <class T>
void ScaledRows<T>::pack(std::span<const Index> which, Index lanes, Index multiple, PackedRows<T>& out) const {
    constexpr Index at_once = 64;  // features of a group, which stay in the first-level cache from row to row
    const Index d = shape.features, padded = rounded_up(std::ssize(which), multiple);
    out.count = std::ssize(which);
    out.values.resize(padded * d);
    out.half.assign(padded, T(0));
    for (Index a = 0; a < out.count; ++a) out.half[a] = half[which[a]];
    for (Index group = 0; group < padded; group += lanes)
        for (Index first = 0; first < d; first += at_once) {
            const Index last = std::min(d, first + at_once);
            for (Index a = group; a < group + lanes; ++a) {
                T* to = out.values.data() + group * d + a - group;
                const T* from = a < out.count ? values.data() + which[a] * d : nullptr;
                for (Index k = first; k < last; ++k) to[k * lanes] = from ? from[k] : T(0);
            }
        }
}

template <class T>
DenseKernel<T>::DenseKernel(const KernelSpec& spec, ScaledRows<T> rows, double cache_bytes, ThreadPool& pool, Watch& watch)
    : rows_(std::move(rows)), diagonal_(rows_.half.size()),
      cache_(std::ssize(diagonal_), rows_.shape.features >= policy::features_worth_caching ? cache_bytes : 0.0), pool_(pool),
      watch_(watch) {
    for (std::size_t i = 0; i < diagonal_.size(); ++i) diagonal_[i] = spec.value(2 * static_cast<double>(rows_.half[i]), 0);
}

template <class T> void DenseKernel<T>::block(const std::vector<Index>& which, T* out, Index stride) {
    PackedRows<T> columns;
    rows_.pack_rows(which, columns);
    std::vector<T*> to;
    const Index size = std::ssize(which);
    for (Index a = 0; a < size; ++a) to.push_back(out + a * stride);
    make(columns, which, to, Half::upper);
    mirror(out, size, stride, block_rows<T>, pool_);
}

// Kernel values of the columns with each of the rows `which`, written to the arrays `to`; rows that only pad the last tile
// go to a spare array. Half::upper: the rows are the columns, and values below the diagonal's block are skipped.
template <class T>
void DenseKernel<T>::make(const PackedRows<T>& columns, const std::vector<Index>& which, std::vector<T*> to, Half half) {
    constexpr Index B = block_rows<T>;
    rows_.pack_support(which, support_);
    Aligned<T> spare(rounded_up(columns.count));
    to.resize(support_.tiles() * support_tile, spare.data());
    const Index d = rows_.shape.features;
    by_blocks(columns.count, std::ssize(which), [&](Index b) {
        const int tiles =
            half == Half::upper ? std::min(support_.tiles(), static_cast<int>((b + 1) * B / support_tile)) : support_.tiles();
        lanes<T>().values(rows_.shape, columns.values.data() + b * B * d, columns.half.data() + b * B, support_.values.data(),
                          support_.half.data(), tiles, to.data(), b * B, B);
    });
}

// work(block) for all blocks of so many rows, with a few ms between two checks of the clock.
template <class T> void DenseKernel<T>::by_blocks(Index rows, Index support, const std::function<void(Index)>& work) {
    constexpr Index B = block_rows<T>;
    const Index blocks = rounded_up(rows) / B, cost = (support + 1) * B * (rows_.shape.features / 8 + 4) / 8 + 1;
    const Index step = std::max<Index>(2, 3'000'000 / cost);
    for (Index first = 0; first < blocks; first += step, watch_.look())
        pool_.run(std::min(step, blocks - first), [&](Index piece) { work(first + piece); });
}

template <class T> void DenseKernel<T>::activate(const std::vector<Index>& rows) {
    cache_.select(active_, rows);
    active_ = rows;
    rows_.pack_rows(active_, packed_);
}

template <class T> void DenseKernel<T>::accumulate(const SparseVector& given, double* sums) {
    const SparseVector coef = interleaved(given);
    if (std::ssize(coef.rows) <= cache_.capacity()) accumulate_cached(coef, sums);
    else accumulate_made(coef, sums);
}

template <class T> void DenseKernel<T>::row(Index i, T* out) {
    constexpr Index B = block_rows<T>;
    const Index d = rows_.shape.features, blocks = rounded_up(packed_.count) / B;
    for (Index b = 0; b < blocks; ++b)
        lanes<T>().row(rows_.shape, packed_.values.data() + b * B * d, packed_.half.data() + b * B, rows_.values.data() + i * d,
                       rows_.half[i], out + b * B);
}

template <class T> void DenseKernel<T>::accumulate_made(const SparseVector& coef, double* sums) {
    constexpr Index B = block_rows<T>;
    rows_.pack_support(coef.rows, support_);
    Aligned<T> factors(coef.values.begin(), coef.values.end());
    factors.resize(support_.half.size(), T(0));
    const Index d = rows_.shape.features;
    by_blocks(packed_.count, support_.count, [&](Index b) {
        lanes<T>().accumulate(rows_.shape, packed_.values.data() + b * B * d, packed_.half.data() + b * B, support_.values.data(),
                              support_.half.data(), factors.data(), support_.tiles(), sums + b * B);
    });
}

template <class T> void DenseKernel<T>::accumulate_cached(const SparseVector& coef, double* sums) {
    constexpr Index B = block_rows<T>;
    const std::vector<T> factors(coef.values.begin(), coef.values.end());
    std::vector<T*> rows, slots;
    std::vector<Index> missing;
    for (Index s : coef.rows) rows.push_back(cache_.find(s));
    for (std::size_t s = 0; s < rows.size(); ++s)
        if (!rows[s]) {
            missing.push_back(coef.rows[s]);
            slots.push_back(rows[s] = cache_.insert(coef.rows[s]));
        }
    if (!missing.empty()) make(packed_, missing, slots, Half::both);
    by_blocks(packed_.count, 0, [&](Index b) {
        lanes<T>().combine(rows.data(), factors.data(), static_cast<int>(rows.size()), b * B, (b + 1) * B, sums);
    });
}

template class ScaledRows<float>;
template class ScaledRows<double>;
template class DenseKernel<float>;
template class DenseKernel<double>;

}  // namespace abstain
