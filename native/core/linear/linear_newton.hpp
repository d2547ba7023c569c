// The linear machine: an augmented Lagrangian with semismooth Newton steps, from sums over rows wherever they are.
//
//   min_{w, b}  1/2 |w|^2 + sum_i w_i loss_i(m_i),      m_i = y_i (x_i . w + b)
//
// For multipliers lambda and a penalty sigma the inner problem is smooth but for the second derivative (linear_block.hpp has
// gamma):
//
//   gradient  (w, 0) - sum_i y_i gamma_i (x_i, 1)        Hessian  diag(1, ..., 1, 0) + sigma sum_D (x_i, 1)(x_i, 1)'
//
// D has the rows whose gamma lies between two breakpoints. Newton steps with an exact line search until the gradient is small,
// then lambda <- gamma and sigma grows. gamma is dual feasible but for sum_i y_i gamma_i = 0: the heavier side is scaled
// down, and the duality gap follows, which ends the fit.
//
// Yan & Li (Optimization Methods and Software 35, 2020) have this for the plain hinge without a bias.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <vector>

#include "outcome.hpp"

namespace abstain {

using Point = std::vector<double>;  // w and, last, b

// linear_block.hpp says what these are.
class LinearSums {
  public:
    using Sides = std::array<double, 2>;  // of the rows with y = -1 and with y = +1

    virtual ~LinearSums() = default;
    virtual Index features() const = 0;
    virtual Index at_once() const { return 1; }  // step lengths whose slopes cost as much as one
    virtual void score(const Point& point) = 0;
    virtual void along(const Point& direction) = 0;
    virtual void move(double step) = 0;
    virtual std::vector<double> slopes(double sigma, const std::vector<double>& steps) = 0;
    virtual std::vector<double> gradient(double sigma, bool afresh) = 0;
    virtual Index between() = 0;
    virtual std::vector<double> hessian(Index most, bool all) = 0;  // estimated from about `most` rows if there are more
    virtual Point hessian_times(const Point& direction) = 0;
    virtual Point hessian_diagonal(bool all) = 0;
    virtual void accept() = 0;
    virtual double shift() = 0;
    virtual double loss() = 0;
    virtual double dual(Sides scale) = 0;
};

// A factor of a symmetric matrix.
class Factor {
  public:
    virtual ~Factor() = default;
    virtual bool make(std::vector<double> H) = 0;     // false if H is not positive definite
    virtual void solve(std::vector<double>& v) = 0;  // with the last H, in place
};

struct NewtonSettings {
    double tol;         // relative duality gap
    Index max_iter;     // Newton steps
    bool polish;        // whether to go on below tol while one of three penalties halves the gap: to about the last digits
    Index most_formed;  // features up to which the Hessian is formed
    Index most_rows;    // from which it is summed, or estimated if there are more
    Factor* large;      // for Hessians that are too large for the one here; or null
    std::function<bool(Index, double)> ends;  // asked before each step, with the steps so far and the gap
    std::function<bool()> expired;            // whether the time is over
};

struct NewtonSolution {
    Point point;
    LinearSums::Sides scale{};  // the factors on gamma of the two sides that make it feasible
    Status status = Status::converged;
    Index steps = 0;
    double gap = std::numeric_limits<double>::infinity();  // relative, by the solver's own sums
    double sigma = 0;                                      // the last penalty, for a warm start
};

NewtonSolution newton(LinearSums& sums, Point start, double sigma, const NewtonSettings& settings);

}  // namespace abstain
