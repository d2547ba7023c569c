// The kernels over vectors. `t` is x.s of features that were scaled by sqrt(gamma), for rbf by more (dense_kernel.cpp):
//
//   rbf                 2^(x.s - |x|^2/2 - |s|^2/2), so t starts at minus the halves of the squares
//   rbf by difference   2^-|x - s|^2
//   linear              x.s
//   poly                (x.s + coef0)^degree
//   sigmoid             tanh(x.s + coef0)
//
// Part of all_lanes.hpp.

namespace abstain {
namespace {

template <KernelName kernel, bool by_difference = false> struct Formula {
    static constexpr KernelName name = kernel;
    static constexpr bool halves = kernel == KernelName::rbf && !by_difference, differences = by_difference;
};

// Calls work(Formula<...>()) with the formula of this shape.
template <class T, class Work> [[gnu::always_inline]] inline void with_formula(const Shape<T>& shape, Work&& work) {
    switch (shape.kernel) {
        case KernelName::rbf:
            return shape.by_difference ? work(Formula<KernelName::rbf, true>()) : work(Formula<KernelName::rbf>());
        case KernelName::linear: return work(Formula<KernelName::linear>());
        case KernelName::poly: return work(Formula<KernelName::poly>());
        case KernelName::sigmoid: return work(Formula<KernelName::sigmoid>());
    }
}

template <class T> [[gnu::always_inline]] inline Vec<T> tanh_of(Vec<T> z) {  // 1 - 2 / (e^2z + 1)
    Vec<T> t = z * static_cast<T>(2.8853900817779268);
    const Vec<T> highest = Vec<T>{} + Bits<T>::highest;
    t = t < highest ? t : highest;
    const Vec<T> value = static_cast<T>(1) - static_cast<T>(2) / (exp2_of<T>(t) + static_cast<T>(1));
    // nan where the argument has overflowed: its sign may be that of a part of the sum
    if constexpr (sizeof(T) == sizeof(double)) return value + (z - z);
    return value;
}

template <class T> [[gnu::always_inline]] inline Vec<T> power(Vec<T> base, int degree) {
    Vec<T> result = Vec<T>{} + static_cast<T>(1);
    for (; degree > 0; degree >>= 1, base *= base)
        if (degree & 1) result *= base;
    return result;
}

template <class T, class F> [[gnu::always_inline]] inline Vec<T> finish(Vec<T> t, const Shape<T>& shape) {
    if constexpr (F::name == KernelName::rbf) return exp2_of<T>(F::differences ? -t : t);
    if constexpr (F::name == KernelName::poly) return power<T>(t + shape.coef0, shape.degree);
    if constexpr (F::name == KernelName::sigmoid) return tanh_of<T>(t + shape.coef0);
    return t;
}

}  // namespace
}  // namespace abstain
