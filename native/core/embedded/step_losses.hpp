// The loops of FR02's machine: its loss over all rows with gradient, and the least of many sums. Part of lanes/all_lanes.hpp.

namespace abstain {
namespace {

using Doubles = Vec<double>;

template <int count> [[gnu::always_inline]] inline void exp_in_place(Doubles* t) {
    for (int i = 0; i < count; ++i) t[i] *= 1.4426950408889634;
    exp2_in_place<double, count>(t);
}
inline double exp_of(double t) {
    Doubles value = Doubles{} + t;
    exp_in_place<1>(&value);
    return value[0];
}

[[gnu::always_inline]] inline Doubles clamped(Doubles t) {  // S beyond 40 is 1 to the last bit
    const Doubles top = Doubles{} + 40;
    t = t < top ? t : top;
    return t > -top ? t : -top;
}

// e_k = exp(-s u_k) at the three steps u = xi, xi - 1 + eps, xi - 1 - eps. Where no product of them can overflow, one
// exponential serves all three.
template <bool together> struct Steps {
    double s, inner, outer;  // the second and third as factors of the first, or as shifts

    Steps(const StepLoss& loss) : s(loss.steepness) {
        const double first = s * (1 - loss.eps), second = s * (1 + loss.eps);
        inner = together ? exp_of(first) : first;
        outer = together ? exp_of(second) : second;
    }
    template <int count>
    [[gnu::always_inline]] static inline void of(const Steps& steps, const Doubles* xi, Doubles* e1, Doubles* e2, Doubles* e3) {
        for (int i = 0; i < count; ++i) {
            const Doubles t = xi[i] * -steps.s;
            e1[i] = together ? t : clamped(t);
            e2[i] = clamped(t + steps.inner);
            e3[i] = clamped(t + steps.outer);
        }
        exp_in_place<count>(e1);
        if constexpr (!together) exp_in_place<count>(e2), exp_in_place<count>(e3);
        for (int i = 0; i < count && together; ++i) {
            e2[i] = e1[i] * steps.inner;
            e3[i] = e1[i] * steps.outer;
        }
    }
};

// h'' and its two derivatives at xi = max(1 - m, xi0); the one by xi is 0 where the slack rests at xi0.
template <bool together, int count>
[[gnu::always_inline]] inline void step_loss(const StepLoss& loss, const Steps<together>& steps, const Doubles* m, Doubles* value,
                                             Doubles* by_xi, Doubles* by_eps) {
    const Doubles zero = Doubles{}, least = zero + loss.least_slack;
    Doubles xi[count], e1[count], e2[count], e3[count];
    for (int i = 0; i < count; ++i) xi[i] = 1 - m[i] > least ? 1 - m[i] : least;
    Steps<together>::template of<count>(steps, xi, e1, e2, e3);
    for (int i = 0; i < count; ++i) {
        const Doubles d1 = 1 + e1[i], d2 = 1 + e2[i], d3 = 1 + e3[i];
        const Doubles r = 1 / (d1 * d2 * d3);  // one division for three sigmoids
        const Doubles S1 = r * d2 * d3, S2 = r * d1 * d3, S3 = r * d1 * d2;
        const Doubles D2 = loss.reject_step * loss.steepness * (S2 - S2 * S2);
        const Doubles D3 = loss.error_step * loss.steepness * (S3 - S3 * S3);
        value[i] = loss.margin_cost * S1 + loss.reject_step * S2 + loss.error_step * S3 + loss.slack_penalty * xi[i] * xi[i];
        const Doubles slope = loss.margin_cost * loss.steepness * (S1 - S1 * S1) + D2 + D3 + 2 * loss.slack_penalty * xi[i];
        by_xi[i] = 1 - m[i] > least ? slope : zero;
        by_eps[i] = D2 - D3;
    }
}

template <bool together>
void step_losses_of(const StepLoss& loss, int features, const double* rows, const double* weight, const double* point,
                    long blocks, double* gradient, double* sums, double* scratch) {
    // All sums are over every L-th row, whatever the width: S vectors of these lanes belong to the V vectors of a tile.
    constexpr int W = width<double>, R = block_rows<double>, V = tile_vectors, L = sum_lanes<double>;
    constexpr int S = V * W > L ? L / W : V;
    const Steps<together> steps(loss);
    const double least = loss.least_slack;
    Doubles total[L / W], total_by_eps[L / W], resting, unused, resting_by_eps;
    for (int n = 0; n < L / W; ++n) total[n] = total_by_eps[n] = Doubles{};
    const Doubles far = Doubles{} + __builtin_huge_val();
    step_loss<together, 1>(loss, steps, &far, &resting, &unused, &resting_by_eps);
    for (int k = 0; k < features * L; ++k) scratch[k] = 0;
    for (long block = 0; block < blocks; ++block, rows += static_cast<long>(R) * features, weight += R)
        for (int row = 0; row < R; row += V * W) {
            Doubles m[V], slope[V];
            for (int v = 0; v < V; ++v) m[v] = Doubles{};
            const double* x = rows + row;
            for (int k = 0; k < features; ++k, x += R)
                for (int v = 0; v < V; ++v) m[v] += load<double>(x + v * W) * point[k];
            Doubles closest = -m[0];
            for (int v = 1; v < V; ++v) closest = -m[v] > closest ? -m[v] : closest;
            if (1 + largest<double>(closest) <= least) {  // all rest at xi0; comes often once rows are sorted
                for (int v = 0; v < V; ++v) {
                    total[(row / W + v) % (L / W)] += load<double>(weight + row + v * W) * resting;
                    total_by_eps[(row / W + v) % (L / W)] += load<double>(weight + row + v * W) * resting_by_eps;
                }
                continue;
            }
            Doubles value[V], by_xi[V], by_eps[V];
            step_loss<together, V>(loss, steps, m, value, by_xi, by_eps);
            for (int v = 0; v < V; ++v) {
                const Doubles c = load<double>(weight + row + v * W);
                total[(row / W + v) % (L / W)] += c * value[v];
                total_by_eps[(row / W + v) % (L / W)] += c * by_eps[v];
                slope[v] = -c * by_xi[v];
            }
            x = rows + row;
            for (int k = 0; k < features; ++k, x += R) {
                double* to = scratch + k * L + row % L;
                Doubles sum[S];
                for (int n = 0; n < S; ++n) sum[n] = load<double>(to + n * W);
                for (int v = 0; v < V; ++v) sum[v % S] += load<double>(x + v * W) * slope[v];
                for (int n = 0; n < S; ++n) store<double>(to + n * W, sum[n]);
            }
        }
    sums[0] = total_of<double>(total);
    sums[1] = total_of<double>(total_by_eps);
    for (int k = 0; k < features; ++k) {
        gradient[k] = 0;
        for (int lane = 0; lane < L; ++lane) gradient[k] += scratch[k * L + lane];
    }
}

// Three sigmoids and their product reach exp(2 s + 120): 3 * 40 from the slack at its least, s (1 + eps) + s (1 - eps).
void step_losses(const StepLoss& loss, int features, const double* rows, const double* weight, const double* point, long blocks,
                 double* gradient, double* sums, double* scratch) {
    constexpr double reach = Bits<double>::highest * 0.69314718;
    if (2 * loss.steepness + 120 < reach)
        return step_losses_of<true>(loss, features, rows, weight, point, blocks, gradient, sums, scratch);
    step_losses_of<false>(loss, features, rows, weight, point, blocks, gradient, sums, scratch);
}

double least_sum(const double* base, const double* const* row, const double* factor, int count, int size, double* out) {
    constexpr int W = width<double>;
    Doubles lowest = Doubles{} + __builtin_huge_valf();
    for (int e = 0; e < size; e += W) {
        Doubles sum = load<double>(base + e);
        for (int k = 0; k < count; ++k) sum += factor[k] * load<double>(row[k] + e);
        if (out) store<double>(out + e, sum);
        lowest = sum < lowest ? sum : lowest;
    }
    return smallest<double>(lowest);
}

}  // namespace
}  // namespace abstain
