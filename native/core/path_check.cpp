// Whether the path has drifted from the optimum, and the way back to it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "path.hpp"
#include "policy.hpp"

namespace abstain {

namespace {

double square(double x) { return x * x; }

}  // namespace

Path::Point Path::here() const {
    Point point{sets_.lambda(), sets_.bias(), {}, {}};
    if (sets_.inside().empty()) {
        Index rising = -1, falling = -1;
        const double width = band(point.lambda, &rising, &falling);
        if (rising >= 0) point.bias = point.lambda * up(rising) - sets_.F(rising);
        if (rising >= 0 && falling >= 0) point.bias += 0.5 * width;
    }
    point.gamma.resize(problem_.size);
    point.F.resize(problem_.size);
    for (Index i = 0; i < problem_.size; ++i) {
        point.gamma[i] = sets_.coordinate(i).beta;
        point.F[i] = sets_.F(i);
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
// Rounding leaves an error e_i ~ 3 eps root_i |gamma root|_2 in F_i, since |k(x_i, x_j)| <= root_i root_j. It moves row i's
// part by at most (w_i u_K + |gamma_i|) e_i, and not at all where the score is far from all knots.
Path::Proof Path::proof(const Point& at) const {
    double norm = 0;
    for (Index i = 0; i < problem_.size; ++i) norm += square(at.gamma[i] * sets_.root(i));
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
        if (nearest < policy::near_a_knot * e) hidden += square((problem_.breakpoint(i, problem_.pieces()) + std::abs(g)) * e);
    }
    const double primal = 0.5 * product + losses;
    return {(gap + std::abs(at.bias * sum)) / primal, std::sqrt(hidden) / primal};
}

// Whether the sets may go on from here. Where rounding has kept them from an end, the bias is that of a step not made.
bool Path::settle(bool finished) {
    if (!solver_) return finished;
    if (!finished) sets_.take_bias_from_knots();
    return certified(here());
}

// Rows beyond their knot, which next_event sees anyway.
bool Path::is_off(const Event& event) const {
    return solver_ && event.violation > policy::violation_of_path * sets_.lambda() * sets_.largest_knot();
}

bool Path::is_due(const PathPieces& path, const Rates& rates, const Event& event) const {
    const std::size_t pieces = path.start.size();
    return solver_ && (careful_ > 0 || rates.off || event.row < 0 || is_off(event) ||
                       pieces >= kept_.pieces + policy::pieces_between_checks || pieces % policy::pieces_between_refreshes == 0);
}

// True: the path is right up to here. If not, it is taken back to the last point that was, and `optimal` says whether it can
// go on from there. Failures are counted until lambda falls, so that there is an end to them.
bool Path::verify(PathPieces& path, bool& optimal, double lowest, Index limit) {
    if (!solver_) return true;
    const Proof found = proof(here());
    optimal = found.hidden <= policy::gap_hidden_by_rounding;
    if (!optimal) return false;
    if (found.gap <= allowed_gap()) {
        if (sets_.lambda() < kept_.point.lambda) failures_ = 0, careful_ = std::max(0, careful_ - 1);
        keep(path);
        return true;
    }
    take_back(path);
    careful_ = policy::pieces_after_failure;
    optimal = repair(limit) && (failures_ <= policy::failures_before_chord || draw_chord(path, lowest, limit));
    return false;
}

void Path::keep(const PathPieces& path) {
    if (!solver_) return;
    kept_.point = here();
    kept_.codes.resize(problem_.size);
    for (Index i = 0; i < problem_.size; ++i) kept_.codes[i] = sets_.coordinate(i).code;
    kept_.known = known_;
    kept_.codes_of_piece = codes_;
    kept_.pieces = path.start.size();
    kept_.settled = path.settled_from.size();
}

void Path::take_back(PathPieces& path) {
    if (!solver_) return;
    for (auto* values : {&path.start, &path.end, &path.bias, &path.bias_rate}) values->resize(kept_.pieces);
    path.turned.resize(kept_.pieces);
    path.first.resize(kept_.pieces + 1);
    path.rows.resize(path.first.back());
    for (auto* values : {&path.gamma, &path.rate}) values->resize(path.rows.size());
    for (auto* indices : {&path.settled_from, &path.settled_row}) indices->resize(kept_.settled);
    path.settled_gamma.resize(kept_.settled);
    known_ = kept_.known;
    codes_ = kept_.codes_of_piece;
    sets_.set_lambda(kept_.point.lambda);
    Outcome outcome;
    outcome.beta = kept_.point.gamma;
    outcome.expansion = kept_.point.F;
    outcome.codes = kept_.codes;
    sets_.begin(outcome);
}

// After pieces from here have failed. False: this is not the optimum and cannot be made so.
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

// From here to the exact fit at a lower lambda, the longest chord of those tried whose end and middle are certified. Between its
// ends the gap is at most that of the ends plus s (1 - s) times a constant, which is largest in the middle.
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
        keep(path);
        return true;
    }
    return false;
}

}  // namespace abstain
