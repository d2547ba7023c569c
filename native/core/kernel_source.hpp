// The kernel values of one set of rows, for one task or for many at once.
//
// Only kernel_source.cpp names the classes that compute kernel values: a new layout of the rows, or another device, is one
// more KernelMatrix and one more line there.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <tuple>

#include "aligned.hpp"
#include "kernel.hpp"
#include "kernel_matrix.hpp"
#include "rows.hpp"
#include "thread_pool.hpp"
#include "watch.hpp"

namespace abstain {

inline bool has_single_precision(const Rows& rows) { return std::holds_alternative<DenseRows>(rows); }

template <class T> class ScaledRows;

// Their number rounded up to a multiple of 64, but none of 512: columns would share few places in the processor's caches.
inline Index whole_stride(Index rows) { return rounded_up(rows) % 512 ? rounded_up(rows) : rounded_up(rows) + 64; }

// All kernel values between the rows, with that stride.
template <class T> Aligned<T> whole_matrix(const KernelSpec& spec, const Rows& rows, ThreadPool& pool, Watch& watch);

class KernelSource {
  public:
    // cache_bytes: limit for the whole matrix, and for the cached rows of each kernel that computes values on demand.
    KernelSource(const KernelSpec& spec, const Rows& rows, double cache_bytes)
        : spec(spec), rows(rows), size(row_count(rows)), cache_bytes_(cache_bytes) {}

    const KernelSpec spec;
    const Rows rows;
    const Index size;

    bool is_given() const { return std::holds_alternative<GramRows>(rows); }
    template <class T> static double bytes(Index rows) {
        const double stride = static_cast<double>(whole_stride(rows));
        return stride * stride * sizeof(T);
    }
    template <class T> bool fits() const { return bytes<T>(size) <= cache_bytes_; }

    // Computes the whole matrix, once, on the thread that calls first. Kernels made afterwards are views of it.
    template <class T> void hold(ThreadPool& pool, Watch& watch);

    // A kernel for one thread, which must not outlive the source: a view of the matrix if it is held, else one that
    // computes values on demand.
    template <class T> std::unique_ptr<KernelMatrix<T>> kernel(ThreadPool& pool, Watch& watch) const;

    // Rows scaled beforehand, of which the rows of this source are `which`: values in single precision are made of these.
    void scaled_as(const ScaledRows<float>& all, std::span<const Index> which) { scaled_ = {&all, which}; }

  private:
    template <class T> struct Held {
        std::once_flag once;
        Aligned<T> values;
    };

    struct Scaled {
        const ScaledRows<float>* all = nullptr;
        std::span<const Index> which;
    };

    double cache_bytes_;
    Scaled scaled_;
    std::tuple<Held<float>, Held<double>> held_;
};

}  // namespace abstain
