#include "cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>

#include "decomposition.hpp"
#include "dense_kernel.hpp"
#include "gram_kernel.hpp"

namespace abstain {

namespace {

constexpr Index one_block = 2048;  // rows up to which pair steps on the whole matrix beat blocks and sweeps
constexpr Index patience = 60;     // pair steps per row until the active set takes over, which does not crawl

// Workers cannot ask Python about signals: they watch a flag that the first thread raises when it is stopped.
class Crew {
  public:
    explicit Crew(Watch& watch) : watch_(watch), first_(std::this_thread::get_id()) {}

    template <class Work> void guarded(Work&& work) noexcept {
        if (stop_) return;  // nothing more is begun
        const bool is_first = std::this_thread::get_id() == first_;
        try {
            Watch follower([this](Index, double) { return stop_ ? Watch::Answer::interrupt : Watch::Answer::go_on; },
                           watch_.seconds_left());
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

template <class T>
std::unique_ptr<KernelMatrix<T>> computed(const Problem& problem, const KernelSpec& spec, const Rows& rows, double cache_bytes,
                                          ThreadPool& pool, Watch& watch) {
    if constexpr (std::is_same_v<T, double>)
        return kernel_in_double(problem, spec, rows, cache_bytes, pool, watch);
    else
        return std::make_unique<DenseKernel<float>>(spec, std::get<DenseRows>(rows), cache_bytes, pool, watch);
}

template <class T> double bytes_of(Index rows) {
    const double stride = static_cast<double>(rounded_up(rows));
    return stride * stride * sizeof(T);
}

// The kernel of one width for all its tasks: they share one matrix where that fits the memory, else each makes its values as
// it goes. For small problems the matrix in double is made as well, when the first task asks for it.
template <class T> class Source {
  public:
    Source(const Problem& problem, const KernelSpec& spec, const Rows& rows, double cache_bytes, ThreadPool& pool, Watch& watch)
        : spec(spec), problem_(problem), rows_(rows) {
        if (!small() && bytes_of<T>(problem.size) > cache_bytes) return;
        const auto kernel = computed<T>(problem, spec, rows, 0, pool, watch);
        made_ = std::make_unique<MadeGram<T>>(*kernel, problem.size, pool);
    }

    bool small() const { return problem_.size <= one_block; }
    bool shared() const { return made_ != nullptr; }
    const T* values() const { return made_->kernel.whole(); }

    const double* in_double() const {
        if constexpr (std::is_same_v<T, double>) return values();
        std::call_once(asked_, [this] {
            ThreadPool alone(1);
            Watch unwatched;
            const auto kernel = kernel_in_double(problem_, spec, rows_, 0, alone, unwatched);
            exact_ = std::make_unique<MadeGram<double>>(*kernel, problem_.size, alone);
        });
        return exact_->kernel.whole();
    }

    const KernelSpec spec;

  private:
    const Problem& problem_;
    const Rows& rows_;
    std::unique_ptr<MadeGram<T>> made_;
    mutable std::once_flag asked_;
    mutable std::unique_ptr<MadeGram<double>> exact_;
};

template <class T> class Task {
  public:
    Task(const Problem& problem, const Rows& rows, const Grid& grid, const Options& options, CrossValidation& result,
         std::atomic<Index>& finished)
        : problem_(problem), rows_(rows), grid_(grid), options_(options), result_(result), finished_(finished) {}

    // One kernel, one fold, all C in ascending order.
    void operator()(const Source<T>& source, std::size_t kernel, std::size_t fold, Watch& watch) const {
        const std::size_t n = problem_.size, cs = grid_.Cs.size();
        const std::size_t first = (kernel * grid_.folds + fold) * cs;
        const std::uint8_t* trains = grid_.trains + fold * n;
        std::vector<double> weight(n), start, last, before;
        Problem part = problem_;
        part.weight = weight.data();
        ThreadPool alone(1);
        const auto values = kernel_of(source, alone, watch);
        for (std::size_t c = 0; c < cs && !watch.expired(); ++c) {
            for (std::size_t i = 0; i < n; ++i) weight[i] = trains[i] ? grid_.Cs[c] * problem_.weight[i] : 0.0;
            if (c > 0) predict(c, last, before, start);
            Outcome outcome = fit(part, source, *values, c > 0 ? start.data() : nullptr, alone, watch);
            if (outcome.status == Status::time_limit) return;
            for (std::size_t i = 0; i < n; ++i) result_.scores[(first + c) * n + i] = outcome.expansion[i] + outcome.bias;
            result_.endings[first + c] = outcome.status == Status::optimal ? Ending::optimal : Ending::iteration_limit;
            before = std::move(last);
            last = std::move(outcome.beta);
            ++finished_;
        }
    }

  private:
    std::unique_ptr<KernelMatrix<T>> kernel_of(const Source<T>& source, ThreadPool& alone, Watch& watch) const {
        if (!source.shared()) return computed<T>(problem_, source.spec, rows_, options_.cache_bytes, alone, watch);
        return std::make_unique<GramKernel<T>>(source.values(), problem_.size, rounded_up(problem_.size), alone);
    }

    // beta / C is piecewise linear in 1 / C: from the last two fits to the next along a straight line.
    void predict(std::size_t c, const std::vector<double>& last, const std::vector<double>& before, std::vector<double>& start) const {
        const std::vector<double>& Cs = grid_.Cs;
        const double ahead = before.empty() ? 0 : (1 / Cs[c] - 1 / Cs[c - 1]) / (1 / Cs[c - 1] - 1 / Cs[c - 2]);
        start.resize(last.size());
        for (std::size_t i = 0; i < last.size(); ++i) {
            const double gamma = last[i] / Cs[c - 1];
            start[i] = Cs[c] * (before.empty() ? gamma : gamma + ahead * (gamma - before[i] / Cs[c - 2]));
        }
    }

    // Whether sums of such coefficients in the precision of T may be off by more than the tolerance. Roundings of both signs
    // leave a small part of their bound.
    bool blurred(const double* beta, Index size) const {
        constexpr double part_of_bound = 0.1;
        double sum = 0;
        for (Index i = 0; i < size; ++i) sum += std::abs(beta[i]);
        return part_of_bound * std::numeric_limits<T>::epsilon() * sum > options_.tol;
    }

    // Pair steps; where they crawl and the problem is small, the active set.
    Outcome fit(const Problem& part, const Source<T>& source, KernelMatrix<T>& values, const double* start, ThreadPool& alone,
                Watch& watch) const {
        Settings settings;
        settings.tol = options_.tol;
        settings.max_iterations = options_.max_iterations;
        if (source.small()) {
            settings.working_set = static_cast<int>(one_block);
            settings.max_iterations = std::min(options_.max_iterations, patience * part.size);
        }
        Outcome outcome = Decomposition<T>(part, values, settings, watch).run(start);
        // What a large start has left in F by rounding stays there as beta shrinks: begin again, with F made anew.
        if (start && blurred(start, part.size) && outcome.status == Status::optimal) {
            const Index before = outcome.iterations;
            outcome = Decomposition<T>(part, values, settings, watch).run(outcome.beta.data());
            outcome.iterations += before;
        }
        const bool given_up = outcome.status == Status::iteration_limit && outcome.iterations < options_.max_iterations;
        const bool inexact = given_up || blurred(outcome.beta.data(), part.size);
        if (!source.small() || !inexact || watch.expired()) return outcome;
        GramKernel<double> exact(source.in_double(), part.size, rounded_up(part.size), alone);
        Options rest = options_;
        rest.max_iterations -= outcome.iterations;
        return solve_exactly(part, exact, outcome.beta.data(), rest, watch);
    }

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
    const std::size_t folds = grid.folds, kernels = grid.kernels.size();
    const double fitting = std::max(1.0, options.cache_bytes / bytes_of<T>(problem.size));
    const std::size_t most = std::min<std::size_t>(kernels, std::min(fitting, 1e6));
    const std::size_t batches = (kernels + most - 1) / most, together = (kernels + batches - 1) / batches;
    const Task<T> task(problem, rows, grid, options, result, finished);
    Crew crew(watch);
    for (std::size_t first = 0; first < kernels; first += together) {
        std::deque<Source<T>> sources;
        const std::size_t last = std::min(first + together, kernels);
        for (std::size_t k = first; k < last && !watch.expired(); ++k)
            sources.emplace_back(problem, grid.kernels[k], rows, options.cache_bytes, pool, watch);
        pool.run(static_cast<Index>(sources.size() * folds), [&](Index t) {
            const std::size_t k = t / folds, fold = t % folds;
            crew.guarded([&](Watch& own) { task(sources[k], first + k, fold, own); });
        });
        crew.rethrow();
    }
}

}  // namespace

CrossValidation cross_validate(const Problem& problem, const Rows& rows, const Grid& grid, const Options& options,
                               ThreadPool& pool, Watch& watch, std::atomic<Index>& finished) {
    const std::size_t fits = grid.kernels.size() * grid.folds * grid.Cs.size();
    CrossValidation result{std::vector<double>(fits * problem.size), std::vector<std::uint8_t>(fits, Ending::unfinished)};
    if (std::holds_alternative<DenseRows>(rows)) run_all<float>(problem, rows, grid, options, pool, watch, result, finished);
    else run_all<double>(problem, rows, grid, options, pool, watch, result, finished);
    return result;
}

}  // namespace abstain
