#include "solve_many.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <set>

#include "bias.hpp"
#include "crew.hpp"
#include "policy.hpp"

namespace abstain {

namespace {

// The coefficients of a fit, and its C.
struct Fitted {
    double C = 0;
    std::vector<double> beta;
};

// beta / C is piecewise linear in 1 / C: from the last two fits to the next along a straight line.
void predict(double C, const Fitted& last, const Fitted& before, std::vector<double>& start) {
    const double ahead = before.beta.empty() ? 0 : (1 / C - 1 / last.C) / (1 / last.C - 1 / before.C);
    start.resize(last.beta.size());
    for (std::size_t i = 0; i < last.beta.size(); ++i) {
        const double gamma = last.beta[i] / last.C;
        start[i] = C * (before.beta.empty() ? gamma : gamma + ahead * (gamma - before.beta[i] / before.C));
    }
}

void store(const Problem& problem, const Outcome& outcome, std::size_t fit, Answers& answers) {
    const auto row = static_cast<std::ptrdiff_t>(fit * outcome.beta.size());
    std::copy(outcome.expansion.begin(), outcome.expansion.end(), answers.expansion.begin() + row);
    if (!answers.beta.empty()) std::copy(outcome.beta.begin(), outcome.beta.end(), answers.beta.begin() + row);
    answers.bias[fit] = best_bias(problem, outcome.expansion);
    answers.violation[fit] = outcome.violation;
    answers.iterations[fit] = outcome.iterations;
    answers.status[fit] = outcome.status;
}

// All scales of one task that are wanted, in ascending order.
void run(const Task& task, KernelSource& source, const Options& options, std::size_t first_fit, const Wanted& wanted,
         Answers& answers, Watch& watch, Durations& durations) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> weight(task.problem.size), start;
    Fitted last, before;
    Problem problem = task.problem;
    problem.weight = weight.data();
    ThreadPool alone(1);
    Fitter fitter(source, options, alone, watch);
    for (std::size_t c = 0; c < task.scales.size() && !watch.expired(); ++c) {
        if (!wanted[first_fit + c]) continue;
        const auto begun = Clock::now();
        const double C = task.scales[c];
        for (Index i = 0; i < problem.size; ++i) weight[i] = C * task.problem.weight[i];
        const bool first = last.beta.empty();
        if (!first) predict(C, last, before, start);
        Outcome outcome = fitter.fit(problem, first ? task.start : start.data());
        store(problem, outcome, first_fit + c, answers);
        if (outcome.status == Status::time_limit) return;
        before = std::move(last);
        last = {C, std::move(outcome.beta)};
        durations[first_fit + c] = std::max(1e-9, std::chrono::duration<double>(Clock::now() - begun).count());
    }
}

// Whether most of the work is done in single precision.
bool in_single(const Rows& rows, Method method) {
    if (!has_single_precision(rows)) return false;
    return method == Method::search || (method != Method::active_set && row_count(rows) > policy::small_rows);
}

void share(KernelSource& source, Method method, ThreadPool& pool, Watch& watch) {
    const bool search = method == Method::search, single = in_single(source.rows, method);
    const bool small = source.size <= (search ? policy::one_block_rows : policy::small_rows);
    if (source.is_given() && !search) return;
    if (!small && !(single ? source.fits<float>() : source.fits<double>())) return;
    if (single) source.hold<float>(pool, watch);
    else source.hold<double>(pool, watch);
}

}  // namespace

Answers solve_many(const Rows& rows, std::span<const KernelSpec> kernels, std::span<const Task> tasks, const Options& options,
                   Keep keep, ThreadPool& pool, Watch& watch, Durations& durations, const Choose& choose) {
    const std::size_t n = row_count(rows);
    std::vector<std::size_t> first_fit{0};
    for (const Task& task : tasks) first_fit.push_back(first_fit.back() + task.scales.size());
    const std::size_t fits = first_fit.back();
    Answers answers{std::vector<double>(fits * n),
                    std::vector<double>(keep == Keep::scores ? 0 : fits * n),
                    std::vector<double>(fits),
                    std::vector<double>(fits),
                    std::vector<Index>(fits),
                    std::vector<Status>(fits, Status::time_limit),
                    std::vector<std::exception_ptr>(tasks.size())};

    // As many kernels at a time as fit the memory, in batches of even size; all if no matrix fits and none is held.
    const bool single = in_single(rows, options.method);
    const double bytes = single ? KernelSource::bytes<float>(n) : KernelSource::bytes<double>(n);
    const bool held = bytes <= options.cache_bytes || static_cast<Index>(n) <= policy::one_block_rows;
    const double fitting = held ? std::clamp(options.cache_bytes / bytes, 1.0, 1e6) : 1e6;
    const std::size_t most = std::max<std::size_t>(1, std::min<std::size_t>(kernels.size(), fitting));
    const std::size_t batches = (kernels.size() + most - 1) / most;
    std::set<std::size_t> rounds;
    for (const Task& task : tasks) rounds.insert(task.round);
    Wanted wanted(fits, true);
    Crew crew(watch);
    for (std::size_t b = 0, first = 0; b < batches; ++b) {
        const std::size_t last = first + (kernels.size() - first + batches - b - 1) / (batches - b);
        std::deque<KernelSource> sources;
        for (std::size_t k = first; k < last && !watch.expired(); ++k) {
            sources.emplace_back(kernels[k], rows, options.cache_bytes);
            share(sources.back(), options.method, pool, watch);
        }
        for (const std::size_t round : rounds) {
            std::vector<std::size_t> now;
            for (std::size_t t = 0; t < tasks.size(); ++t)
                if (tasks[t].round == round && tasks[t].kernel >= first && tasks[t].kernel < first + sources.size()) now.push_back(t);
            pool.run(std::ssize(now), [&](Index p) {
                const std::size_t t = now[p];
                answers.failures[t] = crew.guarded([&](Watch& own) {
                    run(tasks[t], sources[tasks[t].kernel - first], options, first_fit[t], wanted, answers, own, durations);
                });
            });
            crew.check();
            if (!choose || now.empty()) continue;
            choose(answers, wanted);
            for (std::size_t fit = 0; fit < fits; ++fit)
                if (!wanted[fit]) durations[fit] = std::numeric_limits<double>::quiet_NaN();
        }
        first = last;
    }
    return answers;
}

}  // namespace abstain
