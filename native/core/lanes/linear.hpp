// The loops of the linear machine: rows of float or double, all sums in double. Part of all_lanes.hpp.

namespace abstain {
namespace {

template <class T> [[gnu::always_inline]] inline Vec<double> widened(const T* from) {
    if constexpr (sizeof(T) == sizeof(double)) {
        return load<double>(from);
    } else {
        typename VectorOf<T, vector_bytes / 2>::type v;
        __builtin_memcpy(&v, from, sizeof v);
        return __builtin_convertvector(v, Vec<double>);
    }
}

// Rows in groups share the loads of p; not more rows than there are registers for their sums. The last lanes of a row are read
// with some that were read before, whose factors are 0.
template <class T> void rows_times(const T* X, const double* centre, long rows, long features, const double* p, double* out) {
    constexpr int W = width<double>, L = sum_lanes<double>, N = sum_vectors<double>, group = N > 2 ? 2 : 4;
    const long whole = features / L * L, last = features > whole && whole > 0 ? features - L : whole;
    double p_of_last[L];
    for (int j = 0; j < L; ++j) p_of_last[j] = last < whole && last + j >= whole ? p[last + j] : 0;
    for (long i = 0; i < rows; i += group) {
        const T* row[group];
        for (int r = 0; r < group; ++r) row[r] = X + (i + r < rows ? i + r : rows - 1) * features;
        Vec<double> sum[group][N];
        for (int r = 0; r < group; ++r)
            for (int n = 0; n < N; ++n) sum[r][n] = Vec<double>{};
        const auto add = [&](long j, const double* factor) {
            for (int n = 0; n < N; ++n) {
                const Vec<double> at = load<double>(factor + n * W), middle = load<double>(centre + j + n * W);
                for (int r = 0; r < group; ++r) sum[r][n] += (widened<T>(row[r] + j + n * W) - middle) * at;
            }
        };
        for (long j = 0; j < whole; j += L) add(j, p + j);
        if (last < whole) add(last, p_of_last);
        for (int r = 0; r < group && i + r < rows; ++r) {
            double total = total_of<double>(sum[r]);
            for (long j = last; j < features && last == whole; ++j) total += (static_cast<double>(row[r][j]) - centre[j]) * p[j];
            out[i + r] = total;
        }
    }
}

// Four rows at a time share the loads and stores of the sums.
template <class T>
void rows_sum(const T* X, const double* centre, const long* which, const double* coef, long count, long features, double* out) {
    constexpr int group = 4, W = width<double>;
    const long whole = features / W * W;
    for (long i = 0; i < count; i += group) {
        const T* row[group];
        double factor[group];
        for (int r = 0; r < group; ++r) {
            row[r] = X + which[i + r < count ? i + r : i] * features;
            factor[r] = i + r < count ? coef[i + r] : 0.0;
        }
        for (long j = 0; j < whole; j += W) {
            Vec<double> sum = load<double>(out + j);
            const Vec<double> middle = load<double>(centre + j);
            for (int r = 0; r < group; ++r) sum += factor[r] * (widened<T>(row[r] + j) - middle);
            store<double>(out + j, sum);
        }
        for (long j = whole; j < features; ++j)
            for (int r = 0; r < group; ++r) out[j] += factor[r] * (static_cast<double>(row[r][j]) - centre[j]);
    }
}

// Tiles of 4 x 2 vectors of H stay in registers while all rows of the panel pass by.
void outer(const double* panel, long rows, long stride, long first, long last, double* H) {
    constexpr int tall = 4, W = width<double>;
    for (long i = first; i < last; i += tall)
        for (long j = i / (2 * W) * (2 * W); j < stride; j += 2 * W) {
            Vec<double> sum[tall][2];
            for (int a = 0; a < tall; ++a) sum[a][0] = sum[a][1] = Vec<double>{};
            const double* x = panel;
            for (long r = 0; r < rows; ++r, x += stride) {
                const Vec<double> left = load<double>(x + j), right = load<double>(x + j + W);
                for (int a = 0; a < tall; ++a) {
                    sum[a][0] += times<double>(left, x + i + a);
                    sum[a][1] += times<double>(right, x + i + a);
                }
            }
            for (int a = 0; a < tall; ++a) {
                double* to = H + (i + a) * stride + j;
                store<double>(to, load<double>(to) + sum[a][0]);
                store<double>(to + W, load<double>(to + W) + sum[a][1]);
            }
        }
}

// A compressed row and eight vectors, whose entries lie side by side. Two sums: one after the other they would wait for each other.
template <class T> void eight_times(const T* values, const int* columns, long count, const double* w, double* out) {
    constexpr int W = width<double>, N = sum_vectors<double>;
    Vec<double> sum[2][N];
    for (int n = 0; n < N; ++n) sum[0][n] = sum[1][n] = Vec<double>{};
    const auto add = [&](long k, Vec<double>* to) {
        const double x = static_cast<double>(values[k]);
        const double* at = w + 8 * static_cast<long>(columns[k]);
        for (int n = 0; n < N; ++n) to[n] += x * load<double>(at + n * W);
    };
    for (long k = 0; k + 1 < count; k += 2) add(k, sum[0]), add(k + 1, sum[1]);
    if (count % 2 == 1) add(count - 1, sum[0]);
    for (int n = 0; n < N; ++n) store<double>(out + n * W, sum[0][n] + sum[1][n]);
}

template <class T> void eight_add(const T* values, const int* columns, long count, const double* factor, double* w) {
    constexpr int W = width<double>, N = sum_vectors<double>;
    Vec<double> by[N];
    for (int n = 0; n < N; ++n) by[n] = load<double>(factor + n * W);
    for (long k = 0; k < count; ++k) {
        const double x = static_cast<double>(values[k]);
        double* at = w + 8 * static_cast<long>(columns[k]);
        for (int n = 0; n < N; ++n) store<double>(at + n * W, load<double>(at + n * W) + x * by[n]);
    }
}

}  // namespace
}  // namespace abstain
