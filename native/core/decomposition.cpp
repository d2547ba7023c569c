#include "decomposition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace abstain {

namespace {

// A fixed shuffle: rows of equal violation (all of them at the start) are taken from all over the data.
std::uint64_t shuffled(Index i) {
    std::uint64_t z = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 31)) * 0xbf58476d1ce4e5b9ULL;
    return z ^ (z >> 29);
}

}  // namespace

template <class T>
Decomposition<T>::Decomposition(const Problem& problem, KernelMatrix<T>& kernel, const Settings& settings, Watch& watch)
    : problem_(problem), kernel_(kernel), settings_(settings), watch_(watch), pairs_(problem, watch) {
    for (double t : problem.losses->slopes) knots_ = std::max(knots_, 2 * std::abs(t));
}

template <class T> void Decomposition<T>::refresh(std::size_t a) {
    const Index i = active_[a];
    up_[a] = problem_.up(i, state_[i].code);
    down_[a] = problem_.down(i, state_[i].code);
}

template <class T> void Decomposition<T>::begin(const double* start) {
    const std::size_t n = problem_.size;
    F_.assign(n, 0.0);
    state_.assign(n, Coordinate{0.0, 0});
    double sum[2] = {0, 0};  // of y beta, by class
    Departure weightless;      // rows that can never move are set aside, unless all rows are one block
    weightless.stayed.reserve(n);
    for (Index i = 0; i < problem_.size; ++i) {
        const bool stays = problem_.weight[i] > 0 || problem_.size <= settings_.working_set;
        (stays ? weightless.stayed : weightless.gone).push_back(i);
        if (!start) continue;
        state_[i] = coordinate_at(problem_, i, start[i]);
        sum[problem_.sign[i] > 0] += std::abs(state_[i].beta);
    }
    active_ = weightless.stayed;
    sums_.assign(rounded_up(problem_.size), 0.0);
    up_.resize(n);
    down_.resize(n);
    kernel_.activate(active_);
    if (settings_.on_demand && !kernel_.whole().values) on_demand_.emplace(kernel_, active_);
    balance(sum);
    SparseVector coef;
    for (Index i : active_) coef.add(i, state_[i].beta);
    if (!coef.rows.empty()) kernel_.accumulate(coef, sums_.data());
    dual_ = 0;
    for (std::size_t a = 0; a < active_.size(); ++a) {
        refresh(a);
        const double beta = state_[active_[a]].beta;
        dual_ += problem_.phi(active_[a], problem_.sign[active_[a]] * beta) - 0.5 * beta * sums_[a];
    }
    if (weightless.gone.empty()) return;
    weightless.beta.assign(weightless.stayed.size(), 0.0);
    departures_.push_back(std::move(weightless));
}

// Makes sum beta = total by reducing the class with the larger sum, to which the total is added: rows between breakpoints
// first, so that few others leave their breakpoint.
template <class T> void Decomposition<T>::balance(const double (&sum)[2]) {
    const double side[2] = {sum[0] + problem_.total, sum[1]};
    const int heavier = side[1] > side[0];
    double excess = side[heavier] - side[1 - heavier];
    if (excess <= policy::rounding_of_sum * side[heavier]) return;
    for (const bool between : {true, false})
        for (Index i = 0; i < problem_.size && excess > 0; ++i) {
            Coordinate& now = state_[i];
            if ((problem_.sign[i] > 0) != heavier || now.beta == 0 || between != (now.code % 2 == 1)) continue;
            const double g = std::abs(now.beta), taken = std::min(g, excess);
            excess -= taken;
            now = coordinate_at(problem_, i, problem_.sign[i] * (g - taken));
        }
    if (problem_.total != 0) raise(heavier == 0, excess);
}

// Rows of one class rise to their last breakpoint until nothing is missing: rows from all over the data.
template <class T> void Decomposition<T>::raise(bool positive, double missing) {
    if (!(missing > 0)) return;
    std::vector<Index> rows = all_rows(problem_.size);
    std::sort(rows.begin(), rows.end(), [](Index i, Index j) { return shuffled(i) < shuffled(j); });
    for (Index i : rows) {
        if ((problem_.sign[i] > 0) != positive) continue;
        const double g = std::abs(state_[i].beta), top = problem_.breakpoint(i, problem_.pieces());
        const double added = std::min(top - g, missing);
        if (!(added > 0)) continue;
        missing -= added;
        state_[i] = coordinate_at(problem_, i, problem_.sign[i] * (top - g - added > policy::rounding_of_sum * top ? g + added : top));
        if (!(missing > 0)) return;
    }
}

