#include "expansion.hpp"

#include <algorithm>
#include <optional>

#include "crew.hpp"
#include "dense_kernel.hpp"
#include "policy.hpp"

namespace abstain {

namespace {

// What two sets of rows are scaled with, so that kernels of differences keep their digits far from the origin.
struct Frame {
    Frame(const KernelSpec& spec, const DenseRows& X, const DenseRows& support) {
        if (!spec.shift_invariant()) return;
        means = column_means(support);
        far = !(spread(spec, support, centre()) < policy::far_spread && spread(spec, X, centre()) < policy::far_spread);
    }
    const double* centre() const { return means.empty() ? nullptr : means.data(); }

    std::vector<double> means;
    bool far = false;
};

}  // namespace

void expand(const KernelSpec& spec, const DenseRows& X, const DenseRows& support, const double* coef, double* out,
            ThreadPool& pool, Watch& watch) {
    constexpr Index B = block_rows<double>, batch = 2048;
    const Frame frame(spec, X, support);
    const std::vector<Index> every = all_rows(std::max(batch, support.rows));
    const ScaledRows<double> scaled(spec, support, frame.centre(), frame.far);
    PackedRows<double> packed_support, packed;
    scaled.pack_support({every.data(), static_cast<std::size_t>(support.rows)}, packed_support);
    Aligned<double> factors(coef, coef + support.rows);
    factors.resize(packed_support.half.size(), 0.0);
    const int d = scaled.shape.features;
    Aligned<double> sums;
    for (Index first = 0; first < X.rows; first += batch) {
        const Index count = std::min(batch, X.rows - first);
        ScaledRows<double>(spec, {X.values + first * d, count, X.features}, frame.centre(), frame.far)
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

void kernel_values(const KernelSpec& spec, const DenseRows& X, const DenseRows& Y, double* out, ThreadPool& pool, Watch& watch) {
    constexpr Index B = block_rows<double>, batch = 64;
    const Frame frame(spec, X, Y);
    const std::vector<Index> every = all_rows(std::max(batch, Y.rows));
    const ScaledRows<double> scaled(spec, Y, frame.centre(), frame.far);
    PackedRows<double> columns;
    scaled.pack_rows({every.data(), static_cast<std::size_t>(Y.rows)}, columns);
    const Index d = Y.features, batches = (X.rows + batch - 1) / batch;
    // A few batches for each thread between two checks of the clock.
    for (Index first = 0; first < batches; first += 64, watch.look())
        pool.run(std::min<Index>(64, batches - first), [&](Index p) {
            const Index from = (first + p) * batch, count = std::min(batch, X.rows - from);
            PackedRows<double> rows;
            ScaledRows<double>(spec, {X.values + from * d, count, d}, frame.centre(), frame.far)
                .pack_support({every.data(), static_cast<std::size_t>(count)}, rows);
            Aligned<double> made(rows.tiles() * support_tile * B);
            std::vector<double*> to;
            for (Index s = 0; s < rows.tiles() * support_tile; ++s) to.push_back(made.data() + s * B);
            for (Index b = 0; b * B < Y.rows; ++b) {
                const Index width = std::min(B, Y.rows - b * B);
                lanes<double>().values(scaled.shape, columns.values.data() + b * B * d, columns.half.data() + b * B,
                                       rows.values.data(), rows.half.data(), rows.tiles(), to.data(), 0, width);
                for (Index i = 0; i < count; ++i) std::copy_n(to[i], width, out + (from + i) * Y.rows + b * B);
            }
        });
}

std::vector<Run> runs_of(std::span<const Index> rows) {
    std::vector<Run> runs;
    for (const Index row : rows) {
        if (runs.empty() || row != runs.back().first + runs.back().count) runs.push_back({row, 0});
        ++runs.back().count;
    }
    return runs;
}

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
