#include "linear/linear_descent.hpp"

#include <algorithm>
#include <cmath>

#include "linear/linear_policy.hpp"
#include "linear/row_sums.hpp"

namespace abstain {

namespace {

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

// Rows come in random order, so the processor is told which one follows. (A call without effects would be left out.)
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
        measure();
    }

    Descent run(double tol, double passes, Index most_epochs, Watch& watch) {
        const double most = passes * static_cast<double>(all_);
        for (found_.epochs = 0; found_.epochs < most_epochs && read_ < most; ++found_.epochs) {
            if (gap() <= tol) {
                settle();
                if (gap() <= tol) return finished();
            }
            watch.iterations = found_.epochs;
            watch.violation = gap();
            watch.look();
            if (watch.expired()) break;
            epoch();
        }
        settle();
        return finished();
    }

  private:
    struct Visited {
        double squared = 0, top = 0;
        double gap = 0, loss = 0;  // when it was last visited
        std::uint8_t nap = 0, left = 0;  // epochs to leave it out, in all and from now on
    };

    double gap() const {
        const double primal = 0.5 * length_ + losses_, gap = gaps_ - bias_ * excess_;
        return std::isfinite(gap / primal) ? gap / primal : std::numeric_limits<double>::infinity();
    }

    void move(Index i, double gamma) {
        const double change = problem_.sign[i] * (gamma - found_.gamma[i]);
        if (change == 0) return;
        each_entry(X_, i, [change, w = w_.data()](Index j, double x) { w[j] += change * x; });
        found_.gamma[i] = gamma;
        excess_ += change;
    }

    // The loss of a row at its margin, and its part of the duality gap.
    void judge(Index i, double margin) {
        const double gamma = found_.gamma[i];
        double loss = 0, phi = 0;
        for (int k = 0; k < problem_.pieces(); ++k) {
            const double first = problem_.breakpoint(i, k), last = problem_.breakpoint(i, k + 1), t = problem_.slope(i, k);
            if (t > margin) loss += (last - first) * (t - margin);
            if (gamma > first) phi += t * (std::min(gamma, last) - first);
        }
        const double gap = loss + gamma * margin - phi;
        gaps_ += gap - rows_[i].gap;
        losses_ += loss - rows_[i].loss;
        rows_[i].gap = gap;
        rows_[i].loss = loss;
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
        judge(i, margin);
        const double next = best(i, margin), change = problem_.sign[i] * (next - found_.gamma[i]);
        if (std::abs(change) <= linear_policy::resting * next) {
            row.nap = static_cast<std::uint8_t>(std::min<int>(linear_policy::longest_nap, 2 * row.nap + 1));
            row.left = row.nap;
            return;
        }
        row.nap = 0;
        length_ += change * (2 * score + change * row.squared);
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

    // All margins and sums again, as rounding and rows that were left out have made them old.
    void measure() {
        length_ = excess_ = gaps_ = losses_ = 0;
        for (const double each : w_) length_ += each * each;
        for (Index i = 0; i < problem_.size; ++i) {
            found_.margin[i] = problem_.sign[i] * ((length_ > 0 ? times(X_, i, w_.data()) : 0.0) + bias_);
            excess_ += problem_.sign[i] * found_.gamma[i];
            rows_[i].gap = rows_[i].loss = 0;
            if (rows_[i].top > 0) judge(i, found_.margin[i]);
        }
        read_ += static_cast<double>(all_);
    }

    Descent finished() {
        found_.point = w_;
        found_.point.push_back(bias_);
        found_.gap = std::max(0.0, gap());
        return std::move(found_);
    }

    const Row& X_;
    const Problem& problem_;
    Descent found_;
    std::vector<double> w_;
    std::vector<Visited> rows_;
    std::vector<Index> order_;
    Random random_;
    Index counted_ = 0, all_ = 0;  // rows of some weight, and their entries
    double read_ = 0, stretch_ = 1, bias_;
    double length_ = 0, excess_ = 0, gaps_ = 0, losses_ = 0;  // |w|^2, r, and sums over the rows as last visited
};

}  // namespace

Descent descend(const LinearRows& rows, const Problem& problem, const double* gamma, double bias, double tol, double passes,
                Index most_epochs, Watch& watch) {
    return std::visit([&](const auto& X) { return Run(X, problem, gamma, bias).run(tol, passes, most_epochs, watch); }, rows);
}

}  // namespace abstain