template <class T> void Decomposition<T>::measure() {
    highest_ = -std::numeric_limits<double>::infinity();
    lowest_ = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < active_.size(); ++a) {
        highest_ = std::max(highest_, up_[a] - sums_[a]);
        lowest_ = std::min(lowest_, down_[a] - sums_[a]);
    }
    watch_.violation = highest_ - lowest_;
    watch_.iterations = iterations_;
}

// Half of the set are the worst violators, as many that should rise as should fall. The other half is kept from the last
// round; otherwise the new rows would undo what it achieved.
template <class T> void Decomposition<T>::select() {
    struct Candidate {
        double violation;
        std::uint64_t order;
        std::size_t a;
    };
    const auto worse = [](const Candidate& x, const Candidate& y) {
        return x.violation != y.violation ? x.violation > y.violation : x.order < y.order;
    };
    const std::size_t size = settings_.working_set, fresh = working_.empty() ? size : size / 2;
    if (on_demand_ || (state_.size() <= size && active_.size() == state_.size())) {  // small enough for a block
        working_.resize(active_.size());
        std::iota(working_.begin(), working_.end(), std::size_t(0));
        return;
    }
    std::vector<Candidate> rising, falling;
    for (std::size_t a = 0; a < active_.size(); ++a) {
        const double up = up_[a] - sums_[a], down = down_[a] - sums_[a];
        if (up > lowest_) rising.push_back({up - lowest_, shuffled(active_[a]), a});
        if (down < highest_) falling.push_back({highest_ - down, shuffled(active_[a]), a});
    }
    std::vector<std::size_t> chosen;
    for (auto* side : {&rising, &falling}) {
        const auto end = side->begin() + static_cast<std::ptrdiff_t>(std::min(fresh / 2, side->size()));
        std::nth_element(side->begin(), end, side->end(), worse);
        for (auto c = side->begin(); c != end; ++c) chosen.push_back(c->a);
    }
    working_.swap(chosen);
    fill_up(chosen, size);
}

// Rows between breakpoints first: they are the ones that react to the new rows. The classes take turns: of rows sorted by class
// all that are kept would be of the first, and the bias would swing from round to round.
template <class T> void Decomposition<T>::fill_up(const std::vector<std::size_t>& last, std::size_t size) {
    std::vector<char> taken(active_.size(), 0);
    std::erase_if(working_, [&](std::size_t a) { return std::exchange(taken[a], char(1)); });
    for (const bool between : {true, false}) {
        std::vector<std::size_t> of_class[2];
        for (std::size_t a : last)
            if (const Index i = active_[a]; !taken[a] && between == (state_[i].code % 2 == 1))
                of_class[problem_.sign[i] > 0].push_back(a);
        for (std::size_t k = 0; k < std::max(of_class[0].size(), of_class[1].size()); ++k)
            for (const auto& rows : of_class)
                if (k < rows.size() && working_.size() < size) working_.push_back(rows[k]);
    }
    std::sort(working_.begin(), working_.end());
}

template <class T> bool Decomposition<T>::improve() {
    const std::size_t q = working_.size();
    std::vector<Index> rows(q);
    std::vector<double> diagonal(q), F(q), before(q);
    std::vector<Coordinate> state(q);
    for (std::size_t w = 0; w < q; ++w) {
        rows[w] = active_[working_[w]];
        diagonal[w] = kernel_.diagonal(rows[w]);
        F[w] = sums_[working_[w]];
        state[w] = state_[rows[w]];
        before[w] = state[w].beta;
    }
    const auto result = solve_block(rows, diagonal.data(), F.data(), state);
    iterations_ += steps_ = result.iterations;
    dual_ += result.rise;
    SparseVector change;
    change.reserve(q);
    for (std::size_t w = 0; w < q; ++w) {
        state_[rows[w]] = state[w];
        refresh(working_[w]);
        change.add(on_demand_ ? static_cast<Index>(w) : rows[w], state[w].beta - before[w]);
    }
    if (on_demand_) on_demand_->accumulate(change, sums_.data());
    else kernel_.accumulate(change, sums_.data());
    return !change.rows.empty();
}

