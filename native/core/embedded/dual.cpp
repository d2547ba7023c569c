#include "embedded/dual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "elementary.hpp"
#include "embedded/policy.hpp"

namespace abstain {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double golden = 0.6180339887498949;

class Ascent {
  public:
    Ascent(const EmbeddedRows& rows, const EmbeddedLoss& loss, const DualSettings& settings, Watch& watch)
        : rows_(rows), settings_(settings), watch_(watch), eps_grid_(eps_grid(loss)),
          table_(loss, eps_grid_, settings.t_values, largest_multiplier(loss)) {
        const std::size_t n = rows.rows, d = rows.features;
        columns_.resize(n * d);
        diagonal_.assign(n, 0.0);
        for (std::size_t k = 0; k < d; ++k)
            for (std::size_t i = 0; i < n; ++i) {
                const double x = columns_[k * n + i] = rows.z[i * d + k] / std::sqrt(rows.penalty[k]);
                diagonal_[i] += x * x;
            }
        t_ = scores_ = right_ = left_ = std::vector<double>(n, 0.0);
        barred_.assign(n, 0);
        const auto zero = table_.place(0.0);
        for (Index e = 0; e < table_.stride(); ++e) sums_.push_back(static_cast<double>(n) * zero.row[e]);
        base_ = sums_;
    }

    DualOutcome run() {
        DualOutcome outcome;
        double before = value();
        outcome.trace.push_back(before);
        for (int idle = 0; idle < policy::embedded::rounds_without_rise && !exhausted();) {
            round();
            const double now = value();
            outcome.trace.push_back(now);
            if (now - before > settings_.tolerance * std::abs(now)) idle = 0;
            else ++idle, heat_ *= policy::embedded::cooling;
            before = now;
        }
        outcome.multipliers = t_;
        outcome.sums.assign(sums_.begin(), sums_.begin() + table_.eps_values());
        outcome.eps_grid = eps_grid_;
        outcome.iterations = watch_.iterations;
        if (exhausted()) outcome.status = watch_.status();
        return outcome;
    }

  private:
    enum Barred : char { from_rising = 1, from_falling = 2 };

    bool exhausted() const { return watch_.iterations >= settings_.max_iter || watch_.expired(); }
    double least() const { return *std::min_element(sums_.begin(), sums_.end()); }

    double value() const {
        double linear = 0, square = 0;
        for (std::size_t i = 0; i < t_.size(); ++i) {
            linear += t_[i];
            square += t_[i] * rows_.sign[i] * scores_[i];
        }
        return linear - square / 2 + least();
    }

    // As many steps as there are rows; a pair that does not rise is barred until another does.
    void round() {
        int failures = 0;
        for (Index step = 0; step < rows_.rows && failures < policy::embedded::most_failures && !exhausted(); ++step) {
            if (step % policy::embedded::steps_between_slacks == 0) find_slacks();
            ++watch_.iterations;
            watch_.look();
            const auto [i, j, slope] = steepest();
            watch_.violation = slope;
            if (!(slope > policy::embedded::least_slope)) break;
            if (search(i, j, slope)) {
                if (failures) std::fill(barred_.begin(), barred_.end(), 0);
                failures = 0;
            } else {
                ++failures;
                barred_[i] |= from_rising;
                barred_[j] |= from_falling;
            }
        }
        std::fill(barred_.begin(), barred_.end(), 0);
    }

