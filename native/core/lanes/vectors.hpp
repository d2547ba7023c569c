// Vectors of vector_bytes, and what is computed on all their lanes at once. Part of all_lanes.hpp.

namespace abstain {
namespace {

template <class T, int bytes = vector_bytes> struct VectorOf {
    typedef T type __attribute__((vector_size(bytes)));
};
template <class T> using Vec = typename VectorOf<T>::type;
template <class T> constexpr int width = vector_bytes / static_cast<int>(sizeof(T));

// Sums over many entries are kept in 64 bytes of lanes, in as many vectors as that takes, and then added from the left: the
// order of additions, and so every bit, is the same for all widths.
template <class T> constexpr int sum_lanes = 64 / static_cast<int>(sizeof(T));
template <class T> constexpr int sum_vectors = sum_lanes<T> / width<T>;

template <class T> struct Bits;
template <> struct Bits<float> {
    typedef int element;
    typedef unsigned pattern;
    static constexpr int mantissa = 23;
    static constexpr float shifter = 12582912.0f;  // 1.5 * 2^23: adding it leaves round(t) in the low bits
    static constexpr float lowest = -125.0f, highest = 125.0f;
    // 2^r on [-1/2, 1/2] by powers of r, highest first; relative error before rounding 5e-9 (double: 8e-18)
    static constexpr float powers[] = {
        0.000154531634f, 0.00133908633f, 0.00961808302f, 0.0555035695f, 0.240226507f, 0.693147182f, 1.0f};
};
template <> struct Bits<double> {
    typedef long long element;
    typedef unsigned long long pattern;
    static constexpr int mantissa = 52;
    static constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52
    static constexpr double lowest = -1021.0, highest = 1021.0;
    static constexpr const double (&powers)[12] = exp2_powers;
};
template <class T> using Ints = typename VectorOf<typename Bits<T>::element>::type;

template <class T> [[gnu::always_inline]] inline Vec<T> load(const T* from) {
    Vec<T> v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
template <class T> [[gnu::always_inline]] inline void store(T* to, Vec<T> v) { __builtin_memcpy(to, &v, sizeof v); }

// The compiler must not see through the pointer: coefficients kept in registers would push the sums of the tile, the
// innermost loop's own, out to memory (which cost double precision a factor of 1.7).
template <class T> [[gnu::always_inline]] inline Vec<T> power_series(Vec<T> r) {
    const T* c = Bits<T>::powers;
    asm volatile("" : "+r"(c));
    constexpr int terms = sizeof(Bits<T>::powers) / sizeof(T);
    Vec<T> p = c[0] * r + c[1];
    for (int k = 2; k < terms; ++k) p = p * r + c[k];
    return p;
}

// 2^t. The comparison sends nan (inf - inf of far away points) to the lowest exponent: a kernel value of 0. The sum is of
// unsigned numbers, so that a t beyond the largest exponent gives a wrong value and not undefined behaviour.
template <class T> [[gnu::always_inline]] inline Vec<T> exp2_of(Vec<T> t) {
    using B = Bits<T>;
    const Vec<T> lowest = Vec<T>{} + B::lowest;
    t = t > lowest ? t : lowest;
    const Vec<T> shifted = t + B::shifter;
    const Vec<T> p = power_series<T>(t - (shifted - B::shifter));
    using Pattern = typename VectorOf<typename B::pattern>::type;
    return (Vec<T>)((Pattern)p + ((Pattern)shifted << B::mantissa));
}

template <class T> [[gnu::always_inline]] inline T total_of(const Vec<T> (&sums)[sum_vectors<T>]) {
    T total = 0;
    for (int n = 0; n < sum_vectors<T>; ++n)
        for (int lane = 0; lane < width<T>; ++lane) total += sums[n][lane];
    return total;
}

// The largest (or smallest) of all lanes: halve until sixteen bytes are left.
template <bool greatest, class E, int bytes = vector_bytes> struct Extreme {
    typedef typename VectorOf<E, bytes>::type Whole;
    typedef typename VectorOf<E, bytes / 2>::type Half;
    [[gnu::always_inline]] static inline E of(Whole v) {
        Half a, b;
        __builtin_memcpy(&a, &v, sizeof a);
        __builtin_memcpy(&b, reinterpret_cast<const char*>(&v) + sizeof a, sizeof b);
        return Extreme<greatest, E, bytes / 2>::of((greatest ? a > b : a < b) ? a : b);
    }
};
template <bool greatest, class E> struct Extreme<greatest, E, 16> {
    [[gnu::always_inline]] static inline E of(typename VectorOf<E, 16>::type v) {
        E m = v[0];
        for (int lane = 1; lane < 16 / static_cast<int>(sizeof(E)); ++lane)
            m = (greatest ? v[lane] > m : v[lane] < m) ? v[lane] : m;
        return m;
    }
};
template <class T> [[gnu::always_inline]] inline Ints<T> lane_numbers() {  // 0, 1, ...
    Ints<T> lanes = Ints<T>{};
    for (int lane = 0; lane < width<T>; ++lane) lanes[lane] = lane;
    return lanes;
}
template <class T> [[gnu::always_inline]] inline T largest(Vec<T> v) { return Extreme<true, T>::of(v); }
template <class T> [[gnu::always_inline]] inline T smallest(Vec<T> v) { return Extreme<false, T>::of(v); }

}  // namespace
}  // namespace abstain
