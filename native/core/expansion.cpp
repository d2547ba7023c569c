#include "expansion.hpp"

#include <algorithm>

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

}  // namespace abstain
