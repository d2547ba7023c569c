// Many tasks over shared kernel values give what separate solves give: folds, widths and C, signs, losses and starts.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "cases.hpp"
#include "random.hpp"
#include "solve_many.hpp"

using namespace abstain;
using namespace abstain::testing;

namespace {

Case make_case(std::uint64_t seed, Index rows, Index features, int pieces) {
    Random random(seed);
    Case c;
    c.rows = rows;
    c.features = features;
    for (Index i = 0; i < rows; ++i) {
        c.sign.push_back(random.uniform() < 0.4 ? 1 : -1);
        for (Index k = 0; k < features; ++k) c.X.push_back(random.normal() + 0.7 * c.sign.back());
        c.weight.push_back(i % 10 == 9 ? 0.0 : 0.5 + random.uniform());
    }
    give_losses(c, pieces, 0.7);
    return c;
}

KernelSpec rbf(double gamma) { return {KernelName::rbf, gamma, 0, 3}; }

// A machine trained on the rows of positive weight alone, exactly; its scores of all rows, by the kernel's definition.
std::vector<double> separate(const Case& c, const KernelSpec& spec, const std::vector<double>& weights, double C) {
    Case part;
    part.features = c.features;
    part.losses = c.losses;
    for (Index i = 0; i < c.rows; ++i) {
        if (weights[i] == 0) continue;
        part.X.insert(part.X.end(), c.row(i), c.row(i + 1));
        part.sign.push_back(c.sign[i]);
        part.kind.push_back(c.kind[i]);
        part.weight.push_back(C * weights[i]);
    }
    part.rows = std::ssize(part.sign);
    Options options;
    options.method = Method::active_set;
    ThreadPool pool(1);
    Watch watch;
    const Problem problem = part.problem();
    Outcome outcome = solve(problem, spec, part.dense(), nullptr, options, pool, watch);
    assert(outcome.status == Status::converged);
    std::vector<double> scores;
    for (Index i = 0; i < c.rows; ++i) {
        double f = outcome.bias;
        for (Index j = 0; j < part.rows; ++j) f += outcome.beta[j] * kernel(spec, c.row(i), part.row(j), c.features);
        scores.push_back(f);
    }
    return scores;
}

// Three folds for each of the kernels.
struct Folds {
    std::vector<double> weights[3];
    std::vector<Task> tasks;
    std::vector<KernelSpec> kernels;

