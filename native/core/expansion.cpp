#include "expansion.hpp"

#include <algorithm>

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

void expand_parts(const KernelSpec& spec, const DenseRows& X, const Parts& parts, const double* coef, double* out,
                  ThreadPool& pool, Watch& watch) {
    constexpr Index B = block_rows<double>;
    const ScaledRows<double> scaled(spec, X);
    const Index d = X.features;
    Crew crew(watch);
    std::vector<std::exception_ptr> failures(parts.count());
    pool.run(parts.count(), [&](Index p) {
        failures[p] = crew.guarded([&](Watch& own) {
            const std::span<const Index> rows = parts.of(p);
            const double* beta = coef + parts.starts[p];
            std::vector<Index> support;
            Aligned<double> factors;
            for (std::size_t a = 0; a < rows.size(); ++a)
                if (beta[a] != 0) {
                    support.push_back(rows[a]);
                    factors.push_back(beta[a]);
                }
            PackedRows<double> packed_support, packed;
            scaled.pack_support(support, packed_support);
            factors.resize(packed_support.half.size(), 0.0);
            scaled.pack_rows(rows, packed);
            Aligned<double> sums(rounded_up(std::ssize(rows)), 0.0);
            for (Index b = 0; b < std::ssize(sums) / B; ++b, own.look())
                lanes<double>().accumulate(scaled.shape, packed.values.data() + b * B * d, packed.half.data() + b * B,
                                           packed_support.values.data(), packed_support.half.data(), factors.data(),
                                           packed_support.tiles(), sums.data() + b * B);
            std::copy_n(sums.data(), rows.size(), out + parts.starts[p]);
        });
    });
    crew.check();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

}  // namespace abstain
