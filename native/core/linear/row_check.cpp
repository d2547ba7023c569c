#include "linear/row_check.hpp"

#include "linear/linear_policy.hpp"
#include "linear/row_sums.hpp"

namespace abstain {

namespace {

// Eight sums: one after the other they would wait for each other.
template <class Row> double squared(const Row& X, Index i) {
    double sum[8] = {};
    const auto add = [&](Index count, auto&& value) {
        const Index whole = count / 8 * 8;
        for (Index k = 0; k < whole; k += 8)
            for (int lane = 0; lane < 8; ++lane) sum[lane] += value(k + lane) * value(k + lane);
        for (Index k = whole; k < count; ++k) sum[0] += value(k) * value(k);
    };
    if constexpr (requires { X.starts; }) {
        const auto* row = X.values + X.starts[i];
        add(X.starts[i + 1] - X.starts[i], [row](Index k) { return static_cast<double>(row[k]); });
    } else {
        const auto* row = X.values + i * X.features;
        add(X.features, [row, centre = X.centre](Index k) { return static_cast<double>(row[k]) - centre[k]; });
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace

RowCheck check_rows(const LinearRows& rows, const double* beta, const double* weight, Index count) {
    return std::visit(
        [&](const auto& X) {
            RowCheck found;
            found.sums.assign(count * X.features, 0.0);
            found.reach.assign(count, 0.0);
            const Index step = std::max<Index>(1, linear_policy::checked / X.features);
            std::vector<Index> which;
            std::vector<double> coef, squares;
            for (Index first = 0; first < X.rows; first += step) {
                const Index last = std::min(X.rows, first + step);
                squares.clear();
                for (Index i = first; i < last; ++i) squares.push_back(squared(X, i));
                for (Index p = 0; p < count; ++p) {
                    which.clear();
                    coef.clear();
                    for (Index i = first; i < last; ++i) {
                        const Index at = p * X.rows + i;
                        if (weight[at] > 0) found.reach[p] += weight[at] * weight[at] * squares[i - first];
                        if (beta[at] != 0) which.push_back(i), coef.push_back(beta[at]);
                    }
                    sum_rows(X, which, coef, found.sums.data() + p * X.features);
                }
            }
            return found;
        },
        rows);
}

}  // namespace abstain
