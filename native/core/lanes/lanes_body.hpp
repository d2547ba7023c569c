// Included once per instruction set with ABSTAIN_LANES (a namespace), ABSTAIN_VECTOR_BYTES and ABSTAIN_TILE_VECTORS
// defined. No standard templates in here: an inline function compiled for a newer processor must not be the copy
// that the linker keeps for the rest of the program.
#include "lanes.hpp"

namespace abstain::ABSTAIN_LANES {

template <class T> struct Vector {
    typedef T type __attribute__((vector_size(ABSTAIN_VECTOR_BYTES)));
    static constexpr int width = ABSTAIN_VECTOR_BYTES / static_cast<int>(sizeof(T));
};
template <class T> struct Bits;
template <> struct Bits<float> {
    typedef int element;
    typedef int type __attribute__((vector_size(ABSTAIN_VECTOR_BYTES)));
    static constexpr int mantissa = 23;
    static constexpr float shifter = 12582912.0f;  // 1.5 * 2^23: adding it leaves round(t) in the low bits
    static constexpr float lowest = -125.0f, highest = 125.0f;
};
template <> struct Bits<double> {
    typedef long long element;
    typedef long long type __attribute__((vector_size(ABSTAIN_VECTOR_BYTES)));
    static constexpr int mantissa = 52;
    static constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52
    static constexpr double lowest = -1021.0, highest = 1021.0;
};

#define ABSTAIN_INLINE static inline __attribute__((always_inline))

template <class T> using Vec = typename Vector<T>::type;

template <class T> ABSTAIN_INLINE Vec<T> load(const T* from) {
    Vec<T> v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
template <class T> ABSTAIN_INLINE void store(T* to, Vec<T> v) { __builtin_memcpy(to, &v, sizeof v); }

// 2^r on [-1/2, 1/2] by powers of r, highest first; relative error before rounding 5e-9 and 8e-18.
template <class T> struct PowerSeries;
template <> struct PowerSeries<float> {
    static constexpr float coefficients[] = {0.000154531629451206902f, 0.00133908633646712344f, 0.00961808255727785149f,
                                             0.0555035711421907782f,   0.240226507605681269f,   0.693147188026228781f, 1.0f};
};
template <> struct PowerSeries<double> {
    static constexpr double coefficients[] = {
        4.45496059818651839e-10, 7.0725859492692237e-9, 1.01780624458457735e-7, 1.32154425879216897e-6,
        0.0000152527338298361184, 0.000154035304417360502, 0.00133335581464169353, 0.00961812910760688853,
        0.0555041086648215943, 0.240226506959100982, 0.693147180559945309, 1.0};
};

// The compiler must not see through the pointer: coefficients kept in registers would push the sums of the tile, the
// innermost loop's own, out to memory (which cost double precision a factor of 1.7).
template <class T> ABSTAIN_INLINE Vec<T> power_series(Vec<T> r) {
    const T* c = PowerSeries<T>::coefficients;
    asm volatile("" : "+r"(c));
    constexpr int terms = sizeof(PowerSeries<T>::coefficients) / sizeof(T);
    Vec<T> p = c[0] * r + c[1];
    for (int k = 2; k < terms; ++k) p = p * r + c[k];
    return p;
}

// 2^t. The comparison sends nan (inf - inf of far away points) to the lowest exponent: a kernel value of 0.
template <class T> ABSTAIN_INLINE Vec<T> exp2_of(Vec<T> t) {
    using B = Bits<T>;
    const Vec<T> lowest = Vec<T>{} + B::lowest;
    t = t > lowest ? t : lowest;
    const Vec<T> shifted = t + B::shifter;
    const Vec<T> p = power_series<T>(t - (shifted - B::shifter));
    typedef typename B::type Int;
    return (Vec<T>)((Int)p + ((Int)shifted << B::mantissa));
}

template <class T> ABSTAIN_INLINE Vec<T> tanh_of(Vec<T> z) {  // 1 - 2 / (e^2z + 1)
    Vec<T> t = z * static_cast<T>(2.8853900817779268);
    const Vec<T> highest = Vec<T>{} + Bits<T>::highest;
    t = t < highest ? t : highest;
    return static_cast<T>(1) - static_cast<T>(2) / (exp2_of<T>(t) + static_cast<T>(1));
}

template <class T> ABSTAIN_INLINE Vec<T> power(Vec<T> base, int degree) {
    Vec<T> result = Vec<T>{} + static_cast<T>(1);
    for (; degree > 0; degree >>= 1, base *= base)
        if (degree & 1) result *= base;
    return result;
}

template <class T, Form form> ABSTAIN_INLINE Vec<T> finish(Vec<T> t, const Shape<T>& shape) {
    if constexpr (form == Form::rbf_dot) return exp2_of<T>(t);
    if constexpr (form == Form::rbf_difference) return exp2_of<T>(-t);
    if constexpr (form == Form::poly) return power<T>(t + shape.coef0, shape.degree);
    if constexpr (form == Form::sigmoid) return tanh_of<T>(t + shape.coef0);
    return t;
}

// One tile: V vectors of rows against four support vectors, handed to `sink(s, v, values)`.
template <class T, Form form, int V, class Sink>
ABSTAIN_INLINE void tile(const Shape<T>& shape, const T* block, const T* half, const T* support, const T* support_half,
                         Sink&& sink) {
    constexpr int width = Vector<T>::width, rows = block_rows<T>;
    Vec<T> t[support_tile][V];
    for (int s = 0; s < support_tile; ++s)
        for (int v = 0; v < V; ++v) {
            if constexpr (form == Form::rbf_dot) t[s][v] = -load<T>(half + v * width) - support_half[s];
            else t[s][v] = Vec<T>{};
        }
    for (int k = 0; k < shape.features; ++k, block += rows, support += support_tile) {
        Vec<T> x[V];
        for (int v = 0; v < V; ++v) x[v] = load<T>(block + v * width);
        for (int s = 0; s < support_tile; ++s)
            for (int v = 0; v < V; ++v) {
                if constexpr (form == Form::rbf_difference) {
                    const Vec<T> difference = x[v] - support[s];
                    t[s][v] += difference * difference;
                } else {
                    t[s][v] += x[v] * support[s];
                }
            }
    }
    for (int s = 0; s < support_tile; ++s)
        for (int v = 0; v < V; ++v) sink(s, v, finish<T, form>(t[s][v], shape));
}

template <class T, Form form>
void accumulate_form(const Shape<T>& shape, const T* block, const T* half, const T* support, const T* support_half,
                     const T* coef, int tiles, double* sums) {
    constexpr int V = ABSTAIN_TILE_VECTORS, width = Vector<T>::width, rows = block_rows<T>, flush = 16;
    for (int row = 0; row < rows; row += V * width) {
        for (int first = 0; first < tiles; first += flush) {
            const int last = first + flush < tiles ? first + flush : tiles;
            Vec<T> sum[V];
            for (int v = 0; v < V; ++v) sum[v] = Vec<T>{};
            for (int i = first; i < last; ++i) {
                const long at = static_cast<long>(i) * support_tile;
                tile<T, form, V>(shape, block + row, half + row, support + at * shape.features, support_half + at,
                                 [&](int s, int v, Vec<T> value) { sum[v] += value * coef[at + s]; });
            }
            for (int v = 0; v < V; ++v)
                for (int lane = 0; lane < width; ++lane) sums[row + v * width + lane] += static_cast<double>(sum[v][lane]);
        }
    }
}

template <class T, Form form>
void values_form(const Shape<T>& shape, const T* block, const T* half, const T* support, const T* support_half, int tiles,
                 T* const* out, long first) {
    constexpr int V = ABSTAIN_TILE_VECTORS, width = Vector<T>::width, rows = block_rows<T>;
    for (int row = 0; row < rows; row += V * width)
        for (int i = 0; i < tiles; ++i) {
            const long at = static_cast<long>(i) * support_tile;
            tile<T, form, V>(shape, block + row, half + row, support + at * shape.features, support_half + at,
                             [&](int s, int v, Vec<T> value) { store<T>(out[at + s] + first + row + v * width, value); });
        }
}

template <class T>
void accumulate(const Shape<T>& shape, const T* block, const T* half, const T* support, const T* support_half, const T* coef,
                int tiles, double* sums) {
    switch (shape.form) {
        case Form::rbf_dot: return accumulate_form<T, Form::rbf_dot>(shape, block, half, support, support_half, coef, tiles, sums);
        case Form::rbf_difference: return accumulate_form<T, Form::rbf_difference>(shape, block, half, support, support_half, coef, tiles, sums);
        case Form::linear: return accumulate_form<T, Form::linear>(shape, block, half, support, support_half, coef, tiles, sums);
        case Form::poly: return accumulate_form<T, Form::poly>(shape, block, half, support, support_half, coef, tiles, sums);
        case Form::sigmoid: return accumulate_form<T, Form::sigmoid>(shape, block, half, support, support_half, coef, tiles, sums);
    }
}

template <class T>
void values(const Shape<T>& shape, const T* block, const T* half, const T* support, const T* support_half, int tiles, T* const* out,
            long first) {
    switch (shape.form) {
        case Form::rbf_dot: return values_form<T, Form::rbf_dot>(shape, block, half, support, support_half, tiles, out, first);
        case Form::rbf_difference: return values_form<T, Form::rbf_difference>(shape, block, half, support, support_half, tiles, out, first);
        case Form::linear: return values_form<T, Form::linear>(shape, block, half, support, support_half, tiles, out, first);
        case Form::poly: return values_form<T, Form::poly>(shape, block, half, support, support_half, tiles, out, first);
        case Form::sigmoid: return values_form<T, Form::sigmoid>(shape, block, half, support, support_half, tiles, out, first);
    }
}

// Sixteen rows at a time keep the partial sums in registers and short enough for float.
template <class T> void combine(const T* const* rows, const T* coef, int count, long first, long last, double* sums) {
    constexpr int width = Vector<T>::width, group = 16;
    for (int r = 0; r < count; r += group) {
        const int end = r + group < count ? r + group : count;
        for (long at = first; at < last; at += width) {
            Vec<T> sum = Vec<T>{};
            for (int i = r; i < end; ++i) sum += load<T>(rows[i] + at) * coef[i];
            for (int lane = 0; lane < width; ++lane) sums[at + lane] += static_cast<double>(sum[lane]);
        }
    }
}

}  // namespace abstain::ABSTAIN_LANES

#include "selection.hpp"

namespace abstain::ABSTAIN_LANES {

template <class T> T dot(const T* a, const T* b, long size) {
    constexpr int width = Vector<T>::width;
    Vec<T> even = Vec<T>{}, odd = Vec<T>{};
    long t = 0;
    for (; t + 2 * width <= size; t += 2 * width) {
        even += load<T>(a + t) * load<T>(b + t);
        odd += load<T>(a + t + width) * load<T>(b + t + width);
    }
    even += odd;
    T sum = 0;
    for (int lane = 0; lane < width; ++lane) sum += even[lane];
    for (; t < size; ++t) sum += a[t] * b[t];
    return sum;
}

template <class T> void add(T* a, const T* b, T factor, long size) {
    for (long t = 0; t < size; ++t) a[t] += factor * b[t];
}

}  // namespace abstain::ABSTAIN_LANES

#include "step_losses.hpp"

namespace abstain::ABSTAIN_LANES {

template <class T> Lanes<T> table(const char* name) {
    return {name, accumulate<T>, values<T>, combine<T>, step<T>, partner<T>, dot<T>, add<T>, step_losses<T>, least_sum<T>};
}

Lanes<float> single_precision(const char* name) { return table<float>(name); }
Lanes<double> double_precision(const char* name) { return table<double>(name); }

}  // namespace abstain::ABSTAIN_LANES
