// The kernels over vectors. `t` is x.s of features that were scaled by sqrt(gamma), for rbf by more; for the laplacian kernel, of
// features scaled by a multiple of gamma, it is the sum of min(x_k, s_k) (dense_kernel.cpp):
//
//   rbf                 2^(x.s - |x|^2/2 - |s|^2/2), so t starts at minus the halves of the squares
//   rbf by difference   2^-|x - s|^2
//   laplacian           2^(sum min(x_k, s_k) - sum x_k / 2 - sum s_k / 2), since |a - b| = a + b - 2 min(a, b)
//   ... by difference   2^-sum |x_k - s_k|
//   linear              x.s
//   poly                (x.s + coef0)^degree
//   sigmoid             tanh(x.s + coef0)
//
// Part of all_lanes.hpp.

namespace abstain {
namespace {

template <KernelName kernel, bool by_difference = false> struct Formula {
    static constexpr KernelName name = kernel;
    static constexpr bool absolute = kernel == KernelName::laplacian, distance = absolute || kernel == KernelName::rbf;
    static constexpr bool halves = distance && !by_difference, differences = by_difference;
};

// Calls work(Formula<...>()) with the formula of this shape.
template <class T, class Work> [[gnu::always_inline]] inline void with_formula(const Shape<T>& shape, Work&& work) {
    switch (shape.kernel) {
        case KernelName::rbf:
            return shape.by_difference ? work(Formula<KernelName::rbf, true>()) : work(Formula<KernelName::rbf>());
        case KernelName::laplacian:
            return shape.by_difference ? work(Formula<KernelName::laplacian, true>()) : work(Formula<KernelName::laplacian>());
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

template <class T, int count> [[gnu::always_inline]] inline void power_in_place(Vec<T>* t, int degree) {
    Vec<T> base[count];
    for (int i = 0; i < count; ++i) base[i] = t[i], t[i] = Vec<T>{} + static_cast<T>(1);
    for (; degree > 0; degree >>= 1) {
        if (degree & 1)
            for (int i = 0; i < count; ++i) t[i] *= base[i];
        for (int i = 0; i < count; ++i) base[i] *= base[i];
    }
}

// The kernel values of `count` vectors, in place.
template <class T, class F, int count> [[gnu::always_inline]] inline void finish(Vec<T>* t, const Shape<T>& shape) {
    if constexpr (F::distance) {
        if constexpr (F::differences)
            for (int i = 0; i < count; ++i) t[i] = -t[i];
        exp2_in_place<T, count>(t);
    }
    if constexpr (F::name == KernelName::poly) {
        for (int i = 0; i < count; ++i) t[i] += shape.coef0;
        power_in_place<T, count>(t, shape.degree);
    }
    if constexpr (F::name == KernelName::sigmoid)
        for (int i = 0; i < count; ++i) t[i] = tanh_of<T>(t[i] + shape.coef0);
}

}  // namespace
}  // namespace abstain
