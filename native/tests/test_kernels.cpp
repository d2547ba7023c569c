// Every kernel in every layout and precision against its definition: diagonal, blocks, sums over active rows, held or not.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>

#include "cases.hpp"
#include "expansion.hpp"
#include "kernel_source.hpp"
#include "random.hpp"
#include "sparse_kernel.hpp"

using namespace abstain;
using namespace abstain::testing;

namespace {

// Rows around `middle`, every third entry 0; row 7 is row 3 again.
Case make_case(Index rows, Index features, double middle) {
    Random random(static_cast<std::uint64_t>(features));
    Case c;
    c.rows = rows;
    c.features = features;
    for (Index e = 0; e < rows * features; ++e) c.X.push_back(e % 3 == 2 ? 0.0 : middle + random.normal());
    for (Index k = 0; k < features; ++k) c.X[7 * features + k] = c.X[3 * features + k];
    return c;
}

// The linear kernel is centred where rows are dense: products are compared after centring them here too.
std::vector<double> expected_values(const KernelSpec& spec, const Case& c, bool centred) {
    Case moved = c;
    for (Index k = 0; centred && spec.name == KernelName::linear && k < c.features; ++k) {
        double mean = 0;
        for (Index i = 0; i < c.rows; ++i) mean += c.X[i * c.features + k] / static_cast<double>(c.rows);
        for (Index i = 0; i < c.rows; ++i) moved.X[i * c.features + k] -= mean;
    }
    return gram_of(spec, moved);
}

template <class T> void check(KernelMatrix<T>& kernel, const std::vector<double>& K, Index n, double tolerance) {
    double size = 1;
    for (double value : K) size = std::max(size, std::abs(value));
    const auto near = [&](double found, double expected, double terms = 1) {
        if (!(std::abs(found - expected) <= tolerance * size * terms)) std::printf("%g instead of %g\n", found, expected);
        return std::abs(found - expected) <= tolerance * size * terms;
    };
    for (Index i = 0; i < n; ++i) assert(near(kernel.diagonal(i), K[i * n + i]));

    const std::vector<Index> some{0, 3, 4, 7, 11, n - 1};
    const Index stride = 64;
    Aligned<T> block(stride * stride);
    kernel.block(some, block.data(), stride);
    for (std::size_t a = 0; a < some.size(); ++a)
        for (std::size_t b = 0; b < some.size(); ++b)
            assert(near(static_cast<double>(block[a * stride + b]), K[some[a] * n + some[b]]));

    SparseVector coef;
    for (Index i = 0; i < n; i += 2) coef.add(i, i % 3 - 1.0);  // every third is 0 and left out
    assert(coef.rows.size() == coef.values.size() && std::ssize(coef.rows) < (n + 1) / 2);
    for (const Index step : {1, 2, 1, 20}) {  // all rows active, some of them, all again, few
        std::vector<Index> active;
        for (Index i = 0; i < n; i += step) active.push_back(i);
        kernel.activate(active);
        Aligned<T> row(rounded_up(std::ssize(active)), std::numeric_limits<T>::quiet_NaN());
        kernel.row(5, row.data());
        for (std::size_t a = 0; a < active.size(); ++a) assert(near(static_cast<double>(row[a]), K[active[a] * n + 5]));
        for (const T value : row) assert(std::isfinite(value));
        for (int again = 0; again < 2; ++again) {  // the second time from a cache, if there is one
            Aligned<double> sums(rounded_up(std::ssize(active)), 1.0);
            kernel.accumulate(coef, sums.data());
            for (std::size_t a = 0; a < active.size(); ++a) {
                double sum = 1;
                for (std::size_t s = 0; s < coef.rows.size(); ++s) sum += coef.values[s] * K[active[a] * n + coef.rows[s]];
                assert(near(sums[a], sum, static_cast<double>(n)));
            }
        }
    }
    if (const Block<T> whole = kernel.whole(); whole.values)
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j) assert(near(static_cast<double>(whole.row(i)[j]), K[i * n + j]));
}

template <class T> void check_source(const KernelSpec& spec, const Rows& rows, const std::vector<double>& K, double tolerance) {
    for (const double cache_bytes : {1e7, 40e3, 0.0})  // all rows cached, a few of them, none
        for (const int threads : {1, 3}) {
            ThreadPool pool(threads);
            Watch watch;
            KernelSource source(spec, rows, cache_bytes);
            assert(source.fits<T>() == (KernelSource::bytes<T>(source.size) <= cache_bytes));
            check(*source.kernel<T>(pool, watch), K, source.size, tolerance);
            source.hold<T>(pool, watch);
            const auto held = source.kernel<T>(pool, watch);
            assert(held->whole().values);
            check(*held, K, source.size, tolerance);
        }
}

// The first 40 rows with all.
void check_values(const KernelSpec& spec, const Case& c, const std::vector<double>& K) {
    const Compressed s = compress(c);
    const SparseRows sparse = s.rows(c.features);
    for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        Watch watch;
        std::vector<double> out[] = {std::vector<double>(40 * c.rows), std::vector<double>(40 * c.rows)};
        kernel_values(spec, {c.X.data(), 40, c.features}, c.dense(), out[0].data(), pool, watch);
        sparse_values(spec, {sparse.values, sparse.columns, sparse.starts, 40, c.features}, sparse, out[1].data(), pool, watch);
        for (std::size_t e = 0; e < out[0].size(); ++e)
            for (const auto& values : out) assert(std::abs(values[e] - K[e]) <= 1e-12 * std::max(1.0, std::abs(K[e])));
    }
}