template <class T>
typename PairSolver<T>::Result Decomposition<T>::solve_block(const std::vector<Index>& rows, const double* diagonal,
                                                             const double* F, std::vector<Coordinate>& state) {
    const Index q = std::ssize(rows);
    const bool whole = on_demand_ || q == std::ssize(state_);  // nothing else can move: stopping early gains nothing
    const double tol =
        whole ? 0.5 * settings_.tol : std::max(0.5 * settings_.tol, policy::violation_left_in_block * (highest_ - lowest_));
    const Index left = settings_.max_iterations - iterations_;
    const Index limit = whole ? left : std::min<Index>(left, policy::steps_in_block(q));
    if (on_demand_) {
        const Index first = rounds_ == 0 ? std::min(limit, policy::steps_before_shrinking(q)) : limit;
        return pairs_.solve(rows, *on_demand_, diagonal, F, state, dual_, policy::tolerance_on_demand * settings_.tol, first);
    }
    Block<T> K = whole ? kernel_.whole() : Block<T>{};
    if (!K.values) {
        const Index stride = rounded_up(q);
        block_.resize(stride * stride);
        kernel_.block(rows, block_.data(), stride);
        K = {block_.data(), stride};
    }
    return pairs_.solve(rows, K, diagonal, F, state, dual_, tol, limit);
}

template <class T> Outcome Decomposition<T>::outcome(Status status) {
    if (!departures_.empty()) restore();
    Outcome result;
    result.status = status;
    result.iterations = iterations_;
    result.beta.reserve(state_.size());
    result.codes.reserve(state_.size());
    result.expansion.reserve(state_.size());
    for (std::size_t i = 0; i < state_.size(); ++i) {
        result.beta.push_back(state_[i].beta);
        result.codes.push_back(state_[i].code);
        result.expansion.push_back(sums_[i]);
    }
    judge(problem_, result);
    return result;
}

template <class T> Index Decomposition<T>::between() const {
    return std::count_if(active_.begin(), active_.end(), [&](Index i) { return state_[i].code % 2 == 1; });
}

// Rows on a breakpoint that would leave it.
template <class T> Index Decomposition<T>::violators() const {
    const double high = 0.5 * (highest_ + lowest_) + settings_.tol, low = high - 2 * settings_.tol;
    Index count = 0;
    for (std::size_t a = 0; a < active_.size(); ++a)
        count += (up_[a] - sums_[a] > high || down_[a] - sums_[a] < low) && state_[active_[a]].code % 2 == 0;
    return count;
}

// Progress is slow if more rows lie between breakpoints than fit the working set: near the end, or where a block needs fewer
// steps than it has rows, and the next round undoes them. Then the set grows.
template <class T> void Decomposition<T>::note_progress() {
    const double violation = highest_ - lowest_, rows = settings_.working_set;
    const double steps = policy::cost_of_row_in_step * static_cast<double>(steps_) * sizeof(T) / sizeof(float);
    spent_ += rows * (steps + policy::cost_of_row_in_step * static_cast<double>(active_.size()));
    // While the sets are far off, progress says nothing about the end.
    if (rounds_ < policy::rounds_to_halve || violators() > between()) halving_ = spent_ = 0;
    if (rounds_ == 0 || violation < 0.5 * milestone_) {
        halving_ = spent_ > 0 ? spent_ / std::log2(milestone_ / violation) : 0;
        milestone_ = violation;
        since_milestone_ = 0;
        spent_ = 0;
    } else if (++since_milestone_ >= policy::rounds_to_halve &&
               (violation < 1 || steps_ < settings_.working_set || static_cast<double>(between()) > policy::blocks_between * rows)) {
        settings_.working_set = std::min(2 * settings_.working_set, settings_.largest_working_set);
        since_milestone_ = 0;
    }
}

template <class T> bool Decomposition<T>::too_slow() const {
    if (!settings_.otherwise || rounds_ < policy::rounds_to_halve) return false;
    const double violation = highest_ - lowest_;
    const double to_come = std::max(spent_, halving_) * std::log2(violation / settings_.tol) / policy::margin_of_pair_steps;
    const double inside = static_cast<double>(between()), leaving = inside * std::min(1.0, violation / knots_);
    return to_come > settings_.otherwise(inside, leaving + policy::changes_of_violator * static_cast<double>(violators()));
}

template <class T> Outcome Decomposition<T>::run(const double* start) {
    begin(start);
    for (int idle = 0;; ++rounds_) {
        measure();
        if (!(highest_ - lowest_ > settings_.tol)) {
            if (departures_.empty()) return outcome(Status::converged);
            restore();
            continue;
        }
        if (iterations_ >= settings_.max_iterations) return outcome(Status::iteration_limit);
        if (watch_.expired()) return outcome(watch_.status());
        note_progress();
        if (too_slow()) return outcome(Status::iteration_limit);
        if (rounds_ > 0) shrink();
        select();
        const double before = dual_;
        const bool moved = improve();
        idle = dual_ - before > policy::least_rise * std::abs(dual_) ? 0 : idle + 1;
        if (!moved || idle >= policy::rounds_without_rise) return outcome(Status::inaccurate);
    }
}

template class Decomposition<float>;
template class Decomposition<double>;

}  // namespace abstain
