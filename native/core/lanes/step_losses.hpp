// The loops of FR02's machine: its loss over all rows with gradient, and the least of many sums. Part of lanes_body.hpp.

namespace abstain::ABSTAIN_LANES {

template <class T> ABSTAIN_INLINE Vec<T> exp_of(Vec<T> t) { return exp2_of<T>(t * static_cast<T>(1.4426950408889634)); }

template <class T> ABSTAIN_INLINE Vec<T> clamped(Vec<T> t) {  // S beyond 40 is 1 to the last bit
    const Vec<T> top = Vec<T>{} + static_cast<T>(40);
    t = t < top ? t : top;
    return t > -top ? t : -top;
}

// e_k = exp(-s u_k) at the three steps u = xi, xi - 1 + eps, xi - 1 - eps. Where no product of them can overflow, one
// exponential serves all three.
template <class T, bool together> struct Steps {
    T s, inner, outer;  // the second and third as factors of the first, or as shifts

    Steps(const StepLoss<T>& loss) : s(loss.steepness) {
        const T first = s * (1 - loss.eps), second = s * (1 + loss.eps);
        inner = together ? exp_of<T>(Vec<T>{} + first)[0] : first;
        outer = together ? exp_of<T>(Vec<T>{} + second)[0] : second;
    }
    ABSTAIN_INLINE void of(const Steps& steps, Vec<T> xi, Vec<T>& e1, Vec<T>& e2, Vec<T>& e3) {
        const Vec<T> t = xi * -steps.s;
        if constexpr (together) {
            e1 = exp_of<T>(t);
            e2 = e1 * steps.inner;
            e3 = e1 * steps.outer;
        } else {
            e1 = exp_of<T>(clamped<T>(t));
            e2 = exp_of<T>(clamped<T>(t + steps.inner));
            e3 = exp_of<T>(clamped<T>(t + steps.outer));
        }
    }
};

// h'' and its two derivatives at xi = max(1 - m, xi0); the one by xi is 0 where the slack rests at xi0.
template <class T, bool together>
ABSTAIN_INLINE void step_loss(const StepLoss<T>& loss, const Steps<T, together>& steps, Vec<T> m, Vec<T>& value, Vec<T>& by_xi,
                              Vec<T>& by_eps) {
    const Vec<T> zero = Vec<T>{}, least = zero + loss.least_slack, slack = static_cast<T>(1) - m;
    const Vec<T> xi = slack > least ? slack : least;
    Vec<T> e1, e2, e3;
    Steps<T, together>::of(steps, xi, e1, e2, e3);
    const Vec<T> d1 = static_cast<T>(1) + e1, d2 = static_cast<T>(1) + e2, d3 = static_cast<T>(1) + e3;
    const Vec<T> r = static_cast<T>(1) / (d1 * d2 * d3);  // one division for three sigmoids
    const Vec<T> S1 = r * d2 * d3, S2 = r * d1 * d3, S3 = r * d1 * d2;
    const Vec<T> D2 = loss.reject_step * loss.steepness * (S2 - S2 * S2), D3 = loss.error_step * loss.steepness * (S3 - S3 * S3);
    value = loss.margin_cost * S1 + loss.reject_step * S2 + loss.error_step * S3 + loss.slack_penalty * xi * xi;
    by_xi = loss.margin_cost * loss.steepness * (S1 - S1 * S1) + D2 + D3 + 2 * loss.slack_penalty * xi;
    by_xi = slack > least ? by_xi : zero;
    by_eps = D2 - D3;
}

template <class T, bool together>
void step_losses_of(const StepLoss<T>& loss, int features, const T* rows, const T* weight, const T* point, long blocks,
                    T* gradient, T* sums, T* scratch) {
    constexpr int width = Vector<T>::width, R = block_rows<T>, V = ABSTAIN_TILE_VECTORS;
    const Steps<T, together> steps(loss);
    const T least = loss.least_slack;
    Vec<T> total = Vec<T>{}, total_by_eps = Vec<T>{}, resting, unused, resting_by_eps;
    step_loss<T, together>(loss, steps, Vec<T>{} + (static_cast<T>(1) - least), resting, unused, resting_by_eps);
    for (int k = 0; k < features * width; ++k) scratch[k] = 0;
    for (long block = 0; block < blocks; ++block, rows += static_cast<long>(R) * features, weight += R)
        for (int row = 0; row < R; row += V * width) {
            Vec<T> m[V], slope[V];
            for (int v = 0; v < V; ++v) m[v] = Vec<T>{};
            const T* x = rows + row;
            for (int k = 0; k < features; ++k, x += R)
                for (int v = 0; v < V; ++v) m[v] += load<T>(x + v * width) * point[k];
            Vec<T> closest = -m[0];
            for (int v = 1; v < V; ++v) closest = -m[v] > closest ? -m[v] : closest;
            if (static_cast<T>(1) + largest<T>(closest) <= least) {  // all rest at xi0; comes often once rows are sorted
                for (int v = 0; v < V; ++v) total += load<T>(weight + row + v * width) * resting;
                for (int v = 0; v < V; ++v) total_by_eps += load<T>(weight + row + v * width) * resting_by_eps;
                continue;
            }
            for (int v = 0; v < V; ++v) {
                Vec<T> value, by_xi, by_eps;
                step_loss<T, together>(loss, steps, m[v], value, by_xi, by_eps);
                const Vec<T> c = load<T>(weight + row + v * width);
                total += c * value;
                total_by_eps += c * by_eps;
                slope[v] = -c * by_xi;
            }
            x = rows + row;
            for (int k = 0; k < features; ++k, x += R) {
                Vec<T> sum = load<T>(scratch + k * width);
                for (int v = 0; v < V; ++v) sum += load<T>(x + v * width) * slope[v];
                store<T>(scratch + k * width, sum);
            }
        }
    sums[0] = sums[1] = 0;
    for (int lane = 0; lane < width; ++lane) {
        sums[0] += total[lane];
        sums[1] += total_by_eps[lane];
    }
    for (int k = 0; k < features; ++k) {
        gradient[k] = 0;
        for (int lane = 0; lane < width; ++lane) gradient[k] += scratch[k * width + lane];
    }
}

// Three sigmoids and their product reach exp(2 s + 120): 3 * 40 from the slack at its least, s (1 + eps) + s (1 - eps).
template <class T>
void step_losses(const StepLoss<T>& loss, int features, const T* rows, const T* weight, const T* point, long blocks, T* gradient,
                 T* sums, T* scratch) {
    constexpr T reach = Bits<T>::highest * static_cast<T>(0.69314718);
    if (2 * loss.steepness + 120 < reach)
        return step_losses_of<T, true>(loss, features, rows, weight, point, blocks, gradient, sums, scratch);
    step_losses_of<T, false>(loss, features, rows, weight, point, blocks, gradient, sums, scratch);
}

template <class T> T least_sum(const T* base, const T* const* row, const T* factor, int count, int size, T* out) {
    constexpr int width = Vector<T>::width;
    Vec<T> lowest = Vec<T>{} + __builtin_huge_valf();
    for (int e = 0; e < size; e += width) {
        Vec<T> sum = load<T>(base + e);
        for (int k = 0; k < count; ++k) sum += factor[k] * load<T>(row[k] + e);
        if (out) store<T>(out + e, sum);
        lowest = sum < lowest ? sum : lowest;
    }
    return smallest<T>(lowest);
}

}  // namespace abstain::ABSTAIN_LANES
