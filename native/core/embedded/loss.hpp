// Fumera and Roli's loss of a slack, its steps smoothed (FR02, equation 22; S is the sigmoid of steepness s):
//
//   h''(xi, eps) = w_C S(xi) + (w_R - w_C) S(xi - 1 + eps) + (1 - w_R) S(xi - 1 - eps) + a xi^2
//
// It falls to its one minimum xi0(eps) < 0 and rises from there, so that the best slack of a row with margin m is
// xi = max(1 - m, xi0): the constraint y f >= 1 - xi and every slack leave the training problem.
#pragma once

#include "lanes/lanes.hpp"

namespace abstain {

struct EmbeddedLoss {
    double reject_cost;    // w_R, 0 < w_C < w_R <= 1
    double margin_cost;    // w_C
    double steepness;      // s > 0
    double slack_penalty;  // a > 0

    double value(double xi, double eps) const;
    double by_slack(double xi, double eps) const;  // dh''/dxi
    double bend(double xi, double eps) const;      // d2h''/dxi2
    // xi0, not below -40 / s where h'' is flat to the last bit; quicker from a guess that is near.
    double least_slack(double eps, double guess = 0) const;

    EmbeddedLoss at_steepness(double s) const { return {reject_cost, margin_cost, s, slack_penalty}; }
    StepLoss at_eps(double eps, double xi0) const {
        return {steepness, margin_cost, reject_cost - margin_cost, 1 - reject_cost, slack_penalty, xi0, eps};
    }
};

}  // namespace abstain