    // -dg/dt of each row, averaged over the values of eps that are near the minimum: at a tie the slope of one of them
    // alone points nowhere.
    void find_slacks() {
        const double lowest = least();
        near_.clear();
        for (Index e = 0; e < table_.eps_values(); ++e) near_.push_back({elementary::exp((lowest - sums_[e]) / heat_), e});
        std::sort(near_.begin(), near_.end(), [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
        near_.resize(std::min(near_.size(), policy::embedded::most_near));
        while (near_.back().first < policy::embedded::least_weight) near_.pop_back();
        double total = 0;
        for (const auto& [weight, e] : near_) total += weight;
        for (auto& [weight, e] : near_) weight /= total;
        for (std::size_t i = 0; i < t_.size(); ++i) find_slack(i);
    }

    void find_slack(std::size_t i) {
        const Index right = table_.cell(t_[i], 1), left = table_.cell(t_[i], -1);
        right_[i] = left_[i] = 0;
        for (const auto& [weight, e] : near_) {
            right_[i] += weight * table_.slack(e, right);
            left_[i] += weight * table_.slack(e, left);
        }
    }

    // y_i t_i up and y_j t_j down by the same: the pair with the steepest rise.
    std::tuple<std::size_t, std::size_t, double> steepest() const {
        std::size_t i = 0, j = 0;
        double up = -infinity, down = infinity;
        for (std::size_t k = 0; k < t_.size(); ++k) {
            const bool positive = rows_.sign[k] > 0, can_fall = t_[k] > 0, can_rise = t_[k] < table_.top();
            const double rising = (positive ? 1 - right_[k] : left_[k] - 1) - scores_[k];
            const double falling = (positive ? 1 - left_[k] : right_[k] - 1) - scores_[k];
            if (rising > up && (positive ? can_rise : can_fall) && !(barred_[k] & from_rising)) up = rising, i = k;
            if (falling < down && (positive ? can_fall : can_rise) && !(barred_[k] & from_falling)) down = falling, j = k;
        }
        return {i, j, i == j ? 0 : up - down};
    }

    // min over eps of the sum when rows i and j, taken out of base_, have these multipliers.
    double least_with(double ti, double tj, double* out = nullptr) const { return add_pair(base_, 1, ti, tj, out); }

    // min over eps of `from` plus `times` the two rows' terms; out, where given, holds the sums.
    double add_pair(const std::vector<double>& from, double times, double ti, double tj, double* out) const {
        const auto a = table_.place(ti), b = table_.place(tj);
        const double* const rows[] = {a.row, a.next, b.row, b.next};
        const double factors[] = {times * (1 - a.share), times * a.share, times * (1 - b.share), times * b.share};
        return current_lanes().steps.least_sum(from.data(), rows, factors, 4, static_cast<int>(from.size()), out);
    }

    bool search(std::size_t i, std::size_t j, double slope) {
        const double yi = rows_.sign[i], yj = rows_.sign[j], pull = yi - yj - scores_[i] + scores_[j];
        const std::size_t n = t_.size(), d = rows_.features;
        double bend = diagonal_[i] + diagonal_[j];
        for (std::size_t k = 0; k < d; ++k) bend -= 2 * columns_[k * n + i] * columns_[k * n + j];
        bend = std::max(bend, policy::embedded::least_bend);
        double room = std::min(yi > 0 ? table_.top() - t_[i] : t_[i], yj > 0 ? t_[j] : table_.top() - t_[j]);
        room = std::min(room, 1.01 * slope / bend);  // beyond it the quadratic term alone has used up the slope
        add_pair(sums_, -1, t_[i], t_[j], base_.data());
        const auto rise = [&](double delta) {
            return pull * delta - bend * delta * delta / 2 + least_with(t_[i] + yi * delta, t_[j] - yj * delta);
        };
        double low = 0, high = room, a = high - golden * (high - low), b = low + golden * (high - low), at_a = rise(a),
               at_b = rise(b);
        while (high - low > policy::embedded::least_interval * table_.step()) {
            if (at_a >= at_b) high = b, b = a, at_b = at_a, a = high - golden * (high - low), at_a = rise(a);
            else low = a, a = b, at_a = at_b, b = low + golden * (high - low), at_b = rise(b);
        }
        double delta = at_a >= at_b ? a : b, best = std::max(at_a, at_b);
        if (const double whole = rise(room); whole >= best) delta = room, best = whole;
        if (!(best > least())) return false;
        move(i, j, delta);
        return true;
    }

    void move(std::size_t i, std::size_t j, double delta) {
        const std::size_t n = t_.size(), d = rows_.features;
        t_[i] = std::max(0.0, t_[i] + rows_.sign[i] * delta);
        t_[j] = std::max(0.0, t_[j] - rows_.sign[j] * delta);
        least_with(t_[i], t_[j], sums_.data());
        for (std::size_t k = 0; k < d; ++k) {
            const double* column = columns_.data() + k * n;
            lanes<double>().add(scores_.data(), column, delta * (column[i] - column[j]), static_cast<long>(n));
        }
        find_slack(i);
        find_slack(j);
    }

    EmbeddedRows rows_;
    DualSettings settings_;
    Watch& watch_;
    std::vector<double> eps_grid_;
    InnerTable table_;
    Aligned<double> columns_;
    std::vector<double> diagonal_, t_, scores_, right_, left_, sums_, base_;
    std::vector<char> barred_;
    std::vector<std::pair<double, Index>> near_;
    double heat_ = policy::embedded::heat;
};

}  // namespace

DualOutcome solve_dual(const EmbeddedRows& rows, const EmbeddedLoss& loss, const DualSettings& settings, Watch& watch) {
    return Ascent(rows, loss, settings, watch).run();
}

}  // namespace abstain
