#include "kernel_source.hpp"

#include <stdexcept>
#include <type_traits>

#include "dense_kernel.hpp"
#include "gram_kernel.hpp"
#include "sparse_kernel.hpp"

namespace abstain {

namespace {

template <class T>
std::unique_ptr<KernelMatrix<T>> make_kernel(const KernelSpec& spec, const Rows& rows, double cache_bytes, ThreadPool& pool,
                                             Watch& watch) {
    if (const auto* dense = std::get_if<DenseRows>(&rows))
        return std::make_unique<DenseKernel<T>>(spec, *dense, cache_bytes, pool, watch);
    if constexpr (std::is_same_v<T, double>) {
        if (const auto* sparse = std::get_if<SparseRows>(&rows))
            return std::make_unique<SparseKernel>(spec, *sparse, cache_bytes, pool, watch);
        const auto& gram = std::get<GramRows>(rows);
        return std::make_unique<GramKernel<double>>(gram.values, gram.rows, gram.stride, pool);
    }
    throw std::logic_error("only dense rows have kernel values in single precision");
}

}  // namespace

template <class T> Aligned<T> whole_matrix(const KernelSpec& spec, const Rows& rows, ThreadPool& pool, Watch& watch) {
    const Index stride = whole_stride(row_count(rows));
    Aligned<T> values(stride * stride);
    make_kernel<T>(spec, rows, 0, pool, watch)->block(all_rows(row_count(rows)), values.data(), stride);
    return values;
}

template <class T> void KernelSource::hold(ThreadPool& pool, Watch& watch) {
    auto& held = std::get<Held<T>>(held_);
    std::call_once(held.once, [&] { held.values = whole_matrix<T>(spec, rows, pool, watch); });
}

template <class T> std::unique_ptr<KernelMatrix<T>> KernelSource::kernel(ThreadPool& pool, Watch& watch) const {
    const auto& values = std::get<Held<T>>(held_).values;
    if constexpr (std::is_same_v<T, float>)
        if (values.empty() && scaled_.all)
            return std::make_unique<DenseKernel<T>>(spec, ScaledRows<T>(*scaled_.all, scaled_.which), cache_bytes_, pool, watch);
    if (values.empty()) return make_kernel<T>(spec, rows, cache_bytes_, pool, watch);
    return std::make_unique<GramKernel<T>>(values.data(), size, whole_stride(size), pool);
}

template Aligned<double> whole_matrix<double>(const KernelSpec&, const Rows&, ThreadPool&, Watch&);
template void KernelSource::hold<float>(ThreadPool&, Watch&);
template void KernelSource::hold<double>(ThreadPool&, Watch&);
template std::unique_ptr<KernelMatrix<float>> KernelSource::kernel<float>(ThreadPool&, Watch&) const;
template std::unique_ptr<KernelMatrix<double>> KernelSource::kernel<double>(ThreadPool&, Watch&) const;

}  // namespace abstain