void check_layouts(const KernelSpec& spec, Index rows, Index features, double middle) {
    const Case c = make_case(rows, features, middle);
    const auto dense = expected_values(spec, c, true), plain = expected_values(spec, c, false);
    check_source<float>(spec, c.dense(), dense, 3e-6 * static_cast<double>(features));
    check_source<double>(spec, c.dense(), dense, 1e-13);
    const Compressed s = compress(c);
    check_source<double>(spec, s.rows(features), plain, 1e-12);
    check_source<double>(spec, GramRows{plain.data(), rows}, plain, 1e-15);
    check_values(spec, c, plain);
    bool refused = false;
    ThreadPool pool(1);
    Watch watch;
    try {
        KernelSource(spec, s.rows(features), 0).kernel<float>(pool, watch);
    } catch (const std::logic_error&) {
        refused = true;
    }
    assert(refused);
}

// Points far from the centre, in units of the kernel's width: distances must survive.
void check_far(KernelName name) {
    const bool squared = name == KernelName::rbf;
    const KernelSpec spec{name, squared ? 1e4 : 1e3, 0, 3};
    Case c = make_case(90, 2, 0);
    for (Index k = 0; k < 2; ++k) c.X[8 + k] = c.X[6 + k] + (squared ? 1e-3 : 5e-5);  // a pair that is not apart
    const auto K = gram_of(spec, c);
    assert(K[3 * 90 + 4] > 0.9 && K[3 * 90 + 5] < 1e-3);
    check_source<float>(spec, c.dense(), K, 2e-3);
    check_source<double>(spec, c.dense(), K, 1e-11);
    for (double& x : c.X) x = std::round(x * 1048576) / 1048576 + 4096;  // so that the shift itself rounds nothing
    const auto shifted = gram_of(spec, c);
    check_source<double>(spec, compress(c).rows(2), shifted, 1e-12);
}

// The scalar formula and the names.
void check_formulas() {
    assert((KernelSpec{KernelName::poly, 0.5, 2, 3}.value(0.5 * 4, 9) == 64));
    assert((KernelSpec{KernelName::rbf, 0.5, 2, 3}.value(7, 0) == 1));
    assert((KernelSpec{KernelName::laplacian, 0.5, 2, 3}.value(7, 0) == 1));
    assert((KernelSpec{KernelName::linear, 0.5, 2, 3}.scale() == 1));
    assert(std::size(kernel_names) == static_cast<std::size_t>(KernelName::laplacian) + 1);
}

// Arrays that do not describe rows are refused before anything reads them.
void check_faults() {
    const double values[] = {1, 2, 3};
    const std::int32_t columns[] = {0, 1, 1}, outside[] = {0, 2, 1}, negative[] = {0, -1, 1};
    const Index starts[] = {0, 2, 3}, late[] = {1, 2, 3}, falling[] = {0, 3, 2}, below[] = {0, -1, 3};
    const Index huge[] = {0, 2, std::numeric_limits<Index>::max()};
    const auto bad = [&](const std::int32_t* c, const Index* s, Index features, Index n_starts, Index n_columns, Index n_values) {
        return fault({values, c, s, 2, features}, n_starts, n_columns, n_values) != nullptr;
    };
    assert(!bad(columns, starts, 2, 3, 3, 3) && !bad(columns, starts, 9, 3, 4, 5));
    assert(bad(columns, starts, 2, 2, 3, 3) && bad(columns, starts, 2, 3, 2, 3) && bad(columns, starts, 2, 3, 3, 2));
    assert(bad(outside, starts, 2, 3, 3, 3) && bad(negative, starts, 2, 3, 3, 3) && bad(columns, starts, 1, 3, 3, 3));
    assert(bad(columns, late, 2, 3, 3, 3) && bad(columns, falling, 2, 3, 3, 3) && bad(columns, below, 2, 3, 3, 3));
    assert(bad(columns, huge, 2, 3, 3, 3) && bad(columns, starts, -1, 3, 3, 3));
}

}  // namespace

int main() {
    for (const KernelSpec spec : {KernelSpec{KernelName::linear, 1, 0, 3}, KernelSpec{KernelName::rbf, 0.3, 0, 3},
                                  KernelSpec{KernelName::poly, 0.1, 1, 3}, KernelSpec{KernelName::sigmoid, 0.05, 0.5, 3},
                                  KernelSpec{KernelName::laplacian, 0.3, 0, 3}}) {
        check_layouts(spec, 130, 3, 0.5);
        check_layouts(spec, 70, 66, 0);  // rows long enough for the cache
        if (spec.shift_invariant()) check_layouts(spec, 64, 1, 0);
    }
    check_far(KernelName::rbf), check_far(KernelName::laplacian);
    check_formulas();
    check_faults();
}
