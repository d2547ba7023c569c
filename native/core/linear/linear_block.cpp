#include "linear/linear_block.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lanes/lanes.hpp"
#include "linear/row_sums.hpp"
#include "policy.hpp"

namespace abstain {

namespace {

Index chunk_of(Index rows, Index features) {
    const Index allowed = std::clamp<Index>(policy::most_sums / (2 * (features + 1)), 1, policy::most_chunks);
    return std::max(policy::least_chunk, (rows + allowed - 1) / allowed);
}

Index features_of(const LinearRows& rows) {
    return std::visit([](const auto& some) { return some.features; }, rows);
}

}  // namespace

LinearBlock::LinearBlock(LinearRows rows, const Problem& problem, std::shared_ptr<ThreadPool> pool)
    : rows_(rows), problem_(problem), features_(features_of(rows)), chunk_(chunk_of(problem.size, features_)),
      count_((problem.size + chunk_ - 1) / chunk_), pool_(std::move(pool)), between_(problem.size, 0),
      sums_(static_cast<std::size_t>(count_ * 2 * (features_ + 1)), 0.0) {
    for (auto* each : {&margin_, &along_, &lambda_, &gamma_, &summed_}) each->assign(problem.size, 0.0);
}

// Chunks in batches, so that an interrupt waits for one batch at most.
template <class Work> void LinearBlock::chunks(Watch* watch, Work&& work) {
    for (Index done = 0; done < count_; done += policy::chunks_between_looks) {
        pool_->run(std::min(policy::chunks_between_looks, count_ - done), [&](Index piece) {
            const Index c = done + piece;
            work(c, c * chunk_, std::min(problem_.size, (c + 1) * chunk_));
        });
        if (watch) watch->look();
    }
}

double LinearBlock::response(Index i, double margin, double sigma, bool& between) const {
    const int pieces = problem_.pieces();
    double gamma = 0;
    between = false;
    for (int k = 0; k < pieces; ++k) {
        const double pull = sigma * (problem_.slope(i, k) - margin) + lambda_[i];
        if (!(pull > gamma)) break;
        const double top = problem_.breakpoint(i, k + 1);
        between = pull < top;
        gamma = between ? pull : top;
        if (between) break;
    }
    return gamma;
}

void LinearBlock::times(const double* direction, Aligned<double>& out, Watch& watch) {
    chunks(&watch, [&](Index, Index first, Index last) {
        std::visit([&](const auto& X) { times_rows(X, first, last, direction, out.data()); }, rows_);
        for (Index i = first; i < last; ++i) out[i] = problem_.sign[i] * (out[i] + direction[features_]);
    });
}

void LinearBlock::score(const double* point, Watch& watch) { times(point, margin_, watch); }

void LinearBlock::along(const double* direction, Watch& watch) { times(direction, along_, watch); }

void LinearBlock::move(double step) {
    chunks(nullptr, [&](Index, Index first, Index last) {
        for (Index i = first; i < last; ++i) margin_[i] += step * along_[i];
    });
}

std::vector<double> LinearBlock::slopes(double sigma, const std::vector<double>& steps) {
    const Index width = static_cast<Index>(steps.size());
    std::vector<double> partial(static_cast<std::size_t>(count_ * 2 * width), 0.0), total(2 * steps.size(), 0.0);
    chunks(nullptr, [&](Index c, Index first, Index last) {
        for (Index s = 0; s < width; ++s) {
            double slope = 0, rate = 0;
            bool between;
            for (Index i = first; i < last; ++i) {
                const double q = along_[i];
                slope -= response(i, margin_[i] + steps[s] * q, sigma, between) * q;
                rate += between ? q * q : 0.0;
            }
            partial[c * 2 * width + s] = slope;
            partial[c * 2 * width + width + s] = sigma * rate;
        }
    });
    for (Index c = 0; c < count_; ++c)
        for (Index s = 0; s < 2 * width; ++s) total[s] += partial[c * 2 * width + s];
    return total;
}

std::vector<double> LinearBlock::gradient(double sigma, bool afresh, Watch& watch) {
    const Index width = features_ + 1;
    if (afresh) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(summed_.begin(), summed_.end(), 0.0);
    }
    chunks(&watch, [&](Index c, Index first, Index last) {
        std::vector<Index> which[2];
        std::vector<double> coef[2];
        bool between;
        for (Index i = first; i < last; ++i) {
            gamma_[i] = response(i, margin_[i], sigma, between);
            between_[i] = between;
            if (gamma_[i] == summed_[i]) continue;
            const int side = problem_.sign[i] > 0;
            which[side].push_back(i);
            coef[side].push_back(problem_.sign[i] * (gamma_[i] - summed_[i]));
            summed_[i] = gamma_[i];
        }
        for (int side = 0; side < 2; ++side) {
            double* out = sums_.data() + (2 * c + side) * width;
            add_rows(which[side], coef[side], out);
            for (const double each : coef[side]) out[features_] += each;
        }
    });
    std::vector<double> total(static_cast<std::size_t>(2 * width), 0.0);
    for (Index c = 0; c < count_; ++c)
        for (Index j = 0; j < 2 * width; ++j) total[j] += sums_[c * 2 * width + j];
    return total;
}

