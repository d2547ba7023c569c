#include "embedded/primal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "elementary.hpp"
#include "embedded/policy.hpp"

namespace abstain {

namespace {

using namespace policy::embedded;

constexpr double infinity = std::numeric_limits<double>::infinity();

class Random {  // splitmix64: the same numbers on every machine, unlike the standard distributions
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    double uniform() {  // in (0, 1)
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) * 0x1.0p-53;
    }
    double normal() { return std::sqrt(-2 * elementary::log(uniform())) * elementary::cos_of_turn(uniform()); }

  private:
    std::uint64_t state_;
};

// The search sees `rough` rows only; what it meets near the lowest point so far is polished on `rows` at once. So it takes
// the same way wherever `rough` is the same, and as more hops only add to what was polished, they never raise F.
class Search {
  public:
    Search(const EmbeddedRows& rows, const EmbeddedRows& rough, const EmbeddedLoss& loss, const PrimalSettings& settings,
           Watch& watch)
        : loss_(loss), settings_(settings), watch_(watch), exact_(rows, loss.reject_cost >= 0.5),
          objective_(rough, loss.reject_cost >= 0.5), polisher_(exact_, watch, settings.max_iter), descender_(objective_, watch, settings.max_iter), random_(settings.seed) {}

    PrimalOutcome run(const std::vector<Point>& starts, const std::vector<Point>& later) {
        Point point(objective_.size(), 0.0);
        point.back() = objective_.fixed_eps() ? 0.0 : 0.5;
        const double value = anneal(point, 0);
        objective_.arrange(point);
        exact_.arrange(point);
        consider(point, value);
        for (const Point& start : starts) begin_at(start);
        for (Index hop = 0; hop < settings_.hops && !descender_.exhausted(); ++hop) {
            if (stale_ < patience) hop_from(current_.point, hop);
            else begin_chain();
        }
        for (const Point& start : later) begin_at(start);
        if (descender_.exhausted()) found_.status = watch_.status();
        found_.iterations = watch_.iterations;
        return std::move(found_);
    }

  private:
    struct Found {
        Point point;
        double value;
    };

    double anneal(Point& point, double from, std::span<const double> shares = annealing) {
        double value = 0;
        for (double share : shares) {
            if (share < from) continue;
            const EmbeddedLoss loss = loss_.at_steepness(share * loss_.steepness);
            value = descender_.descend(loss, point, share < 1 ? blunt : steep).value;
            if (share == 1 && value < best_.value * (1 + worth)) value = descender_.descend(loss, point, further).value;
        }
        return value;
    }

    void consider(const Point& point, double value) {
        stale_ = value < lowest_ * (1 - same) ? 0 : stale_ + 1;
        lowest_ = std::min(lowest_, value);
        if (value < current_.value * (1 + hop_rise)) current_ = {point, value};
        if (value < best_.value) best_ = {point, value};
        if (found_.point.empty() || value < best_.value * (1 + near)) polish(point);
    }

    // To the last digits, unless it comes to a minimum met before.
    void polish(Point point) {
        const double value = polisher_.descend(loss_, point, policy::embedded::polish).value;
        const bool known = std::any_of(polished_.begin(), polished_.end(),
                                       [=](double other) { return std::abs(value - other) <= same * other; });
        if (known && !found_.point.empty()) return;
        const Descent last = polisher_.descend(loss_, point, exact);
        polished_.push_back(last.value);
        if (!found_.point.empty() && !(last.value < found_.value)) return;
        found_ = {std::move(point), last.value, last.stationary ? Status::converged : Status::inaccurate};
    }

    void begin_at(const Point& start) {
        for (double from : {1.0, annealing[2]}) {
            Point point = start;
            if (objective_.fixed_eps()) point.back() = 0;
            const double value = anneal(point, from);
            consider(point, value);
        }
    }

    // In turn, for one descent: weigh all rows at random; change the costs at random; weigh two rows at a loss heavily.
    void hop_from(Point point, Index hop) {
        const Shares& shares = objective_.fixed_eps() && hop / 9 % 2 == 0 ? without_band : with_band;
        const double from = shares.first[hop / 3 % 3], path[] = {shares.middle[hop % 2], 1.0};
        EmbeddedLoss loss = loss_;
        if (hop % 3 == 0) weigh_all();
        else if (hop % 3 == 1) loss = other_loss();
        else weigh_two(point);
        descender_.descend(loss.at_steepness(from * loss_.steepness), point, off);
        std::fill_n(objective_.weights(), objective_.rows(), 1.0);
        const double value = anneal(point, from, path);
        consider(point, value);
    }

    // From a blunt descent with weighed rows, and from the lowest point so far, by turns.
    void begin_chain() {
        constexpr double path[] = {annealing[2], 0.5, 1.0};
        fresh_ = !fresh_;
        stale_ = 0;
        if (!fresh_) {
            current_ = best_;
            lowest_ = best_.value;
            return;
        }
        lowest_ = current_.value = infinity;
        Point point(objective_.size(), 0.0);
        point.back() = objective_.fixed_eps() ? 0.0 : random_.uniform();
        weigh_all();
        for (double share : std::span(annealing).first(3))
            descender_.descend(loss_.at_steepness(share * loss_.steepness), point, off);
        std::fill_n(objective_.weights(), objective_.rows(), 1.0);
        const double value = anneal(point, 0, path);
        consider(point, value);
    }

    void weigh_all() {
        for (Index i = 0; i < objective_.rows(); ++i) objective_.weights()[i] = elementary::exp(push * random_.normal());
    }

    void weigh_two(const Point& point) {
        std::vector<Index> lost;  // rejected or wrong
        for (Index i = 0; i < objective_.rows(); ++i)
            if (objective_.margin(i, point) <= point.back()) lost.push_back(i);
        for (int k = 0; k < 2 && !lost.empty(); ++k)
            objective_.weights()[lost[static_cast<std::size_t>(random_.uniform() * static_cast<double>(lost.size()))]] = heavy;
    }

    EmbeddedLoss other_loss() {
        EmbeddedLoss other = loss_;
        other.reject_cost = std::clamp(loss_.reject_cost * elementary::exp(push * random_.normal()), 0.5 * loss_.reject_cost, 0.95);
        const double share = loss_.margin_cost / loss_.reject_cost * elementary::exp(push * random_.normal());
        other.margin_cost = other.reject_cost * std::min(share, 0.9);
        other.slack_penalty *= elementary::exp(push * random_.normal());
        return other;
    }

    EmbeddedLoss loss_;
    PrimalSettings settings_;
    Watch& watch_;
    EmbeddedObjective exact_, objective_;
    Descender polisher_, descender_;
    Random random_;
    Found current_{{}, infinity}, best_{{}, infinity};  // where the chain is; lowest of the search
    double lowest_ = infinity;                          // of the chain
    Index stale_ = 0;                                   // hops since the chain fell
    bool fresh_ = false;
    std::vector<double> polished_;  // values of the minima polished so far
    PrimalOutcome found_;
};

}  // namespace

PrimalOutcome solve_primal(const EmbeddedRows& rows, const EmbeddedRows& rough, const EmbeddedLoss& loss,
                           const std::vector<Point>& starts, const std::vector<Point>& later, const PrimalSettings& settings,
                           Watch& watch) {
    return Search(rows, rough, loss, settings, watch).run(starts, later);
}

}  // namespace abstain
