// The two loops of a pair step: which coordinate to raise, and which to lower with it. Part of all_lanes.hpp.

namespace abstain {
namespace {

// The lowest index at which a lane holds this value.
template <class T> [[gnu::always_inline]] inline int first_at(Vec<T> values, T value, Ints<T> where) {
    using E = typename Bits<T>::element;
    const Ints<T> never = Ints<T>{} + static_cast<E>(0x7fffffff);
    const Ints<T> found = values == value ? where : never;
    return static_cast<int>(Extreme<false, E>::of(found));
}

// Each lane of four vectors keeps its own best and where it was, the first of equals; they are compared once at the end.
// Four, because one comparison waits for the one before.
template <class T> Rising<T> step(int size, T* F, const T* Ki, const T* Kj, T di, T dj, const T* up) {
    using Int = Ints<T>;
    constexpr int ways = 4;
    Vec<T> best[ways];
    Int where[ways], lanes = lane_numbers<T>();
    for (int w = 0; w < ways; ++w) best[w] = Vec<T>{} - __builtin_huge_valf(), where[w] = Int{};
    for (int t = 0; t < size; t += ways * width<T>)
        for (int w = 0; w < ways; ++w) {
            const int first = t + w * width<T>;
            const Vec<T> f = load<T>(F + first) + di * load<T>(Ki + first) + dj * load<T>(Kj + first);
            store<T>(F + first, f);
            const Vec<T> gain = load<T>(up + first) - f;
            const Int better = gain > best[w];
            best[w] = better ? gain : best[w];
            where[w] = better ? lanes + first : where[w];
        }
    for (int w = 1; w < ways; ++w) {
        const Int better = (best[w] > best[0]) | ((best[w] == best[0]) & (where[w] < where[0]));
        best[0] = better ? best[w] : best[0];
        where[0] = better ? where[w] : where[0];
    }
    const T gain = largest<T>(best[0]);
    return {gain, first_at<T>(best[0], gain, where[0])};
}

// Quotients are compared crosswise, v^2 c' > v'^2 c: a division would take as long as all the rest. Which of two nearly equal
// ones wins depends on the order of comparisons, so a lane meets the same rows for all widths: every `apart`-th. Narrow
// vectors pass over the rows more than once for that, over a part of every `apart` of them each time.
template <class T>
Falling<T> partner(int size, const T* F, const T* Ki, const T* diagonal, const T* down, T Kii, T best) {
    using Int = Ints<T>;
    constexpr int ways = 4, apart = ways * sum_lanes<T>;
    const Vec<T> zero = Vec<T>{};
    Vec<T> lowest[ways], rise = zero;
    Int at = Int{} - 1;
    const Int lanes = lane_numbers<T>();
    for (int w = 0; w < ways; ++w) lowest[w] = zero + __builtin_huge_valf();
    for (int pass = 0; pass < apart; pass += ways * width<T>) {
        Vec<T> square[ways], curvature[ways];
        Int where[ways];
        for (int w = 0; w < ways; ++w) {
            square[w] = zero;
            curvature[w] = zero + static_cast<T>(1);
            where[w] = Int{} - 1;
        }
        for (int t = pass; t < size; t += apart)
            for (int w = 0; w < ways; ++w) {
                const int first = t + w * width<T>;
                const Vec<T> loss = load<T>(down + first) - load<T>(F + first);
                lowest[w] = loss < lowest[w] ? loss : lowest[w];
                Vec<T> v = best - loss;
                v = v > zero ? v : zero;
                const Vec<T> both = Kii + load<T>(diagonal + first);
                const Vec<T> least = static_cast<T>(policy::least_curvature) * (both < zero ? -both : both);
                Vec<T> c = both - static_cast<T>(2) * load<T>(Ki + first);
                c = c > least ? c : least;
                const Vec<T> s = v * v;
                const Int better = s * curvature[w] > square[w] * c;
                square[w] = better ? s : square[w];
                curvature[w] = better ? c : curvature[w];
                where[w] = better ? lanes + first : where[w];
            }
        for (int w = 0; w < ways; ++w) {
            const Vec<T> other = square[w] / curvature[w];
            const Int better = (other > rise) | ((other == rise) & (where[w] < at));
            rise = better ? other : rise;
            at = better ? where[w] : at;
        }
    }
    for (int w = 1; w < ways; ++w) lowest[0] = lowest[w] < lowest[0] ? lowest[w] : lowest[0];
    const T most = largest<T>(rise);
    return {smallest<T>(lowest[0]), most > 0 ? first_at<T>(rise, most, at) : -1};
}

}  // namespace
}  // namespace abstain
