// Vectors of vector_bytes, and what is computed on all their lanes at once. Part of all_lanes.hpp.

namespace abstain {
namespace {

template <class T, int bytes = vector_bytes> struct VectorOf {
    typedef T type __attribute__((vector_size(bytes)));
};
template <class T> using Vec = typename VectorOf<T>::type;
template <class T> constexpr int width = vector_bytes / static_cast<int>(sizeof(T));

// Sums over many entries are kept in 64 bytes of lanes, in as many vectors as that takes, and then halved until one is left:
// the order of additions, and so every bit, is the same for all widths.
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

// x * *at. With vectors of 64 bytes the number is spread over the lanes by the multiplication itself. Compilers would spread it
// once, into a register; but a product and a sum already write two registers where a fused operation writes one, and the
// registers written are what bounds these loops on Zen 4 (x1.2 with one more for each four products).
template <class T> [[gnu::always_inline]] inline Vec<T> times(Vec<T> x, const T* at) {
#ifdef __AVX512F__
    if constexpr (vector_bytes == 64) {
        Vec<T> product;
        if constexpr (sizeof(T) == sizeof(float)) asm("vmulps %2%{1to16%}, %1, %0" : "=v"(product) : "v"(x), "m"(*at));
        else asm("vmulpd %2%{1to8%}, %1, %0" : "=v"(product) : "v"(x), "m"(*at));
        return product;
    }
#endif
    return x * *at;
}
template <class T> [[gnu::always_inline]] inline Vec<T> plus(Vec<T> x, const T* at) {  // likewise
#ifdef __AVX512F__
    if constexpr (vector_bytes == 64) {
        Vec<T> sum;
        if constexpr (sizeof(T) == sizeof(float)) asm("vaddps %2%{1to16%}, %1, %0" : "=v"(sum) : "v"(x), "m"(*at));
        else asm("vaddpd %2%{1to8%}, %1, %0" : "=v"(sum) : "v"(x), "m"(*at));
        return sum;
    }
#endif
    return x + *at;
}

template <class T> [[gnu::always_inline]] inline Vec<T> least(Vec<T> x, const T* at) {  // likewise
#ifdef __AVX512F__
    if constexpr (vector_bytes == 64) {
        Vec<T> smaller;
        if constexpr (sizeof(T) == sizeof(float)) asm("vminps %2%{1to16%}, %1, %0" : "=v"(smaller) : "v"(x), "m"(*at));
        else asm("vminpd %2%{1to8%}, %1, %0" : "=v"(smaller) : "v"(x), "m"(*at));
        return smaller;
    }
#endif
    const Vec<T> other = Vec<T>{} + *at;
#if defined __AVX__  // compilers make a comparison and a choice of x < other ? x : other
    Vec<T> smaller;
    if constexpr (sizeof(T) == sizeof(float)) asm("vminps %2, %1, %0" : "=v"(smaller) : "v"(x), "v"(other));
    else asm("vminpd %2, %1, %0" : "=v"(smaller) : "v"(x), "v"(other));
    return smaller;
#elif defined __SSE2__
    if constexpr (sizeof(T) == sizeof(float)) asm("minps %1, %0" : "+x"(x) : "x"(other));
    else asm("minpd %1, %0" : "+x"(x) : "x"(other));
    return x;
#else
    return x < other ? x : other;
#endif
}
// sum + x, where the sums would compete with the operation that made x (a minimum, a difference): on Zen 4 those run on the same
// two units, products on two others. 1 x is x, so that a fused product and sum has the bits of the sum (x1.4 for d = 500).
template <class T> [[gnu::always_inline]] inline Vec<T> sum_beside(Vec<T> sum, Vec<T> x) {
#ifdef __FMA__
    const Vec<T> one = Vec<T>{} + T(1);
    if constexpr (sizeof(T) == sizeof(float)) asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(one));
    else asm("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(one));
    return sum;
#else
    return sum + x;
#endif
}
template <class T> [[gnu::always_inline]] inline Vec<T> magnitude(Vec<T> x) {  // |x|
    return (Vec<T>)((Ints<T>)x & (Ints<T>{} + ~(typename Bits<T>::element(1) << (8 * sizeof(T) - 1))));
}

// Several vectors in step, since each term of a series waits for the one before. The compiler must not see through the
// pointer: coefficients kept in registers would push the sums of the tile, the innermost loop's own, out to memory (which
// cost double precision a factor of 1.7).
template <class T, int count> [[gnu::always_inline]] inline void power_series(const Vec<T>* r, Vec<T>* p) {
    const T* c = Bits<T>::powers;
    asm volatile("" : "+r"(c));
    constexpr int terms = sizeof(Bits<T>::powers) / sizeof(T);
    for (int i = 0; i < count; ++i) p[i] = plus<T>(times<T>(r[i], c), c + 1);
    for (int k = 2; k < terms; ++k)
        for (int i = 0; i < count; ++i) p[i] = plus<T>(p[i] * r[i], c + k);
}

// t = 2^t. The comparison sends nan (inf - inf of far away points) to the lowest exponent: a kernel value of 0. The sum is of
// unsigned numbers, so that a t beyond the largest exponent gives a wrong value and not undefined behaviour.
template <class T, int count> [[gnu::always_inline]] inline void exp2_in_place(Vec<T>* t) {
    using B = Bits<T>;
    using Pattern = typename VectorOf<typename B::pattern>::type;
    const Vec<T> lowest = Vec<T>{} + B::lowest;
    Vec<T> shifted[count], rest[count], p[count];
    for (int i = 0; i < count; ++i) {
        t[i] = t[i] > lowest ? t[i] : lowest;
        shifted[i] = t[i] + B::shifter;
        rest[i] = t[i] - (shifted[i] - B::shifter);
    }
    power_series<T, count>(rest, p);
    for (int i = 0; i < count; ++i) t[i] = (Vec<T>)((Pattern)p[i] + ((Pattern)shifted[i] << B::mantissa));
}
template <class T> [[gnu::always_inline]] inline Vec<T> exp2_of(Vec<T> t) {
    exp2_in_place<T, 1>(&t);
    return t;
}

template <class T, int bytes = vector_bytes> struct Sum {
    typedef typename VectorOf<T, bytes>::type Whole;
    typedef typename VectorOf<T, bytes / 2>::type Half;
    [[gnu::always_inline]] static inline T of(Whole v) {
        Half a, b;
        __builtin_memcpy(&a, &v, sizeof a);
        __builtin_memcpy(&b, reinterpret_cast<const char*>(&v) + sizeof a, sizeof b);
        return Sum<T, bytes / 2>::of(a + b);
    }
};
template <> struct Sum<double, 16> {
    [[gnu::always_inline]] static inline double of(VectorOf<double, 16>::type v) { return v[0] + v[1]; }
};
template <> struct Sum<float, 16> {
    [[gnu::always_inline]] static inline float of(VectorOf<float, 16>::type v) { return (v[0] + v[2]) + (v[1] + v[3]); }
};
template <class T> [[gnu::always_inline]] inline T total_of(const Vec<T> (&sums)[sum_vectors<T>]) {
    Vec<T> parts[sum_vectors<T>];
    for (int n = 0; n < sum_vectors<T>; ++n) parts[n] = sums[n];
    for (int half = sum_vectors<T> / 2; half > 0; half /= 2)
        for (int n = 0; n < half; ++n) parts[n] += parts[n + half];
    return Sum<T>::of(parts[0]);
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
