#include "solve_parts.hpp"

#include <algorithm>

#include "bias.hpp"
#include "crew.hpp"
#include "dense_kernel.hpp"

namespace abstain {

namespace {

Problem part_of(const Problem& all, const Parts& parts, Index p) {
    const Index first = parts.starts[p];
    return {parts.starts[p + 1] - first, all.sign + first, all.weight + first, all.kind + first, all.losses};
}

}  // namespace

PartAnswers solve_parts(const Problem& problem, const KernelSpec& spec, const DenseRows& X, const Parts& parts,
                        const Options& options, ThreadPool& pool, Watch& watch) {
    const std::size_t count = parts.count();
    PartAnswers answers{std::vector<double>(problem.size), std::vector<Index>(count),
                        std::vector<Status>(count, Status::time_limit)};
    const ScaledRows<float> scaled(spec, X);
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
            const std::span<const Index> rows = parts.of(p);
            Aligned<double> values(std::ssize(rows) * X.features);
            for (std::size_t a = 0; a < rows.size(); ++a)
                std::copy_n(X.values + rows[a] * X.features, X.features, values.data() + static_cast<Index>(a) * X.features);
            KernelSource source(spec, DenseRows{values.data(), std::ssize(rows), X.features}, options.cache_bytes);
            source.scaled_as(scaled, rows);
            ThreadPool alone(1);
            const Outcome outcome = Fitter(source, own_options, alone, own).fit(part_of(problem, parts, p), nullptr);
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
