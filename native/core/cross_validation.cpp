#include "cross_validation.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <type_traits>

#include "decomposition.hpp"
#include "dense_kernel.hpp"
#include "gram_kernel.hpp"

namespace abstain {

namespace {

constexpr Index one_block = 2048;  // rows up to which pair steps on the whole matrix beat blocks and sweeps

// Workers cannot ask Python about signals: they watch a flag that the first thread raises when it is stopped.
class Crew {
  public:
    explicit Crew(Watch& watch) : watch_(watch), first_(std::this_thread::get_id()) {}

    template <class Work> void guarded(Work&& work) noexcept {
        if (stop_) return;  // nothing more is begun
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

// A kernel for each task: all share one matrix where that is small enough to be a block of its own (or was given), else
// each makes its values as it goes.
template <class T> struct Source {
    Aligned<T> made;
    const T* values = nullptr;
    Index stride = 0;
    KernelSpec spec{};
};

template <class T>
std::unique_ptr<KernelMatrix<T>> computed(const Problem& problem, const KernelSpec& spec, const Rows& rows, double cache_bytes,
                                          ThreadPool& pool, Watch& watch) {
    if constexpr (std::is_same_v<T, double>)
        return kernel_in_double(problem, spec, rows, cache_bytes, pool, watch);
    else
        return std::make_unique<DenseKernel<float>>(spec, std::get<DenseRows>(rows), cache_bytes, pool, watch);
}

template <class T>
Source<T> source_of(const Problem& problem, const KernelSpec& spec, const Rows& rows, ThreadPool& pool, Watch& watch) {
    Source<T> source;
    source.spec = spec;
    if (problem.size > one_block) return source;
    source.stride = rounded_up(problem.size);
    source.made.resize(at(source.stride * source.stride));
    std::vector<Index> all(at(problem.size));
    std::iota(all.begin(), all.end(), Index(0));
    computed<T>(problem, spec, rows, 0, pool, watch)->block(all, source.made.data(), source.stride);
    source.values = source.made.data();
    return source;
}

template <class T> class Task {
  public:
    Task(const Problem& problem, const Rows& rows, const Grid& grid, const Options& options, CrossValidation& result,
         std::atomic<Index>& finished)
        : problem_(problem), rows_(rows), grid_(grid), options_(options), result_(result), finished_(finished) {}

    // One kernel, one fold, all C in ascending order.
    void operator()(const Source<T>& source, std::size_t kernel, std::size_t fold, Watch& watch) const {
        const std::size_t n = at(problem_.size), cs = grid_.Cs.size();
        const std::size_t first = (kernel * at(grid_.folds) + fold) * cs;
        const std::uint8_t* trains = grid_.trains + fold * n;
        ThreadPool alone(1);
        GramKernel<T> shared(source.values, problem_.size, source.stride, alone);
        const auto own = source.values ? nullptr : computed<T>(problem_, source.spec, rows_, options_.cache_bytes, alone, watch);
        KernelMatrix<T>& values = own ? *own : shared;
        std::vector<double> weight(n), start;
        Problem part = problem_;
        part.weight = weight.data();
        Settings settings;
        settings.tol = options_.tol;
        settings.max_iterations = options_.max_iterations;
        if (source.values) settings.working_set = static_cast<int>(one_block);
        for (std::size_t c = 0; c < cs; ++c) {
            for (std::size_t i = 0; i < n; ++i) weight[i] = trains[i] ? grid_.Cs[c] * problem_.weight[i] : 0.0;
            for (double& beta : start) beta *= grid_.Cs[c] / grid_.Cs[c - 1];
            Outcome outcome = Decomposition<T>(part, values, settings, watch).run(start.empty() ? nullptr : start.data());
            for (std::size_t i = 0; i < n; ++i) result_.scores[(first + c) * n + i] = outcome.expansion[i] + outcome.bias;
            result_.optimal[first + c] = outcome.status == Status::optimal;
            start = std::move(outcome.beta);
            ++finished_;
        }
    }

  private:
    const Problem& problem_;
    const Rows& rows_;
    const Grid& grid_;
    const Options& options_;
    CrossValidation& result_;
    std::atomic<Index>& finished_;
};

template <class T>
void run_all(const Problem& problem, const Rows& rows, const Grid& grid, const Options& options, ThreadPool& pool, Watch& watch,
             CrossValidation& result, std::atomic<Index>& finished) {
    const std::size_t folds = at(grid.folds);
    std::vector<Source<T>> sources;
    for (const KernelSpec& spec : grid.kernels) sources.push_back(source_of<T>(problem, spec, rows, pool, watch));
    const Task<T> task(problem, rows, grid, options, result, finished);
    Crew crew(watch);
    pool.run(static_cast<Index>(sources.size() * folds), [&](Index t) {
        const std::size_t k = at(t) / folds, fold = at(t) % folds;
        crew.guarded([&](Watch& own) { task(sources[k], k, fold, own); });
    });
    crew.rethrow();
}

}  // namespace

CrossValidation cross_validate(const Problem& problem, const Rows& rows, const Grid& grid, const Options& options,
                               ThreadPool& pool, Watch& watch, std::atomic<Index>& finished) {
    const std::size_t fits = grid.kernels.size() * at(grid.folds) * grid.Cs.size();
    CrossValidation result{std::vector<double>(fits * at(problem.size)), std::vector<std::uint8_t>(fits)};
    if (std::holds_alternative<DenseRows>(rows)) run_all<float>(problem, rows, grid, options, pool, watch, result, finished);
    else run_all<double>(problem, rows, grid, options, pool, watch, result, finished);
    return result;
}

}  // namespace abstain