std::vector<double> LinearBlock::hessian(Of of, Index stride, Watch& watch) {
    std::vector<Index> chosen;
    Index seen = 0;
    for (Index i = 0; i < problem_.size; ++i)
        if ((of == Of::all || between_[i]) && seen++ % stride == 0) chosen.push_back(i);
    std::vector<double> found(static_cast<std::size_t>((features_ + 1) * (features_ + 1)));
    outer(chosen, {}, found, watch);
    return found;
}

void LinearBlock::outer(const std::vector<Index>& rows, const std::vector<Index>& less, std::vector<double>& sum, Watch& watch) {
    const Index width = features_ + 1, padded = rounded_up(width, 16), tile = 16;
    if (std::visit([&](const auto& X) { return outer_rows(X, rows, less, sum.data()); }, rows_)) {
        watch.look();
        return;
    }
    Aligned<double> H(static_cast<std::size_t>(padded * padded));
    std::fill(H.begin(), H.end(), 0.0);
    if (!less.empty()) {
        add_outer(less, H, watch);
        for (double& each : H) each = -each;
    }
    add_outer(rows, H, watch);
    for (Index i = 0; i < width; i += tile)  // tiles stay in the processor's cache, whole columns do not
        for (Index j = i; j < width; j += tile)
            for (Index k = i; k < std::min(width, i + tile); ++k)
                for (Index l = std::max(j, k); l < std::min(width, j + tile); ++l)
                    sum[l * width + k] = sum[k * width + l] += H[k * padded + l];
}

void LinearBlock::add_outer(const std::vector<Index>& chosen, Aligned<double>& H, Watch& watch) {
    const Index width = features_ + 1, padded = rounded_up(width, 16), strip = policy::strip;
    const Index all = static_cast<Index>(chosen.size()), part = 16;
    const Index rows = std::clamp<Index>(policy::panel_bytes / (8 * padded), 32, 1024), group = std::min(all, policy::panels * rows);
    Aligned<double> panel(static_cast<std::size_t>(group * padded));
    for (Index first = 0; first < all; first += group) {
        const Index here = std::min(group, all - first);
        pool_->run((here + part - 1) / part, [&](Index piece) {
            for (Index r = piece * part; r < std::min(here, (piece + 1) * part); ++r) {
                double* out = panel.data() + r * padded;
                pack(chosen[first + r], out);
                out[features_] = 1.0;
                std::fill(out + width, out + padded, 0.0);
            }
        });
        pool_->run((padded + strip - 1) / strip, [&](Index piece) {
            for (Index at = 0; at < here; at += rows)
                current_lanes().outer(panel.data() + at * padded, std::min(rows, here - at), padded, piece * strip,
                                     std::min(padded, (piece + 1) * strip), H.data());
        });
        watch.look();
    }
}

