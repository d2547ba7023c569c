#include "unsure.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

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

    Tiles(const DenseRows& rows, double factor)
        : values(rounded_up(rows.rows, support_tile) * rows.features), half(rounded_up(rows.rows, support_tile)),
          count(static_cast<int>(std::ssize(half) / support_tile)) {
        std::fill(values.begin(), values.end(), 0.0f);
        std::fill(half.begin(), half.end(), 0.0f);
        for (Index i = 0; i < rows.rows; ++i) {
            double squares = 0;
            for (Index k = 0; k < rows.features; ++k) {
                const auto x = static_cast<float>(rows.values[i * rows.features + k] * factor);
                values[(i / support_tile * rows.features + k) * support_tile + i % support_tile] = x;
                squares += static_cast<double>(x) * static_cast<double>(x);
            }
            half[i] = static_cast<float>(0.5 * squares);
            longest = std::max(longest, std::sqrt(squares));
        }
    }
};

}  // namespace

std::vector<Index> unsure_rows(const DenseRows& X, const Bounds& bounds) {
    const Index d = X.features;
    const double factor = std::sqrt(2 * bounds.gamma * std::numbers::log2e);
    const Tiles residuals(bounds.residuals, 1), middles(bounds.middles, factor);
    const int features = static_cast<int>(d);
    const Shape<float> products{KernelName::linear, false, features, 0, 1}, distances{KernelName::rbf, false, features, 0, 1};
    Aligned<float> coef(middles.half.size(), 0.0f);
    std::transform(bounds.coef, bounds.coef + bounds.middles.rows, coef.begin(), [](double c) { return static_cast<float>(c); });
    // A product of d terms is off by at most (d + 8) eps |a| |b|, and so is an exponent, which is a sum of three of them.
    const float off = static_cast<float>(d + 8) * eps;
    const double reach = middles.longest + factor * bounds.clip * std::sqrt(static_cast<double>(d));
    const double exponent = 2.0 * off * reach * reach, terms = static_cast<double>(coef.size()) + 16;
    const double enough = bounds.least * std::exp2(exponent) * (1.0 + terms * eps) + std::numeric_limits<float>::min() * terms;
    std::vector<double> scale(d);
    for (Index k = 0; k < d; ++k) scale[k] = 1.0 / bounds.spread[k];
    Aligned<float> rows(B * d), block(B * d), out(residuals.half.size() * B);
    std::vector<float*> to;
    for (Index s = 0; s < std::ssize(residuals.half); ++s) to.push_back(out.data() + s * B);
    std::vector<Index> unsure;
    const auto limit = static_cast<float>(bounds.clip), by = static_cast<float>(factor);
    for (Index first = 0; first < X.rows; first += B) {
        const Index count = std::min(B, X.rows - first);
        for (Index i = 0; i < count; ++i)
            for (Index k = 0; k < d; ++k)
                rows[i * d + k] = static_cast<float>((X.values[(first + i) * d + k] - bounds.centre[k]) * scale[k]);
        std::fill(rows.begin() + count * d, rows.end(), 0.0f);
        for (Index k = 0; k < d; ++k)
            for (Index i = 0; i < B; ++i) block[k * B + i] = rows[i * d + k];
        float squares[B] = {}, largest[B] = {}, half[B] = {};
        for (Index k = 0; k < d; ++k)
            for (Index i = 0; i < B; ++i) squares[i] += block[k * B + i] * block[k * B + i];
        lanes<float>().values(products, block.data(), half, residuals.values.data(), residuals.half.data(), residuals.count, to.data(), 0);
        for (Index s = 0; s < bounds.residuals.rows; ++s)
            for (Index i = 0; i < B; ++i) largest[i] = std::max(largest[i], std::abs(to[s][i]));
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
