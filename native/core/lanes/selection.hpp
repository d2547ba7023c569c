// The two loops of a pair step: which coordinate to raise, and which to lower with it. Part of lanes_body.hpp.

namespace abstain::ABSTAIN_LANES {

// The largest (or smallest) of all lanes: halve until sixteen bytes are left.
template <bool greatest, class E, int bytes> struct Extreme {
    typedef E whole __attribute__((vector_size(bytes)));
    typedef E half __attribute__((vector_size(bytes / 2)));
    ABSTAIN_INLINE E of(whole v) {
        half a, b;
        __builtin_memcpy(&a, &v, sizeof a);
        __builtin_memcpy(&b, reinterpret_cast<const char*>(&v) + sizeof a, sizeof b);
        return Extreme<greatest, E, bytes / 2>::of((greatest ? a > b : a < b) ? a : b);
    }
};
template <bool greatest, class E> struct Extreme<greatest, E, 16> {
    typedef E whole __attribute__((vector_size(16)));
    ABSTAIN_INLINE E of(whole v) {
        E m = v[0];
        for (int lane = 1; lane < 16 / static_cast<int>(sizeof(E)); ++lane) m = (greatest ? v[lane] > m : v[lane] < m) ? v[lane] : m;
        return m;
    }
};
template <class T> ABSTAIN_INLINE T largest(Vec<T> v) { return Extreme<true, T, ABSTAIN_VECTOR_BYTES>::of(v); }
template <class T> ABSTAIN_INLINE T smallest(Vec<T> v) { return Extreme<false, T, ABSTAIN_VECTOR_BYTES>::of(v); }

// The lowest index at which a lane holds this value.
template <class T, class Int> ABSTAIN_INLINE int first_at(Vec<T> values, T value, Int where) {
    typedef typename Bits<T>::element E;
    const Int never = Int{} + static_cast<E>(0x7fffffff);
    const Int found = values == value ? where : never;
    return static_cast<int>(Extreme<false, E, ABSTAIN_VECTOR_BYTES>::of(found));
}

// Each lane of four vectors keeps its own best and where it was, the first of equals; they are compared once at the end.
// Four, because one comparison waits for the one before.
template <class T> Rising<T> step(int size, T* F, const T* Ki, const T* Kj, T di, T dj, const T* up) {
    using Int = typename Bits<T>::type;
    constexpr int width = Vector<T>::width, ways = 4;
    Vec<T> best[ways];
    Int where[ways], lanes = Int{};
    for (int lane = 0; lane < width; ++lane) lanes[lane] = lane;
    for (int w = 0; w < ways; ++w) best[w] = Vec<T>{} - __builtin_huge_valf(), where[w] = Int{};
    for (int t = 0; t < size; t += ways * width)
        for (int w = 0; w < ways; ++w) {
            const int at = t + w * width;
            const Vec<T> f = load<T>(F + at) + di * load<T>(Ki + at) + dj * load<T>(Kj + at);
            store<T>(F + at, f);
            const Vec<T> gain = load<T>(up + at) - f;
            const Int better = gain > best[w];
            best[w] = better ? gain : best[w];
            where[w] = better ? lanes + at : where[w];
        }
    for (int w = 1; w < ways; ++w) {
        const Int better = (best[w] > best[0]) | ((best[w] == best[0]) & (where[w] < where[0]));
        best[0] = better ? best[w] : best[0];
        where[0] = better ? where[w] : where[0];
    }
    const T gain = largest<T>(best[0]);
    return {gain, first_at<T>(best[0], gain, where[0])};
}

// Quotients are compared crosswise, v^2 c' > v'^2 c: a division would take as long as all the rest.
template <class T>
Falling<T> partner(int size, const T* F, const T* Ki, const T* diagonal, const T* down, T Kii, T best) {
    using Int = typename Bits<T>::type;
    constexpr int width = Vector<T>::width, ways = 4;
    const Vec<T> zero = Vec<T>{}, least = zero + static_cast<T>(1e-12);
    Vec<T> lowest[ways], square[ways], curvature[ways];
    Int where[ways], lanes = Int{};
    for (int lane = 0; lane < width; ++lane) lanes[lane] = lane;
    for (int w = 0; w < ways; ++w) {
        lowest[w] = zero + __builtin_huge_valf();
        square[w] = zero;
        curvature[w] = zero + static_cast<T>(1);
        where[w] = Int{} - 1;
    }
    for (int t = 0; t < size; t += ways * width)
        for (int w = 0; w < ways; ++w) {
            const int at = t + w * width;
            const Vec<T> loss = load<T>(down + at) - load<T>(F + at);
            lowest[w] = loss < lowest[w] ? loss : lowest[w];
            Vec<T> v = best - loss;
            v = v > zero ? v : zero;
            Vec<T> c = Kii + load<T>(diagonal + at) - static_cast<T>(2) * load<T>(Ki + at);
            c = c > least ? c : least;
            const Vec<T> s = v * v;
            const Int better = s * curvature[w] > square[w] * c;
            square[w] = better ? s : square[w];
            curvature[w] = better ? c : curvature[w];
            where[w] = better ? lanes + at : where[w];
        }
    Vec<T> rise = square[0] / curvature[0];
    for (int w = 1; w < ways; ++w) {
        const Vec<T> other = square[w] / curvature[w];
        const Int better = (other > rise) | ((other == rise) & (where[w] < where[0]));
        rise = better ? other : rise;
        where[0] = better ? where[w] : where[0];
        lowest[0] = lowest[w] < lowest[0] ? lowest[w] : lowest[0];
    }
    const T most = largest<T>(rise);
    return {smallest<T>(lowest[0]), most > 0 ? first_at<T>(rise, most, where[0]) : -1};
}

}  // namespace abstain::ABSTAIN_LANES
