// Sums of kernel values and of vectors. Part of all_lanes.hpp.

namespace abstain {
namespace {

// One tile: V vectors of rows against S support vectors, handed to `sink(s, v, values)`.
template <class T, class F, int V, int S = support_tile, class Sink>
[[gnu::always_inline]] inline void tile(const Shape<T>& shape, const T* block, const T* half, const T* support,
                                        const T* support_half, Sink&& sink) {
    Vec<T> t[S * V];
    for (int s = 0; s < S; ++s)
        for (int v = 0; v < V; ++v) {
            if constexpr (F::halves) t[s * V + v] = -load<T>(half + v * width<T>) - support_half[s];
            else t[s * V + v] = Vec<T>{};
        }
    for (int k = 0; k < shape.features; ++k, block += block_rows<T>, support += S) {
        Vec<T> x[V];
        for (int v = 0; v < V; ++v) x[v] = load<T>(block + v * width<T>);
        for (int s = 0; s < S; ++s)
            for (int v = 0; v < V; ++v) {
                if constexpr (F::differences) {
                    const Vec<T> difference = x[v] - support[s];
                    if constexpr (F::absolute) t[s * V + v] = sum_beside<T>(t[s * V + v], magnitude<T>(difference));
                    else t[s * V + v] += difference * difference;
                } else if constexpr (F::absolute) {
                    t[s * V + v] = sum_beside<T>(t[s * V + v], least<T>(x[v], support + s));
                } else {
                    t[s * V + v] += times<T>(x[v], support + s);
                }
            }
    }
    finish<T, F, S * V>(t, shape);
    for (int s = 0; s < S; ++s)
        for (int v = 0; v < V; ++v) sink(s, v, t[s * V + v]);
}

template <class T, class F>
void accumulate_by(const Shape<T>& shape, const T* block, const T* half, const T* support, const T* support_half, const T* coef,
                   int tiles, double* sums) {
    constexpr int V = tile_vectors, flush = 16;
    for (int row = 0; row < block_rows<T>; row += V * width<T>) {
        for (int first = 0; first < tiles; first += flush) {
            const int last = first + flush < tiles ? first + flush : tiles;
            Vec<T> sum[V];
            for (int v = 0; v < V; ++v) sum[v] = Vec<T>{};
            for (int i = first; i < last; ++i) {
                const long s0 = static_cast<long>(i) * support_tile;
                tile<T, F, V>(shape, block + row, half + row, support + s0 * shape.features, support_half + s0,
                              [&](int s, int v, Vec<T> value) { sum[v] += value * coef[s0 + s]; });
            }
            for (int v = 0; v < V; ++v)
                for (int lane = 0; lane < width<T>; ++lane) sums[row + v * width<T> + lane] += static_cast<double>(sum[v][lane]);
        }
    }
}

template <class T, class F, int V>
void values_beside(const Shape<T>& shape, const T* block, const T* half, const T* support,
                                                 const T* support_half, int tiles, T* const* out, long first) {
    for (int i = 0; i < tiles; ++i) {
        const long s0 = static_cast<long>(i) * support_tile;
        tile<T, F, V>(shape, block, half, support + s0 * shape.features, support_half + s0,
                      [&](int s, int v, Vec<T> value) { store<T>(out[s0 + s] + first + v * width<T>, value); });
    }
}

template <class T, class F>
void values_by(const Shape<T>& shape, const T* block, const T* half, const T* support, const T* support_half, int tiles,
               T* const* out, long first, long count) {
    constexpr int V = tile_vectors;
    for (long row = 0; row < count; row += V * width<T>) {
        const auto go = count - row <= width<T> ? values_beside<T, F, 1> : values_beside<T, F, V>;
        go(shape, block + row, half + row, support, support_half, tiles, out, first + row);
    }
}

// Four vectors at a time, so that a sum need not wait for the one before.
template <class T, class F>
void row_by(const Shape<T>& shape, const T* block, const T* half, const T* support, T support_half, T* out) {
    constexpr int V = 4;
    for (int row = 0; row < block_rows<T>; row += V * width<T>)
        tile<T, F, V, 1>(shape, block + row, half + row, support, &support_half,
                         [&](int, int v, Vec<T> value) { store<T>(out + row + v * width<T>, value); });
}

template <class T>
void accumulate(const Shape<T>& shape, const T* block, const T* half, const T* support, const T* support_half, const T* coef,
                int tiles, double* sums) {
    with_formula(shape, [&]<class F>(F) { accumulate_by<T, F>(shape, block, half, support, support_half, coef, tiles, sums); });
}

template <class T>
void values(const Shape<T>& shape, const T* block, const T* half, const T* support, const T* support_half, int tiles,
            T* const* out, long first, long count) {
    with_formula(shape, [&]<class F>(F) { values_by<T, F>(shape, block, half, support, support_half, tiles, out, first, count); });
}

template <class T> void row(const Shape<T>& shape, const T* block, const T* half, const T* support, T support_half, T* out) {
    with_formula(shape, [&]<class F>(F) { row_by<T, F>(shape, block, half, support, support_half, out); });
}

// Sixteen rows at a time keep the partial sums in registers and short enough for float.
template <class T> void combine(const T* const* rows, const T* coef, int count, long first, long last, double* sums) {
    constexpr int group = 16;
    for (int r = 0; r < count; r += group) {
        const int end = r + group < count ? r + group : count;
        for (long column = first; column < last; column += width<T>) {
            Vec<T> sum = Vec<T>{};
            for (int i = r; i < end; ++i) sum += load<T>(rows[i] + column) * coef[i];
            for (int lane = 0; lane < width<T>; ++lane) sums[column + lane] += static_cast<double>(sum[lane]);
        }
    }
}

template <class T> T dot(const T* a, const T* b, long size) {
    constexpr int W = width<T>, L = sum_lanes<T>, N = sum_vectors<T>;
    Vec<T> even[N], odd[N];
    for (int n = 0; n < N; ++n) even[n] = odd[n] = Vec<T>{};
    long t = 0;
    for (; t + 2 * L <= size; t += 2 * L)
        for (int n = 0; n < N; ++n) {
            even[n] += load<T>(a + t + n * W) * load<T>(b + t + n * W);
            odd[n] += load<T>(a + t + L + n * W) * load<T>(b + t + L + n * W);
        }
    if (t + L <= size) {
        for (int n = 0; n < N; ++n) even[n] += load<T>(a + t + n * W) * load<T>(b + t + n * W);
        t += L;
    }
    for (int n = 0; n < N; ++n) even[n] += odd[n];
    T sum = total_of<T>(even);
    for (; t < size; ++t) sum += a[t] * b[t];
    return sum;
}

// Each vector that is read serves several products, and every product has sums of its own, which need not wait for each other.
template <class T> void dots(const T* a, long a_stride, const T* b, long b_stride, long size, T* out) {
    constexpr int W = width<T>, L = sum_lanes<T>, N = sum_vectors<T>, side = N == 1 ? 4 : N == 2 ? 2 : 1;
    for (int r = 0; r < dots_side; r += side)
        for (int s = 0; s < dots_side; s += side) {
            Vec<T> sums[side][side][N];
            for (int i = 0; i < side * side * N; ++i) (&sums[0][0][0])[i] = Vec<T>{};
            long t = 0;
            for (; t + L <= size; t += L)
                for (int n = 0; n < N; ++n) {
                    Vec<T> x[side], y[side];
                    for (int i = 0; i < side; ++i) x[i] = load<T>(a + (r + i) * a_stride + t + n * W);
                    for (int j = 0; j < side; ++j) y[j] = load<T>(b + (s + j) * b_stride + t + n * W);
                    for (int i = 0; i < side; ++i)
                        for (int j = 0; j < side; ++j) sums[i][j][n] += x[i] * y[j];
                }
            for (int i = 0; i < side; ++i)
                for (int j = 0; j < side; ++j) {
                    T sum = total_of<T>(sums[i][j]);
                    for (long k = t; k < size; ++k) sum += a[(r + i) * a_stride + k] * b[(s + j) * b_stride + k];
                    out[(r + i) * dots_side + s + j] = sum;
                }
        }
}

template <class T> void add(T* a, const T* b, T factor, long size) {
    for (long t = 0; t < size; ++t) a[t] += factor * b[t];
}

}  // namespace
}  // namespace abstain
