// A block of rows of the linear machine's augmented Lagrangian, and the sums over its rows that a Newton step needs:
//
//   min_{w, b}  1/2 |w|^2 + sum_i w_i loss_i(m_i),      m_i = y_i (x_i . w + b)
//   gamma_i = argmax over 0 <= g <= top_i of  phi_i(g) - g m_i - (g - lambda_i)^2 / (2 sigma)
//           = the largest of 0 and min(sigma (t_k - m_i) + lambda_i, w_i u_(k+1)) over the knots t_0 > t_1 > ...
//
// (problem.hpp has phi, t and u). The gradient in (w, b) is (w, 0) - sum_i y_i gamma_i (x_i, 1); a row whose gamma lies
// strictly between two breakpoints has its margin within reach of a knot and adds sigma (x_i, 1)(x_i, 1)' to the Hessian.
// gamma is always within its bounds, so it is dual feasible but for sum_i y_i gamma_i = 0.
//
// All sums are over chunks of rows that do not depend on the number of threads, added in order: the same bits for any.
#pragma once

#include <array>
#include <memory>

#include "aligned.hpp"
#include "linear/linear_rows.hpp"
#include "problem.hpp"
#include "thread_pool.hpp"
#include "watch.hpp"

namespace abstain {

class LinearBlock {
  public:
    using Sides = std::array<double, 2>;  // of the rows with y = -1 and with y = +1

    LinearBlock(LinearRows rows, const Problem& problem, std::shared_ptr<ThreadPool> pool);
    LinearBlock(LinearRows rows, const Problem& problem, int threads)
        : LinearBlock(rows, problem, std::make_shared<ThreadPool>(threads)) {}

    Index features() const { return features_; }
    Index size() const { return problem_.size; }

    // `point` and `direction` have features + 1 entries, the last of them for b.
    void score(const double* point, Watch& watch);      // m = y (X w + b)
    void along(const double* direction, Watch& watch);  // q = y (X p + p_b)
    void move(double step);                             // m += step q
    // sum_i -gamma_i(m + step q) q_i for each of the steps, the slope of the objective along q without the regulariser, and
    // then its derivative for each, sigma times the sum of q_i^2 over the rows between breakpoints.
    std::vector<double> slopes(double sigma, const std::vector<double>& steps);
    // gamma at m, and sum_i y_i gamma_i (x_i, 1) over either side, 2 (features + 1) entries; only rows whose gamma has changed
    // are read again, unless `afresh`.
    std::vector<double> gradient(double sigma, bool afresh, Watch& watch);
    // sum of (x_i, 1)(x_i, 1)' over the rows between breakpoints, or over all, symmetric, (features + 1)^2; every `stride`-th
    // such row.
    enum class Of { between, all };
    std::vector<double> hessian(Of of, Index stride, Watch& watch);
    // Adds the same sum over some rows, less that over others.
    void outer(const std::vector<Index>& rows, const std::vector<Index>& less, std::vector<double>& sum, Watch& watch);
    // The same times a direction, without forming it; its diagonal.
    std::vector<double> hessian_times(const double* direction, Watch& watch);
    std::vector<double> hessian_diagonal(Of of, Watch& watch);
    void accept() { lambda_ = gamma_; }  // the multipliers of the next augmented Lagrangian

    Index between() const;              // rows between breakpoints
    const std::vector<std::uint8_t>& flags() const { return between_; }  // 1 for these rows
    double loss() const;                // sum_i w_i loss_i(m_i)
    double shift() const;               // sum_i (gamma_i - lambda_i)^2
    double dual(Sides scale) const;     // sum_i phi_i(scale gamma_i)
    const Aligned<double>& gamma() const { return gamma_; }
    void start(const double* lambda);   // multipliers to begin with
    void attach(LinearRows rows);       // the same rows at another place, for those that are not kept in memory

  private:
    double response(Index i, double margin, double sigma, bool& between) const;
    template <class Work> void chunks(Watch* watch, Work&& work);
    void times(const double* direction, Aligned<double>& out, Watch& watch);
    void add_rows(const std::vector<Index>& which, const std::vector<double>& coef, double* out) const;
    void pack(Index row, double* out) const;
    void add_outer(const std::vector<Index>& chosen, Aligned<double>& H, Watch& watch);  // its upper half, padded

    LinearRows rows_;
    Problem problem_;
    Index features_, chunk_, count_;  // rows of a chunk, chunks
    std::shared_ptr<ThreadPool> pool_;  // one for many blocks
    Aligned<double> margin_, along_, lambda_, gamma_, summed_;  // summed_: the gamma that sums_ contains
    std::vector<std::uint8_t> between_;
    std::vector<double> sums_;  // (chunks, 2, features + 1)
};

}  // namespace abstain
