#include "unsure.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "dense_kernel.hpp"

namespace abstain {

namespace {

constexpr Index B = block_rows<float>;
constexpr float eps = std::numeric_limits<float>::epsilon();

// Vectors times a factor as the lanes read them: by fours, with halves of their squares.
struct Tiles {
    Aligned<float> values, half;
    int count;
    double longest = 0;  // the largest length of one

    Tiles(const DenseRows& rows, std::span<const Index> which, std::span<const Index> columns, double factor)
        : values(rounded_up(std::ssize(which), support_tile) * std::ssize(columns), 0.0f),
          half(rounded_up(std::ssize(which), support_tile), 0.0f), count(static_cast<int>(std::ssize(half) / support_tile)) {
        const Index d = std::ssize(columns);
        for (Index i = 0; i < std::ssize(which); ++i) {
            double squares = 0;
            for (Index k = 0; k < d; ++k) {
                const auto x = static_cast<float>(rows.values[which[i] * rows.features + columns[k]] * factor);
                values[(i / support_tile * d + k) * support_tile + i % support_tile] = x;
                squares += static_cast<double>(x) * static_cast<double>(x);
            }
            half[i] = static_cast<float>(0.5 * squares);
            longest = std::max(longest, std::sqrt(squares));
        }
    }
};

// All columns, first those that a residual or a middle links to others, at least one; and how many these are. The residual of
// any other column is its own z times a number, and no middle has it: such are columns of one value in training.
std::pair<std::vector<Index>, Index> linked_first(const Bounds& bounds) {
    const Index d = bounds.residuals.features;
    std::vector<bool> linked(d);
    for (Index j = 0; j < d; ++j)
        for (Index k = 0; k < d; ++k)
            if (j != k && bounds.residuals.values[j * d + k] != 0) linked[j] = linked[k] = true;
    for (Index i = 0; i < bounds.middles.rows; ++i)
        for (Index k = 0; k < d; ++k)
            if (bounds.middles.values[i * d + k] != 0) linked[k] = true;
    std::vector<Index> order = all_rows(d);
    const auto end = std::stable_partition(order.begin(), order.end(), [&](Index k) { return linked[k]; });
    const Index count = std::max<Index>(1, end - order.begin());
    return {std::move(order), count};
}

}  // namespace

std::vector<Index> unsure_rows(const DenseRows& X, const Bounds& bounds) {
    const Index d = X.features;
    const double factor = std::sqrt(2 * bounds.gamma * std::numbers::log2e);
    const auto [order, linked] = linked_first(bounds);
    const std::span<const Index> columns(order.data(), static_cast<std::size_t>(linked));
    const std::vector<Index> every = all_rows(bounds.middles.rows);
    const Tiles residuals(bounds.residuals, columns, columns, 1), middles(bounds.middles, every, columns, factor);
    const int features = static_cast<int>(linked);
    const Shape<float> products{KernelName::linear, false, features, 0, 1}, distances{KernelName::rbf, false, features, 0, 1};
    Aligned<float> coef(middles.half.size(), 0.0f);
    std::transform(bounds.coef, bounds.coef + bounds.middles.rows, coef.begin(), [](double c) { return static_cast<float>(c); });
    // A product of d terms is off by at most (d + 8) eps |a| |b|, and so is an exponent, which is a sum of three of them.
    const float off = static_cast<float>(d + 8) * eps;
    const double reach = middles.longest + factor * bounds.clip * std::sqrt(static_cast<double>(d));
    const double exponent = 2.0 * off * reach * reach, terms = static_cast<double>(coef.size()) + 16;
    const double enough = bounds.least * std::exp2(exponent) * (1.0 + terms * eps) + std::numeric_limits<float>::min() * terms;
    std::vector<double> centre(d), scale(d);
    std::vector<float> own(d);  // of columns that are not linked, with room for rounding
    for (Index k = 0; k < d; ++k) {
        centre[k] = bounds.centre[order[k]];
        scale[k] = 1.0 / bounds.spread[order[k]];
        own[k] = static_cast<float>(std::abs(bounds.residuals.values[order[k] * (d + 1)])) * (1.0f + off);
    }
    Aligned<float> block(B * d), out(residuals.half.size() * B);
    std::vector<float*> to;
    for (Index s = 0; s < std::ssize(residuals.half); ++s) to.push_back(out.data() + s * B);
    std::vector<Index> unsure;
    const auto limit = static_cast<float>(bounds.clip), by = static_cast<float>(factor);
    for (Index first = 0; first < X.rows; first += B) {
        const Index count = std::min(B, X.rows - first);
        if (count < B) std::fill(block.begin(), block.end(), 0.0f);
        for (Index i = 0; i < count; ++i) {
            const double* x = X.values + (first + i) * d;
            for (Index k = 0; k < d; ++k) block[k * B + i] = static_cast<float>((x[order[k]] - centre[k]) * scale[k]);
        }
        float squares[B] = {}, largest[B] = {}, half[B] = {};
        for (Index k = 0; k < d; ++k)
            for (Index i = 0; i < B; ++i) squares[i] += block[k * B + i] * block[k * B + i];
        lanes<float>().values(products, block.data(), half, residuals.values.data(), residuals.half.data(), residuals.count,
                               to.data(), 0, B);
        for (Index s = 0; s < linked; ++s)
            for (Index i = 0; i < B; ++i) largest[i] = std::max(largest[i], std::abs(to[s][i]));
        for (Index k = linked; k < d; ++k)
            for (Index i = 0; i < B; ++i) largest[i] = std::max(largest[i], own[k] * std::abs(block[k * B + i]));
        for (Index k = 0; k < d; ++k)
            for (Index i = 0; i < B; ++i) {
                const float c = std::min(std::max(block[k * B + i], -limit), limit) * by;
                block[k * B + i] = c;
                half[i] += 0.5f * c * c;
            }
        double sums[B] = {};
        lanes<float>().accumulate(distances, block.data(), half, middles.values.data(), middles.half.data(), coef.data(), middles.count, sums);
        for (Index i = 0; i < count; ++i) {
            const double most = largest[i] + off * residuals.longest * std::sqrt(static_cast<double>(squares[i]));
            if (!(most < bounds.most && sums[i] > enough)) unsure.push_back(first + i);
        }
    }
    return unsure;
}

}  // namespace abstain