std::vector<double> LinearBlock::hessian_times(const double* direction, Watch& watch) {
    const Index width = features_ + 1;
    std::vector<double> partial(static_cast<std::size_t>(count_ * width), 0.0), total(width, 0.0);
    chunks(&watch, [&](Index c, Index first, Index last) {
        std::vector<Index> which;
        std::vector<double> coef;
        for (Index i = first; i < last; ++i)
            if (between_[i]) which.push_back(i);
        for (const Index i : which)
            coef.push_back(direction[features_] + std::visit([&](const auto& X) { return dot_row(X, i, direction); }, rows_));
        double* out = partial.data() + c * width;
        add_rows(which, coef, out);
        for (const double each : coef) out[features_] += each;
    });
    for (Index c = 0; c < count_; ++c)
        for (Index j = 0; j < width; ++j) total[j] += partial[c * width + j];
    return total;
}

std::vector<double> LinearBlock::hessian_diagonal(Of of, Watch& watch) {
    const Index width = features_ + 1;
    std::vector<double> partial(static_cast<std::size_t>(count_ * width), 0.0), total(width, 0.0);
    chunks(&watch, [&](Index c, Index first, Index last) {
        double* out = partial.data() + c * width;
        for (Index i = first; i < last; ++i) {
            if (of == Of::between && !between_[i]) continue;
            std::visit(
                [&](const auto& X) {
                    if constexpr (requires { X.starts; }) {
                        for (Index e = X.starts[i]; e < X.starts[i + 1]; ++e)
                            out[X.columns[e]] += static_cast<double>(X.values[e]) * static_cast<double>(X.values[e]);
                    } else {
                        for (Index j = 0; j < features_; ++j) {
                            const double x = static_cast<double>(X.values[i * features_ + j]) - X.centre[j];
                            out[j] += x * x;
                        }
                    }
                },
                rows_);
            out[features_] += 1.0;
        }
    });
    for (Index c = 0; c < count_; ++c)
        for (Index j = 0; j < width; ++j) total[j] += partial[c * width + j];
    return total;
}

Index LinearBlock::between() const { return std::count(between_.begin(), between_.end(), 1); }

double LinearBlock::loss() const {
    std::vector<double> partial(count_, 0.0);
    const_cast<LinearBlock*>(this)->chunks(nullptr, [&](Index c, Index first, Index last) {
        double sum = 0;
        for (Index i = first; i < last; ++i)
            for (int k = 0; k < problem_.pieces(); ++k) {
                const double below = problem_.slope(i, k) - margin_[i];
                if (below <= 0) break;
                sum += below * (problem_.breakpoint(i, k + 1) - problem_.breakpoint(i, k));
            }
        partial[c] = sum;
    });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
}

double LinearBlock::shift() const {
    std::vector<double> partial(count_, 0.0);
    const_cast<LinearBlock*>(this)->chunks(nullptr, [&](Index c, Index first, Index last) {
        double sum = 0;
        for (Index i = first; i < last; ++i) sum += (gamma_[i] - lambda_[i]) * (gamma_[i] - lambda_[i]);
        partial[c] = sum;
    });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
}

double LinearBlock::dual(Sides scale) const {
    std::vector<double> partial(count_, 0.0);
    const_cast<LinearBlock*>(this)->chunks(nullptr, [&](Index c, Index first, Index last) {
        double sum = 0;
        for (Index i = first; i < last; ++i)
            if (gamma_[i] > 0) sum += problem_.phi(i, scale[problem_.sign[i] > 0] * gamma_[i]);
        partial[c] = sum;
    });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
}

void LinearBlock::start(const double* lambda) {
    for (Index i = 0; i < problem_.size; ++i)
        lambda_[i] = std::clamp(lambda[i], 0.0, problem_.breakpoint(i, problem_.pieces()));
}

void LinearBlock::attach(LinearRows rows) { rows_ = rows; }

void LinearBlock::add_rows(const std::vector<Index>& which, const std::vector<double>& coef, double* out) const {
    std::visit([&](const auto& X) { sum_rows(X, which, coef, out); }, rows_);
}

void LinearBlock::pack(Index row, double* out) const {
    std::visit([&](const auto& X) { pack_row(X, row, out); }, rows_);
}

}  // namespace abstain
