#include "embedded/objective.hpp"

#include <algorithm>
#include <utility>

namespace abstain {

EmbeddedObjective::EmbeddedObjective(const EmbeddedRows& rows, bool fixed_eps)
    : rows_(rows), features_(rows.features), blocks_((rows.rows + block_rows<double> - 1) / block_rows<double>),
      fixed_eps_(fixed_eps), penalty_(rows.penalty, rows.penalty + rows.features) {
    constexpr Index R = block_rows<double>;
    packed_.assign(blocks_ * R * (features_ + 1), 0.0);
    weight_.assign(blocks_ * R, 0.0);
    std::fill_n(weight_.begin(), rows.rows, 1.0);
    scratch_.resize(16 * (features_ + 1));
    pack(all_rows(rows.rows));
}

void EmbeddedObjective::pack(const std::vector<Index>& order) {
    constexpr Index R = block_rows<double>;
    const Index d = features_ + 1;
    for (Index i = 0; i < rows_.rows; ++i) {
        const Index from = order[i];
        double* to = packed_.data() + i / R * R * d + i % R;
        for (Index k = 0; k < features_; ++k) to[k * R] = rows_.sign[from] * rows_.z[from * features_ + k];
        to[features_ * R] = rows_.sign[from];
    }
}

void EmbeddedObjective::arrange(const Point& point) {
    std::vector<std::pair<double, Index>> margins(rows_.rows);
    for (Index i = 0; i < rows_.rows; ++i) {
        const double score = lanes<double>().dot(rows_.z + i * features_, point.data(), features_) + point[features_];
        margins[i] = {-rows_.sign[i] * score, i};
    }
    std::sort(margins.begin(), margins.end());
    std::vector<Index> order;
    for (const auto& [margin, i] : margins) order.push_back(i);
    pack(order);
}

double EmbeddedObjective::margin(Index i, const Point& point) const {
    constexpr Index R = block_rows<double>;
    const double* x = packed_.data() + i / R * R * (features_ + 1) + i % R;
    double sum = 0;
    for (Index k = 0; k <= features_; ++k) sum += x[k * R] * point[k];
    return sum;
}

double EmbeddedObjective::operator()(const EmbeddedLoss& loss, const Point& point, Point& gradient) {
    const std::size_t d = features_;
    const double eps = point[d + 1];
    double sums[2];
    xi0_ = loss.least_slack(eps, xi0_);
    current_lanes().steps.losses(loss.at_eps(eps, xi0_), static_cast<int>(d + 1), packed_.data(), weight_.data(), point.data(),
                                blocks_, gradient.data(), sums, scratch_.data());
    double squares = 0;
    for (std::size_t k = 0; k < d; ++k) {
        squares += penalty_[k] * point[k] * point[k];
        gradient[k] += penalty_[k] * point[k];
    }
    gradient[d + 1] = fixed_eps_ ? 0.0 : sums[1];
    return squares / 2 + sums[0];
}

}  // namespace abstain
