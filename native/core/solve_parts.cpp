#include "solve_parts.hpp"

#include <algorithm>
#include <optional>

#include "bias.hpp"
#include "crew.hpp"
#include "dense_kernel.hpp"

namespace abstain {

namespace {

Problem part_of(const Problem& all, const Parts& parts, Index p) {
    const Index first = parts.starts[p];
    return {parts.starts[p + 1] - first, all.sign + first, all.weight + first, all.kind + first, all.losses, all.total};
}

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

}  // namespace

PartAnswers solve_parts(const Problem& problem, const KernelSpec& spec, const PartedRows& X, const Parts& parts,
                        const Options& options, ThreadPool& pool, Watch& watch) {
    const std::size_t count = parts.count();
    PartAnswers answers{std::vector<double>(problem.size), std::vector<Index>(count),
                        std::vector<Status>(count, Status::time_limit)};
    std::optional<ScaledRows<float>> scaled;
    if (const auto* dense = std::get_if<DenseRows>(&X)) scaled.emplace(spec, *dense);
    Options own_options = options;
    own_options.one_of_many = true;
    Crew crew(watch);
    std::vector<std::exception_ptr> failures(count);
    pool.run(parts.count(), [&](Index p) {
        failures[p] = crew.guarded([&](Watch& own) {
            if (own.expired()) {
                answers.status[p] = own.status();
                return;
            }
            Aligned<double> values;
            const Rows rows = std::visit([&](const auto& all) { return rows_of(all, parts.of(p), values); }, X);
            KernelSource source(spec, rows, options.cache_bytes);
            if (scaled) source.scaled_as(*scaled, parts.of(p));
            ThreadPool alone(1);
            Options part_options = own_options;
            part_options.some_rows = std::ssize(parts.of(p)) < std::visit([](const auto& all) { return all.rows; }, X);
            const Outcome outcome = Fitter(source, part_options, alone, own).fit(part_of(problem, parts, p), nullptr);
            std::copy(outcome.beta.begin(), outcome.beta.end(), answers.beta.begin() + parts.starts[p]);
            answers.iterations[p] = outcome.iterations;
            answers.status[p] = outcome.status;
        });
    });
    crew.check();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return answers;
}

std::vector<double> best_biases(const Problem& problem, const Parts& parts, const double* expansion) {
    std::vector<double> biases;
    for (Index p = 0; p < parts.count(); ++p)
        biases.push_back(best_bias(part_of(problem, parts, p), {expansion + parts.starts[p], expansion + parts.starts[p + 1]}));
    return biases;
}

}  // namespace abstain
