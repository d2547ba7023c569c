#include "bias.hpp"

#include <algorithm>
#include <cmath>

#include "policy.hpp"

namespace abstain {

double best_bias(const Problem& problem, const std::vector<double>& F) {
    struct Bend {
        double at, size;
    };
    std::vector<Bend> bends;
    bends.reserve(problem.size * problem.pieces());
    double slope = problem.total, total = 0;
    for (Index i = 0; i < problem.size; ++i) {
        if (problem.weight[i] == 0) continue;
        const int y = problem.sign[i], K = problem.pieces();
        for (int k = 0; k < K; ++k) {
            bends.push_back({y * problem.slope(i, k) - F[i], problem.breakpoint(i, k + 1) - problem.breakpoint(i, k)});
            if (std::isnan(bends.back().at)) return bends.back().at;  // an overflow; what cannot be compared cannot be sorted
            total += bends.back().size;
        }
        if (y > 0) slope -= problem.breakpoint(i, K);
    }
    const auto before = [](const Bend& a, const Bend& b) { return a.at < b.at; };
    const double flat = policy::rounding_of_slope * total;
    const bool open = slope >= -flat;  // one class has no weight: the optimum is a ray, and its finite end is taken
    // Half of the bends at a time are skipped where the slope does not yet reach 0; only those that are left are sorted.
    auto first = bends.begin(), last = bends.end();
    while (last - first > 32) {
        const auto middle = first + (last - first) / 2;
        std::nth_element(first, middle, last, before);
        double beyond = slope;
        for (auto bend = first; bend != middle; ++bend) beyond += bend->size;
        if (beyond < -flat) {
            slope = beyond;
            first = middle;
        } else {
            last = middle;
        }
    }
    std::sort(first, last, before);
    double ends[2] = {0, 0};
    int found = 0;
    for (auto bend = first; bend != bends.end(); ++bend) {
        if (bend == last) std::sort(last, bends.end(), before);  // the slope is 0 up to the first of these
        slope += bend->size;
        if (found == 0 && slope >= -flat) ends[found++] = bend->at;
        if (found == 1 && slope > flat) {
            ends[found++] = bend->at;
            break;
        }
    }
    if (open) return found == 2 ? ends[1] : 0;
    return found == 2 ? 0.5 * ends[0] + 0.5 * ends[1] : ends[0];
}

}  // namespace abstain
