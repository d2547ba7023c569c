// One coordinate beta_i and where it rests. Landing on a breakpoint sets beta_i to it exactly.
#pragma once

#include <algorithm>
#include <cmath>

#include "problem.hpp"

namespace abstain {

struct Coordinate {
    double beta;
    Code code;
};

// The breakpoint that beta_i meets next when it moves up (direction +1) or down (-1); the move must be allowed.
inline int next_breakpoint(const Problem& problem, Index i, Code code, int direction) {
    return direction * problem.sign[i] > 0 ? code / 2 + 1 : (code - 1) / 2;
}

inline double distance_to(const Problem& problem, Index i, const Coordinate& now, int k) {
    return std::abs(problem.breakpoint(i, k) - problem.sign[i] * now.beta);
}

inline void land(const Problem& problem, Index i, Coordinate& now, int k) {
    now.beta = problem.sign[i] * problem.breakpoint(i, k);
    now.code = static_cast<Code>(2 * k);
}

// Any value: clipped to the box, put on a breakpoint where it equals one.
inline Coordinate coordinate_at(const Problem& problem, Index i, double beta) {
    const double g = problem.sign[i] * beta;
    int k = 0;
    while (k < problem.pieces() && problem.breakpoint(i, k + 1) <= g) ++k;
    Coordinate now{beta, static_cast<Code>(2 * k + 1)};
    if (k == problem.pieces() || !(g > problem.breakpoint(i, k))) land(problem, i, now, k);
    return now;
}

// Moves by a step that stays strictly inside the piece entered.
inline void move_inside(const Problem& problem, Index i, Coordinate& now, double step, int direction) {
    const int k = next_breakpoint(problem, i, now.code, direction);
    now.beta += direction * step;
    now.code = static_cast<Code>(direction * problem.sign[i] > 0 ? 2 * k - 1 : 2 * k + 1);
    const double g = problem.sign[i] * now.beta;  // rounding may have reached an end of the piece
    const int piece = now.code / 2;
    if (!(g > problem.breakpoint(i, piece))) land(problem, i, now, piece);
    else if (!(g < problem.breakpoint(i, piece + 1))) land(problem, i, now, piece + 1);
}

// The exact line search of a pair step: beta_i up by s, beta_j down by s, over as many pieces as it gains.
// gain = (up_i - F_i) - (down_j - F_j) > 0 falls by curvature = K_ii + K_jj - 2 K_ij per unit of s.
struct PairStep {
    double di, dj;  // what was added to beta_i and beta_j
    double rise;    // of the dual objective
};

inline PairStep pair_step(const Problem& problem, Index i, Index j, Coordinate& a, Coordinate& b, double Fi, double Fj,
                          double curvature) {
    const double beta_i = a.beta, beta_j = b.beta;
    double rise = 0, moved = 0;
    for (int crossing = 0; crossing <= 4 * problem.pieces(); ++crossing) {
        const double gain = (problem.up(i, a.code) - Fi) - (problem.down(j, b.code) - Fj) - curvature * moved;
        if (!(gain > 0)) break;
        const int ka = next_breakpoint(problem, i, a.code, +1), kb = next_breakpoint(problem, j, b.code, -1);
        const double room_a = distance_to(problem, i, a, ka), room_b = distance_to(problem, j, b, kb);
        const double s = std::min({gain / curvature, room_a, room_b});
        if (s == room_a) land(problem, i, a, ka);
        else move_inside(problem, i, a, s, +1);
        if (s == room_b) land(problem, j, b, kb);
        else move_inside(problem, j, b, s, -1);
        moved += s;
        rise += s * (gain - 0.5 * curvature * s);
        if (s != room_a && s != room_b) break;
    }
    return {a.beta - beta_i, b.beta - beta_j, rise};
}

}  // namespace abstain
