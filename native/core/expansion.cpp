#include "expansion.hpp"

#include <algorithm>
#include <optional>

#include "crew.hpp"
#include "dense_kernel.hpp"
#include "policy.hpp"

namespace abstain {

void expand(const KernelSpec& spec, const DenseRows& X, const DenseRows& support, const double* coef, double* out,
            ThreadPool& pool, Watch& watch) {
    constexpr Index B = block_rows<double>, batch = 2048;
    std::vector<double> centre;
    if (spec.shift_invariant()) centre = column_means(support);
    const double* middle = centre.empty() ? nullptr : centre.data();
    const std::vector<Index> every = all_rows(std::max(batch, support.rows));
    const bool far = spec.shift_invariant() &&
                     !(spread(spec, support, middle) < policy::far_spread && spread(spec, X, middle) < policy::far_spread);
    const ScaledRows<double> scaled(spec, support, middle, far);
    PackedRows<double> packed_support, packed;
    scaled.pack_support({every.data(), static_cast<std::size_t>(support.rows)}, packed_support);
    Aligned<double> factors(coef, coef + support.rows);
    factors.resize(packed_support.half.size(), 0.0);
    const int d = scaled.shape.features;
    Aligned<double> sums;
    for (Index first = 0; first < X.rows; first += batch) {
        const Index count = std::min(batch, X.rows - first);
        ScaledRows<double>(spec, {X.values + first * d, count, X.features}, middle, far)
            .pack_rows({every.data(), static_cast<std::size_t>(count)}, packed);
        sums.assign(rounded_up(count), 0.0);
        // Four hundred support vectors at a time stay in the first-level cache while all blocks pass by.
        const Index tiles = std::max<Index>(1, 4'000 / d), blocks = rounded_up(count) / B;
        for (Index tile = 0; tile < packed_support.tiles(); tile += tiles, watch.look()) {
            const Index s = tile * support_tile;
            const int now = static_cast<int>(std::min<Index>(tiles, packed_support.tiles() - tile));
            pool.run(blocks, [&](Index b) {
                lanes<double>().accumulate(scaled.shape, packed.values.data() + b * B * d, packed.half.data() + b * B,
                                           packed_support.values.data() + s * d, packed_support.half.data() + s,
                                           factors.data() + s, now, sums.data() + b * B);
            });
        }
        std::copy_n(sums.data(), count, out + first);
    }
}

std::vector<Run> runs_of(std::span<const Index> rows) {
    std::vector<Run> runs;
    for (const Index row : rows) {
        if (runs.empty() || row != runs.back().first + runs.back().count) runs.push_back({row, 0});
        ++runs.back().count;
    }
    return runs;
}

namespace {

void expand_part(const ScaledRows<double>& scaled, std::span<const Index> rows, const double* coef, double* out, Watch& watch) {
    constexpr Index B = block_rows<double>;
    const Index d = scaled.shape.features;
    std::vector<Index> support;
    Aligned<double> factors;
    for (std::size_t a = 0; a < rows.size(); ++a)
        if (coef[a] != 0) {
            support.push_back(rows[a]);
            factors.push_back(coef[a]);
        }
    PackedRows<double> packed_support, packed;
    scaled.pack_support(support, packed_support);
    factors.resize(packed_support.half.size(), 0.0);
    scaled.pack_rows(rows, packed);
    Aligned<double> sums(rounded_up(std::ssize(rows)), 0.0);
    for (Index b = 0; b < std::ssize(sums) / B; ++b, watch.look())
        lanes<double>().accumulate(scaled.shape, packed.values.data() + b * B * d, packed.half.data() + b * B,
                                   packed_support.values.data(), packed_support.half.data(), factors.data(),
                                   packed_support.tiles(), sums.data() + b * B);
    std::copy_n(sums.data(), rows.size(), out);
}

void expand_part(const GramRows& K, std::span<const Index> rows, const double* coef, double* out, Watch& watch) {
    const std::vector<Run> runs = runs_of(rows);
    std::fill_n(out, rows.size(), 0.0);
    for (std::size_t a = 0; a < rows.size(); ++a) {
        if (a % 64 == 0) watch.look();
        if (coef[a] == 0) continue;
        double* to = out;
        for (const Run& run : runs) {
            lanes<double>().add(to, K.values + rows[a] * K.stride + run.first, coef[a], run.count);
            to += run.count;
        }
    }
}

}  // namespace

void expand_parts(const KernelSpec& spec, const PartedRows& X, const Parts& parts, const double* coef, double* out,
                  ThreadPool& pool, Watch& watch) {
    std::optional<ScaledRows<double>> scaled;
    if (const auto* dense = std::get_if<DenseRows>(&X)) scaled.emplace(spec, *dense);
    Crew crew(watch);
    std::vector<std::exception_ptr> failures(parts.count());
    pool.run(parts.count(), [&](Index p) {
        failures[p] = crew.guarded([&](Watch& own) {
            const Index first = parts.starts[p];
            if (scaled) expand_part(*scaled, parts.of(p), coef + first, out + first, own);
            else expand_part(std::get<GramRows>(X), parts.of(p), coef + first, out + first, own);
        });
    });
    crew.check();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

}  // namespace abstain
