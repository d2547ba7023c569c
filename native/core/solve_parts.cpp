#include "solve_parts.hpp"

#include <algorithm>
#include <optional>

#include "bias.hpp"
#include "crew.hpp"
#include "part_values.hpp"
#include "policy.hpp"

namespace abstain {

Problem part_of(const Problem& all, const Parts& parts, Index p) {
    const Index first = parts.starts[p];
    return {parts.starts[p + 1] - first, all.sign + first, all.weight + first, all.kind + first, all.losses, all.total};
}

namespace {

// The rows of one part; `values` has what must be copied.
Rows rows_of(const DenseRows& X, std::span<const Index> which, Aligned<double>& values) {
    values.resize(std::ssize(which) * X.features);
    for (std::size_t a = 0; a < which.size(); ++a)
        std::copy_n(X.values + which[a] * X.features, X.features, values.data() + static_cast<Index>(a) * X.features);
    return DenseRows{values.data(), std::ssize(which), X.features};
}

// All rows of a matrix are read where they are; of others the values are copied, to where pair steps can read them.
Rows rows_of(const GramRows& K, std::span<const Index> which, Aligned<double>& values) {
    const Index size = std::ssize(which), stride = rounded_up(size, block_rows<double>);
    const std::vector<Run> runs = runs_of(which);
    if (size == K.rows && runs.size() == 1) return K;
    values.resize(size * stride);
    for (Index a = 0; a < size; ++a) {
        double* to = values.data() + a * stride;
        for (const Run& run : runs) to = std::copy_n(K.values + which[a] * K.stride + run.first, run.count, to);
        std::fill(to, values.data() + (a + 1) * stride, 0.0);
    }
    return GramRows{values.data(), size, stride};
}

// The kernel values are given, or made for each part if `values_first`; else the solver makes its own.
PartAnswers solve_each(const Problem& problem, const KernelSpec& spec, const PartedRows& X, const Parts& parts,
                       const Options& options, bool values_first, ThreadPool& pool, Watch& watch) {
    const std::size_t count = parts.count();
    PartAnswers answers{std::vector<double>(problem.size), std::vector<double>(problem.size), std::vector<Index>(count),
                        std::vector<Status>(count, Status::time_limit)};
    std::optional<PartValues> made;
    std::optional<ScaledRows<float>> scaled;
    std::optional<ScaledRows<double>> exact;
    const auto* dense = std::get_if<DenseRows>(&X);
    if (dense && values_first) made.emplace(spec, *dense, parts, pool, watch);
    else if (dense) scaled.emplace(spec, *dense), exact.emplace(spec, *dense);
    const Index all = std::visit([](const auto& some) { return some.rows; }, X);
    Crew crew(watch);
    std::vector<std::exception_ptr> failures(count);
    pool.run(parts.count(), [&](Index p) {
        failures[p] = crew.guarded([&](Watch& own) {
            if (own.expired()) {
                answers.status[p] = own.status();
                return;
            }
            const std::span<const Index> which = parts.of(p);
            const Index first = parts.starts[p], size = std::ssize(which);
            Aligned<double> values;
            const Rows rows = made ? made->of(p, values) : std::visit([&](const auto& some) { return rows_of(some, which, values); }, X);
            KernelSource source(spec, rows, options.cache_bytes);
            if (scaled) source.scaled_as(*scaled, which);
            ThreadPool alone(1);
            Options part_options = options;
            part_options.one_of_many = true;
            part_options.some_rows = size < all;
            const Outcome outcome = Fitter(source, part_options, alone, own).fit(part_of(problem, parts, p), nullptr);
            answers.iterations[p] = outcome.iterations;
            answers.status[p] = outcome.status;
            double* beta = answers.beta.data() + first;
            std::copy(outcome.beta.begin(), outcome.beta.end(), beta);
            double* F = answers.expansion.data() + first;
            if (exact) expand_part(*exact, which, beta, F, own);
            else expand_part(std::get<GramRows>(rows), all_rows(size), beta, F, own);
        });
    });
    crew.check();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return answers;
}

}  // namespace

// All values at once where they are so few that they stay in the processor's cache.
PartAnswers solve_parts(const Problem& problem, const KernelSpec& spec, const PartedRows& given, const Parts& parts,
                        const Options& options, bool values_first, ThreadPool& pool, Watch& watch) {
    const auto* few = std::get_if<DenseRows>(&given);
    if (!values_first || !few || KernelSource::bytes<double>(few->rows) > policy::values_in_cache)
        return solve_each(problem, spec, given, parts, options, values_first, pool, watch);
    const std::vector<Index> all = all_rows(few->rows), ends{0, few->rows};
    const PartValues matrix(spec, *few, {all, ends}, pool, watch);
    Aligned<double> unused;
    return solve_each(problem, spec, matrix.of(0, unused), parts, options, false, pool, watch);
}

std::vector<double> best_biases(const Problem& problem, const Parts& parts, const double* expansion) {
    std::vector<double> biases;
    for (Index p = 0; p < parts.count(); ++p)
        biases.push_back(best_bias(part_of(problem, parts, p), {expansion + parts.starts[p], expansion + parts.starts[p + 1]}));
    return biases;
}

}  // namespace abstain
