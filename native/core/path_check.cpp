// Whether the path has drifted from the optimum, and the way back to it.
#include <cmath>

#include "path.hpp"
#include "policy.hpp"

namespace abstain {

Path::Point Path::here() const {
    Point point{sets_.lambda(), sets_.bias(), {}, {}};
    if (sets_.inside().empty()) {
        Index rising = -1, falling = -1;
        const double width = band(point.lambda, &rising, &falling);
        point.bias = point.lambda * up(rising) - sets_.F(rising) + 0.5 * width;
    }
    for (Index i = 0; i < problem_.size; ++i) {
        point.gamma.push_back(sets_.coordinate(i).beta);
        point.F.push_back(sets_.F(i));
    }
    return point;
}

Path::Point Path::half_way(const Point& a, const Point& b) {
    Point point{0.5 * (a.lambda + b.lambda), 0.5 * (a.bias + b.bias), {}, {}};
    for (std::size_t i = 0; i < a.F.size(); ++i) {
        point.gamma.push_back(0.5 * (a.gamma[i] + b.gamma[i]));
        point.F.push_back(0.5 * (a.F[i] + b.F[i]));
    }
    return point;
}

// From F and gamma as they are kept, in O(n):
//
//   primal - dual = sum_i |loss_i(z_i) + g_i z_i - lambda phi_i(g_i)| + |bias sum_i gamma_i|      z = y (F + bias),  g = y gamma
//
//   loss_i(z) = max_g lambda phi_i(g) - g z = sum_k (w_i u_(k+1) - w_i u_k) max(0, lambda t_k - z)
//
// Rounding leaves an error e_i ~ 3 eps root_i |gamma root|_2 in F_i, since |k(x_i, x_j)| <= root_i root_j. It moves row i's part by
// at most (w_i u_K + |gamma_i|) e_i, and not at all where the score is far from all knots.
Path::Proof Path::proof(const Point& at) const {
    double norm = 0;
    for (Index i = 0; i < problem_.size; ++i) norm += std::pow(at.gamma[i] * sets_.root(i), 2);
    const double error = 3 * std::numeric_limits<double>::epsilon() * std::sqrt(norm);
    double gap = 0, hidden = 0, losses = 0, product = 0, sum = 0;
    for (Index i = 0; i < problem_.size; ++i) {
        if (problem_.weight[i] == 0) continue;
        const double z = problem_.sign[i] * (at.F[i] + at.bias), g = problem_.sign[i] * at.gamma[i];
        double loss = 0, phi = 0, nearest = std::numeric_limits<double>::infinity();
        for (int k = 0; k < problem_.pieces(); ++k) {
            const double from = problem_.breakpoint(i, k), to = problem_.breakpoint(i, k + 1);
            const double slope = at.lambda * problem_.slope(i, k);
            loss += (to - from) * std::max(0.0, slope - z);
            phi += std::max(0.0, std::min(g, to) - from) * slope;
            nearest = std::min(nearest, std::abs(slope - z));
        }
        gap += std::abs(loss + g * z - phi);
        losses += loss;
        product += at.gamma[i] * at.F[i];
        sum += at.gamma[i];
        const double e = error * sets_.root(i);
        if (nearest < policy::near_a_knot * e) hidden += std::pow((problem_.breakpoint(i, problem_.pieces()) + std::abs(g)) * e, 2);
    }
    const double primal = 0.5 * product + losses;
    return {(gap + std::abs(at.bias * sum)) / primal, std::sqrt(hidden) / primal};
}

bool Path::certified(const Point& at) const {
    return proof(at).gap <= (failures_ == 0 ? policy::gap_of_path : policy::gap_of_repaired_path);
}

// Whether the sets may go on from here. Where rounding has kept them from an end, the bias is that of a step not made.
bool Path::settle(bool finished) {
    if (!solver_) return finished;
    if (!finished) sets_.take_bias_from_knots();
    return certified();
}

// After a piece from here has failed. False: this is not the optimum and cannot be made so.
bool Path::repair(Index limit) {
    if (++failures_ > policy::failures_of_piece || ++repairs_ > policy::repairs_of_path(problem_.size)) return false;
    sets_.refactor(policy::dependent_if_fine);
    return (settle(sets_.refresh(some_of(limit))) && failures_ == 1) || solve_again(limit);
}

// The sets from a fit at this lambda.
bool Path::solve_again(Index limit) {
    if (!solver_) return false;
    failures_ = std::max(failures_, 1);
    const Outcome outcome = solver_(sets_.lambda(), here().gamma);
    sets_.begin(outcome);
    if (settle(sets_.finish(some_of(limit)))) return true;
    sets_.begin(outcome);
    return settle(false);
}

// From here to the exact fit at a lower lambda, the longest chord of those tried whose end and middle are certified: the gap
// on a chord bends by (gamma_b - gamma_a)' (F_b - F_a) >= 0 and is largest between its ends.
bool Path::draw_chord(PathPieces& path, double lowest, Index limit) {
    const Point start = here();
    double share = policy::longest_chord;
    for (int attempt = 0; attempt < policy::chords; ++attempt, share *= policy::chord_shrinks) {
        sets_.set_lambda(std::max(lowest, (1 - share) * start.lambda));
        if (!solve_again(limit)) continue;
        const Point end = here();
        if (!certified(half_way(start, end))) continue;
        std::vector<Index> rows;
        std::vector<double> rates;
        const double step = start.lambda - end.lambda;
        for (Index i = 0; i < problem_.size; ++i) {
            if (start.gamma[i] == end.gamma[i]) continue;
            rows.push_back(i);
            rates.push_back((start.gamma[i] - end.gamma[i]) / step);
        }
        record(path, start.lambda, rows, rates, (start.bias - end.bias) / step);
        failures_ = 0;
        return true;
    }
    return false;
}

}  // namespace abstain