    Folds(const Case& c, const std::vector<KernelSpec>& specs, const std::vector<double>& Cs) : kernels(specs) {
        for (Index fold = 0; fold < 3; ++fold)
            for (Index i = 0; i < c.rows; ++i) weights[fold].push_back(i % 3 != fold ? c.weight[i] : 0.0);
        for (std::size_t k = 0; k < kernels.size(); ++k)
            for (const auto& weight : weights) {
                tasks.push_back({c.problem(), Cs, nullptr, k});
                tasks.back().problem.weight = weight.data();
            }
    }
};

Answers run(const Rows& rows, std::span<const KernelSpec> kernels, std::span<const Task> tasks, const Options& options,
            int threads, Watch&& watch = Watch()) {
    ThreadPool pool(threads);
    Durations durations(number_of_fits(tasks));
    Answers answers = solve_many(rows, kernels, tasks, options, Keep::coefficients_too, pool, watch, durations);
    for (std::size_t fit = 0; fit < durations.size(); ++fit)
        assert((durations[fit] > 0) == (answers.status[fit] != Status::time_limit));
    return answers;
}

Options search(double tol) { return {Method::search, tol}; }

double score(const Answers& answers, std::size_t fit, Index rows, Index i) {
    return answers.expansion[fit * rows + i] + answers.bias[fit];
}

void check_folds(const Case& c, const std::vector<KernelSpec>& kernels, int threads) {
    const std::vector<double> Cs = c.rows > 1000 ? std::vector{0.5, 2.0} : std::vector{0.1, 1.0, 7.0};
    const Folds folds(c, kernels, Cs);
    const Answers result = run(c.dense(), kernels, folds.tasks, search(1e-4), threads);
    double worst = 0, apart = 0;
    std::size_t fit = 0;
    for (const Task& task : folds.tasks)
        for (const double C : Cs) {
            assert(result.status[fit] == Status::converged);
            if (c.rows > 1000 && fit % 5) {  // exact answers for a few of them are enough
                ++fit;
                continue;
            }
            const auto expected = separate(c, kernels[task.kernel], folds.weights[(&task - folds.tasks.data()) % 3], C);
            for (Index i = 0; i < c.rows; ++i) {
                worst = std::max(worst, std::abs(score(result, fit, c.rows, i) - expected[i]));
                // control: the next fit has other scores
                apart = std::max(apart, std::abs(score(result, (fit + 1) % result.status.size(), c.rows, i) - expected[i]));
            }
            ++fit;
        }
    if (!(worst < 0.01)) std::printf("rows %ld pieces %d: %g\n", long(c.rows), c.losses.pieces, worst);
    assert(worst < 0.01);  // what a violation of 1e-4 leaves of the scores
    assert(apart > 0.1);

    const Answers again = run(c.dense(), kernels, folds.tasks, search(1e-4), 3 - threads);
    assert(again.expansion == result.expansion && again.beta == result.beta && again.bias == result.bias);
    if (kernels.size() > 1 && c.rows > 1000) return;
    if (kernels.size() > 1) {
        Options tight = search(1e-4);  // one matrix at a time
        tight.cache_bytes = KernelSource::bytes<float>(c.rows);
        assert(run(c.dense(), kernels, folds.tasks, tight, threads).expansion == result.expansion);
        return;
    }
    const auto K = gram_of(kernels[0], c);
    const Answers given = run(GramRows{K.data(), c.rows}, kernels, folds.tasks, search(1e-4), threads);
    for (fit = 0; fit < given.status.size(); ++fit)
        for (Index i = 0; i < c.rows; ++i) assert(std::abs(score(given, fit, c.rows, i) - score(result, fit, c.rows, i)) < 0.02);
}

// Tasks with their own signs, weights, losses and starts, by every method and for every layout, against single solves.
void check_classes(Index rows, double allowed) {
    const Case c = make_case(4, rows, 3, 2);
    const KernelSpec spec = rbf(0.4);
    std::vector<Case> classes;
    for (int k = 0; k < 3; ++k) {
        Case one = c;
        one.losses = losses_of(2, k + 1, 0.5);
        for (Index i = 0; i < c.rows; ++i) {
            one.sign[i] = i % 3 == k ? 1 : -1;
            one.kind[i] = one.sign[i] > 0;
            one.weight[i] *= 1 + k;
        }
        classes.push_back(one);
    }
    const std::vector<double> nonsense(rows, 1.0);
    std::vector<Task> tasks;
    for (const Case& one : classes) tasks.push_back({one.problem(), {0.5, 2.0}, tasks.empty() ? nonsense.data() : nullptr});
    const auto K = gram_of(spec, c);
    const Compressed s = compress(c);
    const Rows layouts[] = {c.dense(), s.rows(c.features), GramRows{K.data(), c.rows}};
    for (const Method method : {Method::automatic, Method::pairs, Method::active_set, Method::search})
        for (const Rows& layout : layouts) {
            if (rows > 1000 && (method == Method::active_set || !std::holds_alternative<DenseRows>(layout))) continue;
            Options options;
            options.method = method;
            options.tol = 1e-4;
            const Answers one = run(layout, {&spec, 1}, tasks, options, 1), two = run(layout, {&spec, 1}, tasks, options, 2);
            assert(one.beta == two.beta && one.expansion == two.expansion && one.bias == two.bias && one.status == two.status);
            for (std::size_t fit = 0; fit < 6; ++fit) {
                assert(one.status[fit] == Status::converged);
                Case part = classes[fit / 2];
                for (double& w : part.weight) w *= fit % 2 ? 2.0 : 0.5;
                const double worst = violation(part.problem(), K, one.beta.data() + fit * rows);
                const bool exact = method == Method::active_set || (method == Method::automatic && rows <= 1000);
                if (!(worst < (exact ? 1e-8 : allowed))) std::printf("rows %ld method %d: %g\n", long(rows), int(method), worst);
                assert(worst < (exact ? 1e-8 : allowed));
            }
        }
}

// Under the linear kernel, which is centred, F and the bias still belong together.
void check_linear_bias() {
    Case c = make_case(2, 90, 3, 2);
    for (double& x : c.X) x += 50;
    const KernelSpec spec{KernelName::linear, 1, 0, 3};
    const Task task{c.problem(), {0.01, 0.1}};
    for (const Method method : {Method::automatic, Method::search}) {
        const Answers answers = run(c.dense(), {&spec, 1}, {&task, 1}, {method, 1e-5}, 1);
        const auto expected = separate(c, spec, c.weight, 0.1);
        for (Index i = 0; i < c.rows; ++i) assert(std::abs(score(answers, 1, c.rows, i) - expected[i]) < 0.01);
    }
}

std::vector<double> many_Cs() {
    std::vector<double> Cs;
    for (int k = 0; k < 40; ++k) Cs.push_back(std::pow(10.0, 0.1 * k));
    return Cs;
}

// An interrupt ends everything at once; asked to finish, it keeps what it has.
void check_interrupt() {
    const Case c = make_case(9, 600, 4, 2);
    const Folds folds(c, {rbf(0.5), rbf(0.1)}, many_Cs());
    int asked = 0;
    bool stopped = false;
    try {  // only once, as a signal is seen once
        run(c.dense(), folds.kernels, folds.tasks, search(1e-3), 2,
            Watch([&](Index, double) { return asked++ == 0 ? Watch::Answer::interrupt : Watch::Answer::go_on; }));
    } catch (const Interrupted&) {
        stopped = true;
    }
    assert(stopped && asked == 1);

    const Answers cut =
        run(c.dense(), folds.kernels, folds.tasks, search(1e-3), 2, Watch([](Index, double) { return Watch::Answer::finish; }));
    const auto unfinished = std::count(cut.status.begin(), cut.status.end(), Status::time_limit);
    assert(unfinished > 100);
}

// When the time is up nothing more is begun, and what is not done says so.
void check_time() {
    const Case c = make_case(9, 600, 4, 2);
    const Folds folds(c, {rbf(0.5), rbf(0.1)}, {1, 10, 100});
    for (double seconds : {0.0, 1e9}) {
        const Answers answers = run(c.dense(), folds.kernels, folds.tasks, search(1e-3), 2, Watch({}, seconds));
        for (const Status status : answers.status) assert(status == (seconds > 0 ? Status::converged : Status::time_limit));
    }
}

// A task that throws leaves the others as they would be without it.
void check_failure() {
    const Case c = make_case(9, 600, 4, 2);
    const std::vector<double> Cs{1, 2, 4, 8, 16, 32};
    const Folds folds(c, {rbf(0.5), rbf(0.1)}, Cs);
    const Answers well = run(c.dense(), folds.kernels, folds.tasks, search(1e-3), 2);
    for (const auto& failure : well.failures) assert(!failure);
    bool thrown = false;
    Durations durations(number_of_fits(folds.tasks));
    const auto any_done = [&] { return std::any_of(durations.begin(), durations.end(), [](double s) { return s > 0; }); };
    Watch watch([&](Index, double) {
        if (any_done() && !std::exchange(thrown, true)) throw std::bad_alloc();
        return Watch::Answer::go_on;
    });
    ThreadPool pool(2);
    const Answers ill = solve_many(c.dense(), folds.kernels, folds.tasks, search(1e-3), Keep::scores, pool, watch, durations);
    int failures = 0;
    for (std::size_t t = 0; t < folds.tasks.size(); ++t) {
        failures += ill.failures[t] != nullptr;
        const std::size_t entries = Cs.size() * 600;
        for (std::size_t e = t * entries; !ill.failures[t] && e < (t + 1) * entries; ++e)
            assert(ill.expansion[e] == well.expansion[e]);
    }
    assert(failures == 1 && ill.beta.empty());
}

// Columns of very different scale, on which pair steps crawl: the active set takes over.
void check_ill_conditioned() {
    Case c = make_case(5, 120, 3, 2);
    for (std::size_t k = 0; k < c.X.size(); k += 3) c.X[k] *= 1000;
    const Folds folds(c, {{KernelName::linear, 1, 0, 3}}, {1, 100});
    const Answers result = run(c.dense(), folds.kernels, folds.tasks, search(1e-4), 1);
    for (std::size_t fit = 0; fit < 6; ++fit) {
        assert(result.status[fit] == Status::converged);
        const auto expected = separate(c, folds.kernels[0], folds.weights[fit / 2], fit % 2 ? 100 : 1);
        for (Index i = 0; i < c.rows; ++i) assert(std::abs(score(result, fit, c.rows, i) - expected[i]) < 0.01);
    }
}

// After each of three rounds it is known what has ended; what is then left out of later ones is not done.
void check_rounds() {
    const Case c = make_case(9, 300, 4, 2);
    Folds folds(c, {rbf(0.5), rbf(0.1)}, {1, 10, 100});
    const Answers whole = run(c.dense(), folds.kernels, folds.tasks, search(1e-3), 2);
    for (std::size_t t = 0; t < 6; ++t) folds.tasks[t].round = t % 3 * 1'000'000'000'000;
    Durations durations(18); ThreadPool pool(2); Watch watch;
    std::size_t calls = 0;
    const Answers some = solve_many(c.dense(), folds.kernels, folds.tasks, search(1e-3), Keep::scores, pool, watch, durations,
                                    [&](const Answers& answers, Wanted& wanted) {
        for (std::size_t fit = 0; fit < 18; ++fit) {
            assert((answers.status[fit] == Status::converged) == (fit / 3 % 3 <= calls && wanted[fit]));
            if (fit / 3 % 3 > calls && fit % 3 == 2) wanted[fit] = false;  // the largest C
        }
        ++calls;
    });
    for (std::size_t e = 0; e < 18 * 300; ++e) assert(some.expansion[e] == (std::isnan(durations[e / 300]) ? 0 : whole.expansion[e]));
    assert(calls == 3 && std::isnan(durations[5]) && durations[2] > 0);
}

}  // namespace

int main() {
    for (int pieces : {1, 2, 3}) {
        const Case c = make_case(static_cast<std::uint64_t>(pieces), 90, 3, pieces);
        check_folds(c, {rbf(0.5), rbf(0.1)}, 2);
        check_folds(c, {{KernelName::linear, 1, 0, 3}}, 1);
    }
    check_folds(make_case(7, 2100, 3, 2), {rbf(1.0), rbf(0.3)}, 2);  // beyond one block
    check_classes(120, 2e-4);
    check_classes(1100, 3e-4);
    check_linear_bias();
    check_interrupt();
    check_time();
    check_failure();
    check_ill_conditioned();
    check_rounds();
}
