// The training problem of FR02 (equation 23) without its slacks, divided by C, in coordinates made for the optimiser:
//
//   min  F(u, b, eps) / C = 1/2 sum_k lambda_k u_k^2 + sum_i phi(m_i, eps)        m_i = y_i (z_i . u + b),  0 <= eps <= 1
//
// with phi(m, eps) = h''(max(1 - m, xi0(eps)), eps). The derivative by eps takes xi0 as constant (envelope theorem).
#pragma once

#include <cstdint>
#include <vector>

#include "aligned.hpp"
#include "embedded/loss.hpp"
#include "index.hpp"

namespace abstain {

struct EmbeddedRows {
    const double* z;          // row-major, n x d
    const std::int8_t* sign;  // y_i
    const double* penalty;    // lambda_k >= 0
    Index rows, features;
};

using Point = std::vector<double>;  // u, then b, then eps

class EmbeddedObjective {
  public:
    EmbeddedObjective(const EmbeddedRows& rows, bool fixed_eps);

    Index size() const { return features_ + 2; }
    Index rows() const { return rows_.rows; }
    bool fixed_eps() const { return fixed_eps_; }

    // Puts rows of like margin at `point` side by side: whole blocks then rest at xi0 near it, and cost little.
    void arrange(const Point& point);

    // Weights of the rows in the sum, all 1 unless changed; in the order of `arrange`.
    double* weights() { return weight_.data(); }

    // F / C at a point, and its gradient; the one by eps is 0 where eps is fixed.
    double operator()(const EmbeddedLoss& loss, const Point& point, Point& gradient);

    // y_i (z_i . u + b), of the i-th row in the order of `arrange`.
    double margin(Index i, const Point& point) const;

  private:
    void pack(const std::vector<Index>& order);

    EmbeddedRows rows_;
    Index features_, blocks_;
    bool fixed_eps_;
    Aligned<double> packed_, weight_, scratch_;  // y_i (z_i, 1) in blocks of rows; 1 for a row, 0 for what fills the last block
    std::vector<double> penalty_;
    double xi0_ = 0;  // of the last point, a guess for the next
};

}  // namespace abstain
