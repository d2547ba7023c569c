#include "linear/linear_descent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "aligned.hpp"
#include "elementary.hpp"
#include "linear/linear_face.hpp"
#include "linear/linear_policy.hpp"

namespace abstain {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// L problems at most. Numbers of a row, or of a column, lie side by side for all of them; those of a problem that has ended, or
// that there is not, stay as they are.
template <class Row, int L> class Run {
    using V = std::array<double, L>;

  public:
    Run(const Row& X, std::span<const Problem> problems, const double* gamma, const double* bias)
        : X_(X), n_(X.rows), pieces_(problems[0].pieces()), found_(problems.size()), rows_(n_) {
        for (auto* each : {&gamma_, &margin_, &sign_}) each->assign(n_ * L, 0.0);
        for (auto* each : {&slope_, &edge_}) each->assign(n_ * pieces_ * L, 0.0);
        w_.assign(X.features * L, 0.0);
        V squares{}, counted{};
        for (Index i = 0; i < n_; ++i) {
            for (Index k = 0; k < entries(X, i); ++k) rows_[i].squared += entry(X, i, k).value * entry(X, i, k).value;
            V first{};
            for (int l = 0; l < std::ssize(problems); ++l) {
                const Problem& problem = problems[l];
                sign_[i * L + l] = problem.sign[i];
                for (int k = 0; k < pieces_; ++k)
                    slope_[at(i, k) + l] = problem.slope(i, k), edge_[at(i, k) + l] = problem.breakpoint(i, k + 1);
                if (!(top(i)[l] > 0)) continue;
                squares[l] += rows_[i].squared, counted[l] += 1, rows_[i].counts = true;
                first[l] = std::clamp(gamma[l * n_ + i], 0.0, top(i)[l]);
            }
            if (!rows_[i].counts) continue;
            all_ += entries(X, i);
            for (int l = 0; l < L; ++l) {
                gamma_[i * L + l] = first[l];
                first[l] *= sign_[i * L + l], excess_[l] += first[l];
            }
            if (first != V{}) add_to<L>(X, i, first.data(), w_.data());
        }
        stretch_.fill(1.0);
        for (int l = 0; l < std::ssize(problems); ++l) {
            bias_[l] = bias[l], live_[l] = 1, counted_[l] = std::max(1.0, counted[l]), last_[l] = 1;
            const double mean = squares[l] / counted[l];
            if (mean > 0 && std::isfinite(mean)) stretch_[l] = linear_policy::bias_share * mean;
        }
    }

    std::vector<Descent> run(const DescentSettings& settings, Watch& watch) {
        const double most = settings.passes * static_cast<double>(all_), tol = settings.tol;
        const double last_epoch = std::min(static_cast<double>(settings.most_epochs), linear_policy::epochs_per_pass * settings.passes);
        least_stretch_ = tol / 16;
        Index look = linear_policy::first_look;
        for (; static_cast<double>(epochs_) < last_epoch && read_ < most; ++epochs_) {
            if (epochs_ == look) {
                settle(), end(tol);
                look = following(tol, settings.patience);
                end(tol);
                if (live_ == V{}) return std::move(found_);
                for (int l = 0; l < L; ++l)
                    if (live_[l] != 0 && slow_[l] && epochs_ >= linear_policy::first_face[L > 1]) {
                        face(l);
                        look = std::min(look, epochs_ + linear_policy::face_epochs[L > 1]);
                    }
            }
            watch.iterations = epochs_;
            watch.violation = *std::max_element(last_.begin(), last_.end());
            watch.look();
            if (watch.expired()) break;
            epoch();
        }
        settle(), end(infinity);
        return std::move(found_);
    }

  private:
    struct Visited {
        double squared = 0;
        bool counts = false;             // in one of the problems
        std::uint8_t nap = 0, left = 0;  // epochs to leave it out, in all and from now on
    };

    Index at(Index i, int k) const { return (i * pieces_ + k) * L; }
    const double* top(Index i) const { return edge_.data() + at(i, pieces_ - 1); }

    // Keeps what the problems that reach `tol`, or never will, have come to.
    void end(double tol) {
        for (int l = 0; l < std::ssize(found_); ++l) {
            if (live_[l] == 0 || !(gap_[l] <= tol || tol == infinity || hopeless_[l] == 2)) continue;
            live_[l] = 0, last_[l] = 0;
            Descent& found = found_[l];
            const double factor = factor_[l];
            found.gap = gap_[l], found.epochs = epochs_;
            for (Index i = 0; i < n_; ++i) found.gamma.push_back(gamma_[i * L + l]);
            for (Index j = 0; j < X_.features; ++j) found.point.push_back(factor * w_[j * L + l]);
            found.point.push_back(factor * bias_[l]);
        }
    }

    // The epoch where a straight line through the logarithms of the last two gaps meets the tolerance; the first of all problems.
    Index following(double tol, double patience) {
        const Index soon = epochs_ + 2, late = epochs_ + 2 + epochs_ / 3;
        Index look = late;
        const double live = std::accumulate(live_.begin(), live_.end(), 0.0);
        const double longest = patience * live / (L > 1 ? linear_policy::pass_of_eight : 1);
        for (int l = 0; l < L; ++l) {
            if (live_[l] == 0) continue;
            const double gap = std::min(gap_[l], 1e100), rate = elementary::log(last_[l] / gap);
            const double steps = rate > 0 ? elementary::log(gap / tol) / rate * static_cast<double>(epochs_ - before_) : infinity;
            if (steps < static_cast<double>(late - epochs_)) look = std::min(look, std::max(soon, epochs_ + 1 + static_cast<Index>(steps)));
            last_[l] = gap, hopeless_[l] = steps > longest && epochs_ <= linear_policy::decided ? hopeless_[l] + 1 : 0;
            slow_[l] = !(steps <= static_cast<double>(linear_policy::face_epochs[L > 1]));
        }
        before_ = epochs_;
        return look;
    }

    RowBeside row(Index i) {
        return {&sign_[i * L], &slope_[at(i, 0)], &edge_[at(i, 0)], &gamma_[i * L], rows_[i].squared, pieces_};
    }
    Beside all() { return {bias_.data(), excess_.data(), stretch_.data(), live_.data()}; }

    void epoch() {
        for (int l = 0; l < L; ++l) bias_[l] += live_[l] * stretch_[l] * excess_[l];
        order_.clear();
        for (Index i = 0; i < n_; ++i) {
            if (rows_[i].left > 0) --rows_[i].left;
            else if (rows_[i].counts) order_.push_back(i);
        }
        const Index count = static_cast<Index>(order_.size());
        for (Index k = count; k > 1; --k) std::swap(order_[k - 1], order_[random_.below(k)]);
        for (Index k = 0; k < count; ++k) {
            if (k + 2 < count) fetch(X_, order_[k + 2]);
            visit(order_[k]);
        }
    }

    void visit(Index i) {
        alignas(64) double score[L], change[L];
        times<L>(X_, i, w_.data(), score);
        read_ += static_cast<double>(entries(X_, i));
        Visited& visited = rows_[i];
        if (lanes_.respond(row(i), all(), score, linear_policy::resting, change)) {
            visited.nap = 0;
            add_to<L>(X_, i, change, w_.data());
        } else {
            visited.left = visited.nap = static_cast<std::uint8_t>(std::min<int>(linear_policy::longest_nap, 2 * visited.nap + 1));
        }
    }

    // Calls visit(room below, room above, slope) for a multiplier strictly between two breakpoints.
    template <class Visit> void between(Index i, int l, Visit&& visit) const {
        const double gamma = gamma_[i * L + l], slack = linear_policy::resting * top(i)[l];
        double first = 0;
        for (int k = 0; k < pieces_; ++k) {
            const double last = edge_[at(i, k) + l];
            if (gamma > first + slack && gamma < last - slack) visit(gamma - first, last - gamma, slope_[at(i, k) + l]);
            first = last;
        }
    }

    // Shares out what is missing in r = 0 among the rows between breakpoints, in proportion to their room; then all margins.
    void settle() {
        V total{};
        part_.resize(n_ * L);
        for (Index i = 0; i < n_; ++i) lanes_.row_room(row(i), all(), linear_policy::resting, &part_[i * L], total.data());
        V share{};
        for (int l = 0; l < L; ++l)
            if (live_[l] != 0 && std::abs(excess_[l]) < total[l]) share[l] = excess_[l] / total[l];
        if (share != V{}) {
            for (Index i = 0; i < n_; ++i) {
                alignas(64) double change[L];
                bool any = false;
                for (int l = 0; l < L; ++l) {
                    change[l] = -share[l] * part_[i * L + l];
                    gamma_[i * L + l] += sign_[i * L + l] * change[l];
                    any |= change[l] != 0;
                }
                if (any) add_to<L>(X_, i, change, w_.data());
            }
        }
        measure();
    }

    // The primal values at (w, b) times factors.
    V primal(const V& factor) const {
        V sum;
        for (int l = 0; l < L; ++l) sum[l] = 0.5 * factor[l] * factor[l] * length_[l];
        lanes_.loss_sums(slope_.data(), edge_.data(), pieces_, margin_.data(), factor.data(), n_, sum.data());
        return sum;
    }

    // All margins, the duality gaps, and the factors of the points that they are of.
    void measure() {
        V gaps{}, value;
        length_ = excess_ = V{};
        for (Index j = 0; j < X_.features; ++j)
            for (int l = 0; l < L; ++l) length_[l] += w_[j * L + l] * w_[j * L + l];
        for (Index i = 0; i < n_; ++i) {
            alignas(64) double score[L];
            times<L>(X_, i, w_.data(), score);
            lanes_.row_gap(row(i), all(), score, &margin_[i * L], &part_[i * L], gaps.data());
        }
        read_ += static_cast<double>(all_);
        for (Index i = 0; i < n_; ++i)
            for (int l = 0; l < L; ++l)
                if (live_[l] * part_[i * L + l] * counted_[l] > linear_policy::waking * gaps[l]) rows_[i].nap = rows_[i].left = 0;
        factor_.fill(1.0);
        V best = primal(factor_), dual, tried = live_;
        for (int l = 0; l < L; ++l) dual[l] = best[l] - gaps[l] + bias_[l] * excess_[l];
        for (double more = least_stretch_; more < linear_policy::most_stretch && tried != V{}; more *= 2) {
            value.fill(1 + more);
            value = primal(value);
            for (int l = 0; l < L; ++l) {
                if (tried[l] != 0 && value[l] < best[l]) best[l] = value[l], factor_[l] = 1 + more;
                else tried[l] = 0;
            }
        }
        for (int l = 0; l < L; ++l) {
            // below 0 while the multipliers of the classes differ in their sums
            const double gap = std::abs(best[l] - dual[l]) / best[l];
            gap_[l] = std::isfinite(gap) ? gap : infinity;
        }
    }

    // A step over the rows of a problem between breakpoints, at margins that are known.
    void face(int l) {
        face_.members.clear();
        for (Index i = 0; i < n_; ++i)
            between(i, l, [&](double below, double above, double slope) {
                const double y = sign_[i * L + l];
                face_.members.push_back({i, y > 0 ? below : above, y > 0 ? above : below, y * (slope - margin_[i * L + l])});
            });
        face_.search(X_, stretch_[l]);
        read_ += face_.read / L;
        if (!(face_.gain > 0)) return;
        for (std::size_t m = 0; m < face_.members.size(); ++m) {
            const Index i = face_.members[m].row;
            gamma_[i * L + l] = std::clamp(gamma_[i * L + l] + sign_[i * L + l] * face_.step[m], 0.0, top(i)[l]);
        }
        for (Index j = 0; j < X_.features; ++j) w_[j * L + l] += face_.sum[j];
        excess_[l] += face_.excess;
        bias_[l] += stretch_[l] * face_.excess;
    }

    const Row& X_;
    const Index n_;
    const int pieces_;
    std::vector<Descent> found_;
    Aligned<double> gamma_, margin_, sign_, slope_, edge_, w_, part_;  // part_: the rows' parts of the gaps
    std::vector<Visited> rows_;
    Face<Row> face_;
    std::vector<Index> order_;
    RandomOrder random_;
    Index all_ = 0, epochs_ = 0, before_ = 0;  // all_: entries of the rows that count
    double read_ = 0, least_stretch_ = 0;
    const DescentLanes& lanes_ = L == 1 ? current_lanes().descent_of_one : current_lanes().descent_of_eight;
    alignas(64) V bias_{}, excess_{}, stretch_{}, live_{}, counted_{};  // live_: 1 until a problem has ended
    std::array<bool, L> slow_{};                            // whether it would take many epochs more
    std::array<int, L> hopeless_{};                         // looks in a row by which it would take too many
    V length_{}, gap_{}, factor_{}, last_{};                // |w|^2, the gap and the factor now, the last gap
};

}  // namespace

std::vector<Descent> descend(const LinearRows& rows, const std::vector<Problem>& problems, const double* gamma, const double* bias,
                             const DescentSettings& settings, Watch& watch) {
    constexpr Index together = 8;
    const Index count = static_cast<Index>(problems.size()), groups = (count + together - 1) / together;
    std::vector<Descent> found;
    for (Index group = 0; group < groups; ++group) {
        const Index first = group * count / groups, last = (group + 1) * count / groups;
        const std::span<const Problem> some(problems.data() + first, problems.data() + last);
        std::vector<Descent> part = std::visit(
            [&](const auto& X) {
                using Row = std::decay_t<decltype(X)>;
                const double* start = gamma + first * X.rows;
                if (some.size() == 1) return Run<Row, 1>(X, some, start, bias + first).run(settings, watch);
                return Run<Row, together>(X, some, start, bias + first).run(settings, watch);
            },
            rows);
        for (Descent& each : part) found.push_back(std::move(each));
    }
    return found;
}

}  // namespace abstain
