#include "linear/linear_interior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aligned.hpp"
#include "linear/linear_policy.hpp"
#include "linear/row_sums.hpp"
#include "linear/row_visits.hpp"
#include "upper_factor.hpp"

namespace abstain {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Numbers = Aligned<double>;

// The sum of factor_i (x_i, 1)(x_i, 1)', its upper half: sparse rows entry by entry, dense ones by panels.
template <class Row> void add_outer(const Row& X, const Numbers& factor, UpperFactor& H) {
    const Index stride = H.stride();
    double* const values = H.values();
    if constexpr (compressed<Row>) {
        for (Index i = 0; i < X.rows; ++i) {
            if (factor[i] == 0) continue;
            const auto *row = X.values + X.starts[i];
            const std::int32_t* columns = X.columns + X.starts[i];
            for (Index e = 0; e < entries(X, i); ++e) {
                const double value = factor[i] * static_cast<double>(row[e]);
                double* const line = values + columns[e] * stride;
                for (Index f = e; f < entries(X, i); ++f) line[columns[f]] += value * static_cast<double>(row[f]);
                line[X.features] += value;
            }
            values[X.features * (stride + 1)] += factor[i];
        }
    } else {
        const Index group = std::clamp<Index>(linear_policy::panel / stride, 16, X.rows + 15);
        Numbers panel(group * stride, 0.0);
        for (Index first = 0; first < X.rows; first += group) {
            const Index count = std::min(group, X.rows - first);
            for (Index r = 0; r < count; ++r) {
                double* const out = panel.data() + r * stride;
                const double root = std::sqrt(factor[first + r]);
                pack_row(X, first + r, out);
                for (Index j = 0; j < X.features; ++j) out[j] *= root;
                out[X.features] = root;
            }
            current_lanes().outer(panel.data(), count, stride, 0, rounded_up(X.features + 1, 4), values);
        }
    }
}

template <class Row> class Run {
  public:
    Run(const Row& X, const Problem& problem)
        : X_(X), problem_(problem), n_(X.rows), pieces_(problem.pieces()), factor_(X.features + 1), every_(all_rows(n_)) {
        const Index all = n_ * pieces_;
        for (auto* each : {&s_, &p_, &q_, &t_, &u_, &by_s_, &by_h_, &rate_, &a_, &c_, &base_}) each->resize(all);
        for (auto* each : {&now_, &trial_}) each->resize(all, X.features, n_);
        for (auto* each : {&gamma_, &margin_, &diagonal_, &coef_}) each->assign(n_, 0.0);
        point_.assign(X.features + 1, 0.0);
        double scale = 0;
        for (Index i = 0; i < n_; ++i)
            for (int k = 0; k < pieces_; ++k) {
                const Index at = i * pieces_ + k;
                t_[at] = problem.slope(i, k), u_[at] = problem.breakpoint(i, k + 1) - problem.breakpoint(i, k);
                total_ += u_[at], scale = std::max(scale, std::abs(t_[at]));
            }
        if (!(scale > 0)) scale = 1;
        for (Index at = 0; at < all; ++at) s_[at] = 0.5, p_[at] = scale + std::max(-t_[at], 0.0), q_[at] = scale + std::max(t_[at], 0.0);
    }

    Descent run(double tol, Index most_steps, Watch& watch) {
        Descent found{{}, {}, infinity, 0};
        for (;; ++found.epochs) {
            prepare();
            if (found.epochs == most_steps || watch.expired()) tol = infinity;
            if (measured(tol) || stuck_) {
                found.gap = gap(coef_);
                break;
            }
            watch.iterations = found.epochs;
            watch.violation = gap_;
            watch.look();
            step();
        }
        for (Index i = 0; i < n_; ++i) found.gamma.push_back(problem_.sign[i] * coef_[i]);
        found.point = point_;
        return found;
    }

  private:
    // A direction, and how far the shares and the rest may go along it.
    struct Direction {
        Numbers s, p, q, margin;
        std::vector<double> point;
        double shares, others;

        void resize(Index all, Index features, Index rows) {
            for (auto* each : {&s, &p, &q}) each->resize(all);
            point.resize(features + 1), margin.resize(rows);
        }
        double reach() const { return std::min(shares, 1.0) + std::min(others, 1.0); }
    };

    // What depends on the point alone.
    void prepare() {
        double products = 0;
        primal_ = dual_ = 0;
        for (Index i = 0; i < n_; ++i) {
            double gamma = 0, diagonal = 0;
            for (int k = 0; k < pieces_; ++k) {
                const Index at = i * pieces_ + k;
                const double s = s_[at], h = 1 - s, u = u_[at], above = t_[at] - margin_[i];
                by_s_[at] = 1 / s, by_h_[at] = 1 / h;
                products += u * (s * p_[at] + h * q_[at]);
                rate_[at] = u > 0 ? 1 / (p_[at] * by_s_[at] + q_[at] * by_h_[at]) : 0;
                gamma += u * s, diagonal += u * rate_[at];
                dual_ += u * s * t_[at], primal_ += u * std::max(above, 0.0);
            }
            gamma_[i] = gamma, diagonal_[i] = diagonal;
        }
        mu_ = products / (2 * total_);
        const double half = 0.5 * squared(point_);
        primal_ += half, dual_ -= half;
    }

    double squared(const std::vector<double>& v) const { return lanes<double>().dot(v.data(), v.data(), X_.features); }

    // Whether the gap is at most `tol`: exactly only if it may be. Leaves the coefficients that it is of.
    bool measured(double tol) {
        gap_ = std::abs(primal_ - dual_) / primal_;
        if (gap_ > linear_policy::near_gap * tol) return false;
        double sides[2] = {};
        for (Index i = 0; i < n_; ++i) sides[problem_.sign[i] > 0] += gamma_[i];
        const double lighter = std::min(sides[0], sides[1]);
        for (Index i = 0; i < n_; ++i) coef_[i] = problem_.sign[i] * gamma_[i] * (lighter / sides[problem_.sign[i] > 0]);
        gap_ = gap(coef_);
        return gap_ <= tol;
    }

    double gap(const Numbers& coef) {
        double dual = 0;
        for (Index i = 0; i < n_; ++i) dual += problem_.phi(i, std::abs(coef[i]));
        sum_of(coef);
        const double found = (primal_ - dual + 0.5 * squared(sum_)) / primal_;
        return std::isfinite(found) ? std::max(0.0, found) : infinity;
    }

    void sum_of(const Numbers& coef) {
        sum_.assign(X_.features + 1, 0.0);
        if constexpr (compressed<Row>) {
            for (Index i = 0; i < n_; ++i) add_to<1>(X_, i, &coef[i], sum_.data());
        } else {
            listed_.assign(coef.begin(), coef.end());
            sum_rows(X_, every_, listed_, sum_.data());
        }
    }

    // Towards the products a_ and c_.
    void solve(Direction& to) {
        double excess = 0;
        for (Index i = 0; i < n_; ++i) {
            double pull = gamma_[i];
            for (Index at = i * pieces_; at < (i + 1) * pieces_; ++at) {
                to.p[at] = a_[at] * by_s_[at], to.q[at] = c_[at] * by_h_[at];
                base_[at] = rate_[at] * (t_[at] - margin_[i] + to.p[at] - to.q[at]);
                pull += u_[at] * base_[at];
            }
            coef_[i] = problem_.sign[i] * pull, excess += coef_[i];
        }
        sum_of(coef_);
        for (Index j = 0; j < X_.features; ++j) to.point[j] = sum_[j] - point_[j];
        to.point[X_.features] = excess;
        factor_.solve(to.point.data());
        if constexpr (compressed<Row>) {
            for (Index i = 0; i < n_; ++i) times<1>(X_, i, to.point.data(), &to.margin[i]);
        } else {
            times_rows(X_, 0, n_, to.point.data(), to.margin.data());
        }
        double shares = 0, others = 0;
        for (Index i = 0; i < n_; ++i) {
            const double change = to.margin[i] = problem_.sign[i] * (to.margin[i] + to.point[X_.features]);
            for (Index at = i * pieces_; at < (i + 1) * pieces_; ++at) {
                const double ds = base_[at] - rate_[at] * change, low = ds * by_s_[at], high = ds * by_h_[at];
                to.s[at] = ds;
                to.p[at] -= p_[at] + p_[at] * low, to.q[at] -= q_[at] - q_[at] * high;
                if (!(u_[at] > 0)) to.p[at] = to.q[at] = 0;
                shares = std::max(shares, std::max(-low, high));
                others = std::max(others, std::max(-to.p[at] / p_[at], -to.q[at] / q_[at]));
            }
        }
        to.shares = 1 / shares, to.others = 1 / others;
    }

    void step() {
        const Index all = n_ * pieces_;
        std::fill_n(factor_.values(), factor_.stride() * factor_.stride(), 0.0);
        for (Index j = 0; j < X_.features; ++j) factor_.values()[j * (factor_.stride() + 1)] = 1;
        add_outer(X_, diagonal_, factor_);
        stuck_ = !factor_.make();
        if (stuck_) return;
        std::fill(a_.begin(), a_.end(), 0.0), std::fill(c_.begin(), c_.end(), 0.0);
        solve(now_);
        const double shares = std::min(1.0, now_.shares), others = std::min(1.0, now_.others);
        double products = 0;
        for (Index at = 0; at < all; ++at)
            products += u_[at] * ((s_[at] + shares * now_.s[at]) * (p_[at] + others * now_.p[at]) +
                                  (1 - s_[at] - shares * now_.s[at]) * (q_[at] + others * now_.q[at]));
        const double share = products / (2 * total_ * mu_), aim = share * share * share * mu_;
        for (Index at = 0; at < all; ++at) a_[at] = aim - now_.s[at] * now_.p[at], c_[at] = aim + now_.s[at] * now_.q[at];
        solve(now_);
        for (int more = 0; more < linear_policy::corrections && std::min(now_.shares, now_.others) < linear_policy::far; ++more) {
            const double s = std::min(1.0, now_.shares + linear_policy::further), o = std::min(1.0, now_.others + linear_policy::further);
            for (Index at = 0; at < all; ++at) {
                const double share_then = s_[at] + s * now_.s[at];
                a_[at] += correction(share_then * (p_[at] + o * now_.p[at]), aim);
                c_[at] += correction((1 - share_then) * (q_[at] + o * now_.q[at]), aim);
            }
            solve(trial_);
            if (!(trial_.reach() > now_.reach() + linear_policy::gained)) break;
            std::swap(now_, trial_);
        }
        move(std::min(1.0, linear_policy::inside * now_.shares), std::min(1.0, linear_policy::inside * now_.others));
    }

    static double correction(double product, double aim) {
        return std::max(std::clamp(product, linear_policy::least_product * aim, linear_policy::most_product * aim) - product,
                        -linear_policy::most_product * aim);
    }

    void move(double shares, double others) {
        double sizes = 0;  // not finite where a weight is so large beside another that products overflow
        for (const Numbers* each : {&now_.s, &now_.p, &now_.q, &now_.margin})
            for (const double change : *each) sizes += std::abs(change);
        for (const double change : now_.point) sizes += std::abs(change);
        stuck_ = !(shares > linear_policy::least_step || others > linear_policy::least_step) || !std::isfinite(sizes);
        if (stuck_) return;
        for (std::size_t at = 0; at < s_.size(); ++at)
            s_[at] += shares * now_.s[at], p_[at] += others * now_.p[at], q_[at] += others * now_.q[at];
        for (std::size_t j = 0; j < point_.size(); ++j) point_[j] += others * now_.point[j];
        for (Index i = 0; i < n_; ++i) margin_[i] += others * now_.margin[i];
    }

    const Row& X_;
    const Problem& problem_;
    const Index n_;
    const int pieces_;
    UpperFactor factor_;
    std::vector<Index> every_;
    Numbers s_, p_, q_, t_, u_, by_s_, by_h_, rate_, a_, c_, base_;  // of all pieces of all rows; base_: ds without dm
    Numbers gamma_, margin_, diagonal_, coef_;                       // of all rows
    std::vector<double> point_, sum_, listed_;
    Direction now_, trial_;
    double total_ = 0, mu_ = 0, primal_ = 0, dual_ = 0, gap_ = infinity;
    bool stuck_ = false;
};

}  // namespace

std::vector<Descent> interior(const LinearRows& rows, const std::vector<Problem>& problems, double tol, Index most_steps, Watch& watch) {
    std::vector<Descent> found;
    std::visit(
        [&](const auto& X) {
            for (const Problem& problem : problems) found.push_back(Run(X, problem).run(tol, most_steps, watch));
        },
        rows);
    return found;
}

}  // namespace abstain
