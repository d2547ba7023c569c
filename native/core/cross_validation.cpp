#include "cross_validation.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "decomposition.hpp"
#include "dense_kernel.hpp"
#include "gram_kernel.hpp"

namespace abstain {

namespace {

// Workers cannot ask Python about signals: they watch a flag that the first thread raises when it is stopped.
class Crew {
  public:
    explicit Crew(Watch& watch) : watch_(watch), first_(std::this_thread::get_id()) {}

    template <class Work> void guarded(Work&& work) noexcept {
        const bool is_first = std::this_thread::get_id() == first_;
        try {
            Watch follower([this](Index, double) { return stop_ ? Watch::Answer::interrupt : Watch::Answer::go_on; });
            work(is_first ? watch_ : follower);
        } catch (...) {
            stop_ = true;
            const std::lock_guard lock(mutex_);
            if (!error_ || is_first) error_ = std::current_exception();  // the others only followed the first
        }
    }

    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    Watch& watch_;
    std::thread::id first_;
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::exception_ptr error_;
};

template <class T> struct Matrix {
    Aligned<T> made;
    const T* values;
    Index stride;
};

// In single precision where the rows are dense, else in double; a matrix that was given is used where it lies.
Matrix<float> matrix_of(const Problem& problem, const KernelSpec& spec, const DenseRows& X, ThreadPool& pool, Watch& watch) {
    const Index stride = rounded_up(problem.size);
    Matrix<float> matrix{Aligned<float>(static_cast<std::size_t>(stride * stride)), nullptr, stride};
    std::vector<Index> all(static_cast<std::size_t>(problem.size));
    std::iota(all.begin(), all.end(), Index(0));
    DenseKernel<float>(spec, X, 0, pool, watch).block(all, matrix.made.data(), stride);
    matrix.values = matrix.made.data();
    return matrix;
}

Matrix<double> matrix_of(const Problem& problem, const KernelSpec& spec, const Rows& rows, ThreadPool& pool, Watch& watch) {
    if (const auto* gram = std::get_if<GramRows>(&rows)) return {{}, gram->values, problem.size};
    const Index stride = rounded_up(problem.size);
    Matrix<double> matrix{Aligned<double>(static_cast<std::size_t>(stride * stride)), nullptr, stride};
    std::vector<Index> all(static_cast<std::size_t>(problem.size));
    std::iota(all.begin(), all.end(), Index(0));
    kernel_in_double(problem, spec, rows, 0, pool, watch)->block(all, matrix.made.data(), stride);
    matrix.values = matrix.made.data();
    return matrix;
}

template <class T> class Task {
  public:
    Task(const Problem& problem, const Grid& grid, const Options& options, CrossValidation& result, std::atomic<Index>& finished)
        : problem_(problem), grid_(grid), options_(options), result_(result), finished_(finished) {}

    // One kernel, one fold, all C in ascending order.
    void operator()(const Matrix<T>& matrix, std::size_t kernel, std::size_t fold, Watch& watch) const {
        const std::size_t n = static_cast<std::size_t>(problem_.size), cs = grid_.Cs.size();
        const std::size_t first = (kernel * static_cast<std::size_t>(grid_.folds) + fold) * cs;
        const std::uint8_t* trains = grid_.trains + fold * n;
        ThreadPool alone(1);
        GramKernel<T> gram(matrix.values, problem_.size, matrix.stride, alone);
        std::vector<double> weight(n), start;
        Problem part = problem_;
        part.weight = weight.data();
        Settings settings;
        settings.tol = options_.tol;
        settings.max_iterations = options_.max_iterations;
        for (std::size_t c = 0; c < cs; ++c) {
            for (std::size_t i = 0; i < n; ++i) weight[i] = trains[i] ? grid_.Cs[c] * problem_.weight[i] : 0.0;
            for (double& beta : start) beta *= grid_.Cs[c] / grid_.Cs[c - 1];
            Outcome outcome = Decomposition<T>(part, gram, settings, watch).run(start.empty() ? nullptr : start.data());
            for (std::size_t i = 0; i < n; ++i) result_.scores[(first + c) * n + i] = outcome.expansion[i] + outcome.bias;
            result_.optimal[first + c] = outcome.status == Status::optimal;
            start = std::move(outcome.beta);
            ++finished_;
        }
    }

  private:
    const Problem& problem_;
    const Grid& grid_;
    const Options& options_;
    CrossValidation& result_;
    std::atomic<Index>& finished_;
};

template <class T, class R>
void run_all(const Problem& problem, const R& rows, const Grid& grid, const Options& options, ThreadPool& pool, Watch& watch,
             const Task<T>& task) {
    const double bytes = sizeof(T) * static_cast<double>(problem.size) * static_cast<double>(problem.size);
    const std::size_t together = std::max<std::size_t>(1, static_cast<std::size_t>(std::min(1e6, options.cache_bytes / bytes)));
    const std::size_t folds = static_cast<std::size_t>(grid.folds);
    for (std::size_t first = 0; first < grid.kernels.size(); first += together) {
        std::vector<Matrix<T>> matrices;
        for (std::size_t k = first; k < std::min(first + together, grid.kernels.size()); ++k)
            matrices.push_back(matrix_of(problem, grid.kernels[k], rows, pool, watch));
        Crew crew(watch);
        pool.run(static_cast<Index>(matrices.size() * folds), [&](Index t) {
            const std::size_t k = static_cast<std::size_t>(t) / folds, fold = static_cast<std::size_t>(t) % folds;
            crew.guarded([&](Watch& own) { task(matrices[k], first + k, fold, own); });
        });
        crew.rethrow();
    }
}

}  // namespace

CrossValidation cross_validate(const Problem& problem, const Rows& rows, const Grid& grid, const Options& options,
                               ThreadPool& pool, Watch& watch, std::atomic<Index>& finished) {
    const std::size_t fits = grid.kernels.size() * static_cast<std::size_t>(grid.folds) * grid.Cs.size();
    CrossValidation result{std::vector<double>(fits * static_cast<std::size_t>(problem.size)), std::vector<std::uint8_t>(fits)};
    if (const auto* dense = std::get_if<DenseRows>(&rows))
        run_all(problem, *dense, grid, options, pool, watch, Task<float>(problem, grid, options, result, finished));
    else
        run_all(problem, rows, grid, options, pool, watch, Task<double>(problem, grid, options, result, finished));
    return result;
}

}  // namespace abstain
