// A step over the rows between breakpoints alone, where coordinate descent would take thousands of passes. With
// beta_i = y_i gamma_i and p_i = y_i t_i - x_i . w - b the dual over these rows is quadratic between their breakpoints:
//
//   max_z  sum_i p_i z_i - 1/2 |sum_i z_i x_i|^2 - s/2 (sum_i z_i)^2        beta_i + z_i between two breakpoints
//
// Conjugate gradients with sum_i z_i = 0 from z = 0, until some rows have left their piece. These stop at its ends, and the step
// is halved while that is better. Every such step raises the dual; epochs of coordinate descent follow it, which let rows on
// breakpoints move again. More & Toraldo (SIAM Journal on Optimization 1, 1991) have this after projected gradients.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "linear/linear_policy.hpp"
#include "linear/row_visits.hpp"

namespace abstain {

template <class Row> class Face {
  public:
    struct Member {
        Index row;
        double down, up;  // how far beta may fall and rise
        double pull;      // p
    };
    std::vector<Member> members;
    std::vector<double> step, sum;  // z, and the sum of z_i x_i
    double excess = 0, gain = 0;    // the sum of z_i, and what the dual gains
    double read = 0;                // entries of rows

    // The best step found from `members`, whose gain is 0 if there is none.
    void search(const Row& X, double stretch) {
        gain = 0, read = 0;
        if (members.size() < 2) return;
        descend(X);
        const std::vector<double> whole = step;
        std::vector<double> cut(step.size()), total(sum.size());
        for (double share = 1; share > linear_policy::least_share; share /= 2) {
            double part = 0, change = 0;
            for (std::size_t k = 0; k < members.size(); ++k) {
                cut[k] = std::clamp(share * whole[k], -members[k].down, members[k].up);
                part += members[k].pull * cut[k];
                change += cut[k];
            }
            add(X, cut, total);
            const double value = part - 0.5 * squared(total) - 0.5 * stretch * change * change;
            if (!(value > gain)) {
                if (gain > 0) break;
                continue;
            }
            gain = value, excess = change;
            std::swap(step, cut), std::swap(sum, total);
        }
    }

  private:
    std::vector<double> rest_, along_, turn_, moved_;

    static double squared(const std::vector<double>& v) { return std::inner_product(v.begin(), v.end(), v.begin(), 0.0); }

    void add(const Row& X, const std::vector<double>& factor, std::vector<double>& out) {
        out.assign(X.features, 0.0);
        for (std::size_t k = 0; k < members.size(); ++k) {
            if (factor[k] == 0) continue;
            add_to<1>(X, members[k].row, &factor[k], out.data());
            read += static_cast<double>(entries(X, members[k].row));
        }
    }

    static void centre(std::vector<double>& v) {
        const double mean = std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
        for (double& each : v) each -= mean;
    }

    void descend(const Row& X) {
        const std::size_t n = members.size();
        const auto allowed = static_cast<std::size_t>(linear_policy::leaving * static_cast<double>(n));
        rest_.resize(n), turn_.resize(n), step.assign(n, 0.0), sum.assign(X.features, 0.0);
        for (std::size_t k = 0; k < n; ++k) rest_[k] = members[k].pull;
        centre(rest_);
        along_ = rest_;
        double rho = squared(rest_);
        const double first = rho;
        for (int turns = 0; turns < linear_policy::face_turns && rho > linear_policy::face_accuracy * first; ++turns) {
            add(X, along_, moved_);
            const double bend = squared(moved_);
            double widest = 0;
            for (std::size_t k = 0; k < n; ++k) {
                const double room = along_[k] > 0 ? members[k].up : members[k].down;
                widest = std::max(widest, room / std::max(std::abs(along_[k]), 1e-300));
            }
            const double rate = std::min(rho / std::max(bend, 1e-300), widest);  // no further than all ends
            std::size_t left = 0;
            for (std::size_t k = 0; k < n; ++k) {
                step[k] += rate * along_[k];
                left += step[k] < -members[k].down || step[k] > members[k].up;
            }
            if (left > allowed || rate == widest) break;
            for (std::size_t k = 0; k < n; ++k) times<1>(X, members[k].row, moved_.data(), &turn_[k]);
            centre(turn_);
            for (std::size_t k = 0; k < n; ++k) rest_[k] -= rate * turn_[k], read += static_cast<double>(entries(X, members[k].row));
            const double next = squared(rest_);
            for (std::size_t k = 0; k < n; ++k) along_[k] = rest_[k] + next / rho * along_[k];
            rho = next;
        }
    }
};

}  // namespace abstain
