#include "linear/linear_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "elementary.hpp"
#include "linear/linear_policy.hpp"
#include "linear/row_sums.hpp"

namespace abstain {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Row> constexpr bool compressed = requires(Row X) { X.starts; };

template <class Row> Index entries(const Row& X, Index i) {
    if constexpr (compressed<Row>) return X.starts[i + 1] - X.starts[i];
    return X.features;
}

// Calls visit(column, value) for the entries of a row.
template <class Row, class Visit> void each_entry(const Row& X, Index i, Visit&& visit) {
    if constexpr (compressed<Row>) {
        for (Index e = X.starts[i]; e < X.starts[i + 1]; ++e) visit(X.columns[e], static_cast<double>(X.values[e]));
    } else {
        const auto* row = X.values + i * X.features;
        for (Index j = 0; j < X.features; ++j) visit(j, static_cast<double>(row[j]) - X.centre[j]);
    }
}

// The product with w, in four sums: one after the other they would wait for each other.
template <class Row> double times(const Row& X, Index i, const double* w) {
    double sum[4] = {0, 0, 0, 0};
    const Index count = entries(X, i), whole = count / 4 * 4;
    const auto term = [&](Index k) {
        if constexpr (compressed<Row>) {
            const Index e = X.starts[i] + k;
            return static_cast<double>(X.values[e]) * w[X.columns[e]];
        } else {
            return (static_cast<double>(X.values[i * X.features + k]) - X.centre[k]) * w[k];
        }
    };
    for (Index k = 0; k < whole; k += 4)
        for (int lane = 0; lane < 4; ++lane) sum[lane] += term(k + lane);
    for (Index k = whole; k < count; ++k) sum[0] += term(k);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Rows come in random order, so the next one is prefetched. (A call without effects would be left out.)
template <class Row> [[gnu::always_inline]] inline void fetch(const Row& X, Index i) {
    if constexpr (compressed<Row>) {
        const auto ahead = [](const auto* first, const auto* last) __attribute__((always_inline)) {
            for (const char* at = reinterpret_cast<const char*>(first); at < reinterpret_cast<const char*>(last); at += 64)
                __builtin_prefetch(at);
        };
        ahead(X.values + X.starts[i], X.values + X.starts[i + 1]);
        ahead(X.columns + X.starts[i], X.columns + X.starts[i + 1]);
    }
}

class Random {
  public:
    Index below(Index n) {  // xorshift (Marsaglia 2003), then the high part of a product
        state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
        return static_cast<Index>(((state_ >> 32) * static_cast<std::uint64_t>(n)) >> 32);
    }

  private:
    std::uint64_t state_ = 88172645463325252u;
};

template <class Row> class Run {
  public:
    Run(const Row& X, const Problem& problem, const double* gamma, double bias)
        : X_(X), problem_(problem), bias_(bias) {
        found_.gamma.assign(problem.size, 0.0);
        found_.margin.assign(problem.size, 0.0);
        w_.assign(X.features, 0.0);
        rows_.resize(problem.size);
        double total = 0;
        for (Index i = 0; i < problem.size; ++i) {
            Visited& row = rows_[i];
            double squared = 0;
            each_entry(X_, i, [&](Index, double x) { squared += x * x; });
            row.squared = squared;
            row.top = problem.breakpoint(i, problem.pieces());
            if (row.top > 0) total += row.squared, ++counted_, all_ += entries(X, i);
            move(i, std::clamp(gamma[i], 0.0, row.top));
        }
        const double mean = total / static_cast<double>(counted_);
        stretch_ = total > 0 && std::isfinite(total) ? linear_policy::bias_share * mean : 1.0;
    }

    Descent run(double tol, double passes, Index most_epochs, Watch& watch) {
        const double most = passes * static_cast<double>(all_);
        const Index last_epoch = std::min(most_epochs, static_cast<Index>(std::min(1e15, linear_policy::epochs_per_pass * passes)));
        least_stretch_ = tol / 16;
        Index look = linear_policy::first_look, before = 0;
        double last = 1;
        for (found_.epochs = 0; found_.epochs < last_epoch && read_ < most; ++found_.epochs) {
            if (found_.epochs == look) {
                settle();
                if (found_.gap <= tol) return std::move(found_);
                // where a straight line through the logarithms of the last two gaps meets the tolerance
                const double gap = std::min(found_.gap, 1e100), rate = elementary::log(last / gap), left = elementary::log(gap / tol);
                const Index soon = found_.epochs + 2, late = found_.epochs + 2 + found_.epochs / 3;
                const double steps = rate > 0 ? left / rate * static_cast<double>(look - before) : infinity;
                before = std::exchange(look, steps < static_cast<double>(late - found_.epochs)
                                                 ? std::max(soon, found_.epochs + 1 + static_cast<Index>(steps)) : late);
                last = gap;
            }
            watch.iterations = found_.epochs;
            watch.violation = last;
            watch.look();
            if (watch.expired()) break;
            epoch();
        }
        settle();
        return std::move(found_);
    }

  private:
    struct Visited {
        double squared = 0, top = 0;
        double gap = 0;                  // when all margins were last known
        std::uint8_t nap = 0, left = 0;  // epochs to leave it out, in all and from now on
    };

    void move(Index i, double gamma) {
        const double change = problem_.sign[i] * (gamma - found_.gamma[i]);
        if (change == 0) return;
        each_entry(X_, i, [change, w = w_.data()](Index j, double x) { w[j] += change * x; });
        found_.gamma[i] = gamma;
        excess_ += change;
    }

    double loss(Index i, double margin) const {
        double sum = 0;
        for (int k = problem_.pieces() - 1; k >= 0; --k) {
            const double below = problem_.slope(i, k) - margin;
            if (below > 0) sum += below * (problem_.breakpoint(i, k + 1) - problem_.breakpoint(i, k));
        }
        return sum;
    }

    // The primal value at (w, b) times a factor.
    double primal(double factor) const {
        double sum = 0.5 * factor * factor * length_;
        for (Index i = 0; i < problem_.size; ++i)
            if (rows_[i].top > 0) sum += loss(i, factor * found_.margin[i]);
        return sum;
    }

    // The multiplier of a row that is best for the others as they are.
    double best(Index i, double margin) const {
        const double rate = 1 / (rows_[i].squared + stretch_);
        double best = 0;
        for (int k = 0; k < problem_.pieces(); ++k) {
            const double pull = found_.gamma[i] + rate * (problem_.slope(i, k) - margin), top = problem_.breakpoint(i, k + 1);
            if (!(pull > best)) break;
            best = std::min(pull, top);
            if (pull < top) break;
        }
        return best;
    }

    void epoch() {
        bias_ += stretch_ * excess_;
        order_.clear();
        for (Index i = 0; i < problem_.size; ++i) {
            if (rows_[i].left > 0) --rows_[i].left;
            else if (rows_[i].top > 0) order_.push_back(i);
        }
        const Index count = static_cast<Index>(order_.size());
        for (Index k = count; k > 1; --k) std::swap(order_[k - 1], order_[random_.below(k)]);
        for (Index k = 0; k < count; ++k) {
            if (k + 2 < count) fetch(X_, order_[k + 2]);
            visit(order_[k]);
        }
    }

    void visit(Index i) {
        Visited& row = rows_[i];
        const double score = times(X_, i, w_.data()), margin = problem_.sign[i] * (score + bias_);
        read_ += static_cast<double>(entries(X_, i));
        const double next = best(i, margin), change = problem_.sign[i] * (next - found_.gamma[i]);
        if (std::abs(change) <= linear_policy::resting * next) {
            row.nap = static_cast<std::uint8_t>(std::min<int>(linear_policy::longest_nap, 2 * row.nap + 1));
            row.left = row.nap;
            return;
        }
        row.nap = 0;
        bias_ += stretch_ * change;
        move(i, next);
    }

    // Shares out what is missing in r = 0 among the rows between breakpoints, in proportion to their room; then all margins.
    void settle() {
        std::vector<std::pair<Index, double>> room;
        double total = 0;
        for (Index i = 0; i < problem_.size; ++i) {
            const double gamma = found_.gamma[i], slack = linear_policy::resting * rows_[i].top;
            for (int k = 0; k < problem_.pieces(); ++k) {
                const double first = problem_.breakpoint(i, k), last = problem_.breakpoint(i, k + 1);
                if (!(gamma > first + slack && gamma < last - slack)) continue;
                room.emplace_back(i, problem_.sign[i] * excess_ > 0 ? gamma - first : last - gamma);
                total += room.back().second;
            }
        }
        const double share = excess_ / total;
        if (std::abs(excess_) < total)
            for (const auto& [i, most] : room) move(i, found_.gamma[i] - problem_.sign[i] * share * most);
        measure();
        const double usual = gaps_ / static_cast<double>(std::max<Index>(1, counted_));
        for (Visited& row : rows_)
            if (row.gap > linear_policy::waking * usual) row.nap = row.left = 0;
    }

    // All margins, the duality gap, and the point that it is of.
    void measure() {
        length_ = excess_ = gaps_ = 0;
        for (const double each : w_) length_ += each * each;
        for (Index i = 0; i < problem_.size; ++i) {
            const double margin = problem_.sign[i] * (times(X_, i, w_.data()) + bias_), gamma = found_.gamma[i];
            found_.margin[i] = margin;
            excess_ += problem_.sign[i] * gamma;
            rows_[i].gap = rows_[i].top > 0 ? loss(i, margin) + gamma * margin - problem_.phi(i, gamma) : 0.0;
            gaps_ += rows_[i].gap;
        }
        read_ += static_cast<double>(all_);
        double factor = 1, best = primal(1);
        const double dual = best - gaps_ + bias_ * excess_;
        for (double more = least_stretch_; more < linear_policy::most_stretch; more *= 2) {
            const double value = primal(1 + more);
            if (!(value < best)) break;
            best = value, factor = 1 + more;
        }
        found_.gap = std::isfinite((best - dual) / best) ? std::max(0.0, (best - dual) / best) : infinity;
        found_.point = w_;
        found_.point.push_back(bias_);
        for (double& each : found_.point) each *= factor;
    }

    const Row& X_;
    const Problem& problem_;
    Descent found_;
    std::vector<double> w_;
    std::vector<Visited> rows_;
    std::vector<Index> order_;
    Random random_;
    Index counted_ = 0, all_ = 0;  // rows of some weight, and their entries
    double read_ = 0, stretch_ = 1, least_stretch_ = 0, bias_;
    double length_ = 0, excess_ = 0, gaps_ = 0;  // |w|^2, r, and the sum of the rows' parts of the gap
};

}  // namespace

Descent descend(const LinearRows& rows, const Problem& problem, const double* gamma, double bias, double tol, double passes,
                Index most_epochs, Watch& watch) {
    return std::visit([&](const auto& X) { return Run(X, problem, gamma, bias).run(tol, passes, most_epochs, watch); }, rows);
}

}  // namespace abstain
