#include "pair_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "policy.hpp"
#include "rows_on_demand.hpp"

namespace abstain {

// The level of the scores at which rows may move. Pairs compare differences only, and those of scores around 0 keep more
// digits: the scores of one class are as large as the total.
template <class T>
double PairSolver<T>::middle(const std::vector<Index>& rows, const double* F, const std::vector<Coordinate>& state) const {
    double highest = -std::numeric_limits<double>::infinity(), lowest = -highest;
    for (std::size_t a = 0; a < rows.size(); ++a) {
        highest = std::max(highest, problem_.up(rows[a], state[a].code) - F[a]);
        lowest = std::min(lowest, problem_.down(rows[a], state[a].code) - F[a]);
    }
    return std::isfinite(highest + lowest) ? -0.5 * (highest + lowest) : 0;
}

template <class T>
void PairSolver<T>::load(const std::vector<Index>& rows, const double* diagonal, const double* F,
                         const std::vector<Coordinate>& state) {
    constexpr T infinite = std::numeric_limits<T>::infinity();
    const Index padded = rounded_up(std::ssize(rows), block_rows<T>);
    size_ = static_cast<int>(padded);
    F_.assign(padded, T(0));
    up_.assign(padded, -infinite);  // the padding can go neither up nor down
    down_.assign(padded, infinite);
    diagonal_.assign(padded, T(1));
    const double level = problem_.total == 0 ? 0 : middle(rows, F, state);
    for (std::size_t a = 0; a < rows.size(); ++a) {
        F_[a] = static_cast<T>(F[a] - level);
        diagonal_[a] = static_cast<T>(diagonal[a]);
        refresh(rows, static_cast<int>(a), state[a]);
    }
}

template <class T>
template <class Matrix>
typename PairSolver<T>::Result PairSolver<T>::solve(const std::vector<Index>& rows, Matrix& K, const double* diagonal,
                                                    const double* F, std::vector<Coordinate>& state, double dual, double tol,
                                                    Index limit) {
    const Lanes<T>& lane = lanes<T>();
    load(rows, diagonal, F, state);
    Result result{0, 0, 0};
    double risen = 0;  // at the last look
    Rising<T> top = lane.step(size_, F_.data(), F_.data(), F_.data(), T(0), T(0), up_.data());
    for (;; ++result.iterations) {
        const int i = top.index;
        const std::size_t a = i;
        const T* Ki = K.row(i);
        const Falling<T> partner = lane.partner(size_, F_.data(), Ki, diagonal_.data(), down_.data(), diagonal_[a], top.gain);
        result.violation = static_cast<double>(top.gain) - static_cast<double>(partner.lowest);
        if (!(result.violation > tol) || result.iterations >= limit || partner.index < 0) break;
        const int j = partner.index;
        const std::size_t b = j;
        const double both = diagonal[i] + diagonal[j];
        const double curvature = std::max(both - 2 * static_cast<double>(Ki[j]), policy::least_curvature * std::abs(both));
        const PairStep step = pair_step(problem_, rows[a], rows[b], state[a], state[b], static_cast<double>(F_[a]),
                                        static_cast<double>(F_[b]), curvature);
        result.rise += step.rise;
        if (step.di == 0 && step.dj == 0) break;
        refresh(rows, i, state[a]);
        refresh(rows, j, state[b]);
        top = lane.step(size_, F_.data(), Ki, K.row(j), static_cast<T>(step.di), static_cast<T>(step.dj), up_.data());
        if ((result.iterations + 1) % policy::steps_between_looks == 0) {
            watch_.look();
            if (watch_.expired() || !(result.rise - risen > policy::least_rise * std::abs(dual + result.rise))) break;
            risen = result.rise;
        }
    }
    return result;
}

template class PairSolver<float>;
template class PairSolver<double>;
template PairSolver<float>::Result PairSolver<float>::solve(const std::vector<Index>&, Block<float>&, const double*, const double*,
                                                            std::vector<Coordinate>&, double, double, Index);
template PairSolver<double>::Result PairSolver<double>::solve(const std::vector<Index>&, Block<double>&, const double*,
                                                              const double*, std::vector<Coordinate>&, double, double, Index);
template PairSolver<float>::Result PairSolver<float>::solve(const std::vector<Index>&, RowsOnDemand<float>&, const double*,
                                                            const double*, std::vector<Coordinate>&, double, double, Index);
template PairSolver<double>::Result PairSolver<double>::solve(const std::vector<Index>&, RowsOnDemand<double>&, const double*,
                                                              const double*, std::vector<Coordinate>&, double, double, Index);

}  // namespace abstain
