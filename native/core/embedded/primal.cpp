#include "embedded/primal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace abstain {

namespace {

// Shares of the steepness. The first descent passes through all of `annealing`; later ones begin at 0.12 or above, for
// from blunter steps every start falls to the same point.
constexpr double annealing[] = {0.03, 0.06, 0.12, 0.25, 0.5, 1.0};

// Hops are many: each begins at one of three shares, and reaches the full steepness by way of one more. Without a band
// the loss is one high step, and blunter beginnings pay.
struct Shares {
    double first[3];
    double middle[2];
};
constexpr Shares with_band{{0.12, 0.25, 0.5}, {0.5, 0.25}}, without_band{{0.12, 0.18, 0.25}, {0.25, 0.25}};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double push = 1.0;  // of a hop: spread of the log-weights of the rows, or length relative to (u, b)
constexpr double eps_push = 0.3;
constexpr double hop_rise = 3e-3;  // the next hop starts from where this one ended unless F rose by more than this share
constexpr double worth = 5e-3;     // what ends higher than this is not descended to the last digits

class Random {  // splitmix64: the same numbers on every machine, unlike the standard distributions
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    double uniform() {  // in (0, 1)
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) * 0x1.0p-53;
    }
    double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }

  private:
    std::uint64_t state_;
};

class Search {
  public:
    Search(const EmbeddedRows& rows, const EmbeddedLoss& loss, const PrimalSettings& settings, Watch& watch)
        : loss_(loss), settings_(settings), watch_(watch), objective_(rows, loss.reject_cost >= 0.5),
          shares_(objective_.fixed_eps() ? without_band : with_band), descender_(objective_, watch, settings.max_iter),
          random_(settings.seed) {}

    PrimalOutcome run(const std::vector<Point>& starts) {
        Point point(objective_.size(), 0.0);
        point.back() = objective_.fixed_eps() ? 0.0 : 0.5;
        const double value = anneal(point, 0);
        consider(point, value);
        objective_.arrange(point);
        for (const Point& start : starts) begin_at(start);
        for (Index hop = 0; hop < settings_.hops && !descender_.exhausted(); ++hop) {
            Point next = current_.point;
            hop_from(next, hop);
        }
        return finish();
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
            value = descender_.descend(loss, point, {share < 1 ? 60 : 200, 1e-4}).value;
            if (share == 1 && value < best_.value * (1 + worth)) value = descender_.descend(loss, point, {200, 1e-5}).value;
        }
        return value;
    }

    void consider(const Point& point, double value) {
        if (value < current_.value * (1 + hop_rise)) current_ = {point, value};
        if (value < best_.value) best_ = {point, value};
    }

    void begin_at(const Point& start) {
        for (double from : {1.0, annealing[2]}) {
            Point point = start;
            if (objective_.fixed_eps()) point.back() = 0;
            const double value = anneal(point, from);
            consider(point, value);
        }
    }

    // In turn: weigh the rows at random for one descent; move the point; change the costs at random for one descent.
    void hop_from(Point& point, Index hop) {
        const double from = shares_.first[hop / 3 % 3], path[] = {shares_.middle[hop % 2], 1.0};
        switch (hop % 3) {
            case 0: {
                for (Index i = 0; i < objective_.rows(); ++i) objective_.weights()[i] = std::exp(push * random_.normal());
                descender_.descend(loss_.at_steepness(from * loss_.steepness), point, {30, 1e-4});
                std::fill_n(objective_.weights(), objective_.rows(), 1.0);
                break;
            }
            case 1: displace(point); break;
            default: descender_.descend(other_loss().at_steepness(from * loss_.steepness), point, {30, 1e-4});
        }
        const double value = anneal(point, from, path);
        consider(point, value);
    }

    EmbeddedLoss other_loss() {
        EmbeddedLoss other = loss_;
        other.reject_cost = std::clamp(loss_.reject_cost * std::exp(push * random_.normal()), 0.5 * loss_.reject_cost, 0.95);
        const double share = loss_.margin_cost / loss_.reject_cost * std::exp(push * random_.normal());
        other.margin_cost = other.reject_cost * std::min(share, 0.9);
        other.slack_penalty *= std::exp(push * random_.normal());
        return other;
    }

    void displace(Point& point) {
        const std::size_t d = point.size() - 1;
        double length = 0;
        for (std::size_t k = 0; k < d; ++k) length += point[k] * point[k];
        const double scale = push * std::sqrt(length / static_cast<double>(d));
        for (std::size_t k = 0; k < d; ++k) point[k] += scale * random_.normal();
        if (!objective_.fixed_eps()) point[d] = std::clamp(point[d] + eps_push * random_.normal(), 0.0, 1.0);
    }

    PrimalOutcome finish() {
        const Descent last = descender_.descend(loss_, best_.point, {5000, 1e-11});
        Status status = last.stationary ? Status::converged : Status::inaccurate;
        if (descender_.exhausted()) status = watch_.status();
        return {best_.point, last.value, status, watch_.iterations};
    }

    EmbeddedLoss loss_;
    PrimalSettings settings_;
    Watch& watch_;
    EmbeddedObjective objective_;
    Shares shares_;
    Descender descender_;
    Random random_;
    Found current_{{}, infinity}, best_{{}, infinity};
};

}  // namespace

PrimalOutcome solve_primal(const EmbeddedRows& rows, const EmbeddedLoss& loss, const std::vector<Point>& starts,
                           const PrimalSettings& settings, Watch& watch) {
    return Search(rows, loss, settings, watch).run(starts);
}

}  // namespace abstain
