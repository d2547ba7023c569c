// Every loop and whole fits give the same bits on all instruction sets that this processor has. Control: loops that fuse
// products and sums, as a compiler does unless it is told not to, differ in every sum.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "aligned.hpp"
#include "cases.hpp"
#include "embedded/primal.hpp"
#include "lanes/dispatch.hpp"
#include "random.hpp"
#include "solve.hpp"

using namespace abstain;
using namespace abstain::testing;

extern const LaneSet fused_lanes;

namespace {

// Bytes by what computed them.
class Answers {
  public:
    template <class T> void add(const std::string& name, const T* values, std::size_t count) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(values);
        auto& all = bytes_[name];
        all.insert(all.end(), bytes, bytes + count * sizeof(T));
    }
    template <class Values> void add(const std::string& name, const Values& values) { add(name, values.data(), values.size()); }
    std::vector<std::string> unlike(const Answers& other) const {
        assert(bytes_.size() == other.bytes_.size() && !bytes_.empty());
        std::vector<std::string> names;
        for (const auto& [name, bytes] : bytes_)
            if (bytes != other.bytes_.at(name)) names.push_back(name);
        return names;
    }

  private:
    std::map<std::string, std::vector<unsigned char>> bytes_;
};

template <class T> Aligned<T> drawn(Random& random, std::size_t size, double scale = 1) {
    Aligned<T> values(size);
    for (T& v : values) v = static_cast<T>(scale * random.normal());
    return values;
}

template <class T> void kernels(const Lanes<T>& lane, const std::string& precision, Answers& answers) {
    constexpr int B = block_rows<T>, support = 72, tiles = support / support_tile;
    constexpr int names = std::size(kernel_names);
    for (int form = 0; form < names + 2; ++form)
        for (int features : {1, 3, 17}) {
            Random random(static_cast<std::uint64_t>(features));
            const auto block = drawn<T>(random, B * features), half = drawn<T>(random, B), packed = drawn<T>(random, support * features),
                       packed_half = drawn<T>(random, support), coef = drawn<T>(random, support);
            const bool by_difference = form >= names;
            const KernelName name = form < names ? static_cast<KernelName>(form) : form == names ? KernelName::rbf : KernelName::laplacian;
            const Shape<T> shape{name, by_difference, features, T(0.5), 3};
            Aligned<T> out(support * B), row(B);
            std::vector<T*> rows;
            for (int i = 0; i < support; ++i) rows.push_back(out.data() + i * B);
            std::vector<double> sums(B, 1.0), combined(B, 1.0);
            lane.values(shape, block.data(), half.data(), packed.data(), packed_half.data(), tiles, rows.data(), 0, B);
            lane.accumulate(shape, block.data(), half.data(), packed.data(), packed_half.data(), coef.data(), tiles, sums.data());
            lane.row(shape, block.data(), half.data(), packed.data(), packed_half[0], row.data());
            std::vector<const T*> views(rows.begin(), rows.end());
            lane.combine(views.data(), coef.data(), support, 0, B, combined.data());
            answers.add(precision + " values", out);
            answers.add(precision + " accumulate", sums);
            answers.add(precision + " row", row);
            answers.add(precision + " combine", combined);
        }
}

template <class T> void pairs_and_sums(const Lanes<T>& lane, const std::string& precision, Answers& answers) {
    constexpr std::size_t size = 192;
    for (std::uint64_t seed = 1; seed < 40; ++seed) {
        Random random(seed);
        auto F = drawn<T>(random, size), Ki = drawn<T>(random, size), Kj = drawn<T>(random, size), up = drawn<T>(random, size),
             down = drawn<T>(random, size);
        Aligned<T> diagonal(size, T(6));
        if (seed % 2)  // many nearly equal gains, where the order of comparisons shows
            for (std::size_t i = 0; i < size; ++i) Ki[i] = T(0.5) + T(1e-7) * Ki[i], down[i] = F[i] = T(0);
        const Rising<T> rising = lane.step(size, F.data(), Ki.data(), Kj.data(), T(0.3), T(-0.7), up.data());
        const Falling<T> falling = lane.partner(size, F.data(), Ki.data(), diagonal.data(), down.data(), T(6), T(2));
        answers.add(precision + " step", F);
        answers.add(precision + " step", &rising.gain, 1), answers.add(precision + " step", &rising.index, 1);
        answers.add(precision + " partner", &falling.lowest, 1), answers.add(precision + " partner", &falling.index, 1);
        for (long n = 0; n < 150; n += 7) {
            const T dot = lane.dot(up.data(), down.data(), n);
            answers.add(precision + " dot", &dot, 1);
        }
        T products[dots_side * dots_side];
        lane.dots(up.data(), 30, F.data(), 29, 37, products);
        answers.add(precision + " dots", products, dots_side * dots_side);
        lane.add(F.data(), up.data(), T(0.3), 131);
        answers.add(precision + " add", F);
    }
}

template <class T> void linear(const LinearLanes<T>& lane, const std::string& precision, Answers& answers) {
    for (long features : {1, 7, 8, 20, 37}) {
        constexpr long rows = 23;
        Random random(static_cast<std::uint64_t>(features));
        const auto X = drawn<T>(random, rows * features);
        const auto centre = drawn<double>(random, features), p = drawn<double>(random, features), coef = drawn<double>(random, rows);
        std::vector<double> scores(rows), sums(features, 1.0);
        std::vector<long> which;
        for (long i = 0; i < rows; ++i) which.push_back(rows - 1 - i);
        lane.rows_times(X.data(), centre.data(), rows, features, p.data(), scores.data());
        lane.rows_sum(X.data(), centre.data(), which.data(), coef.data(), rows, features, sums.data());
        for (long i = 0; i < rows; ++i) {  // near what they should be, too
            double score = 0;
            for (long j = 0; j < features; ++j) score += (static_cast<double>(X[i * features + j]) - centre[j]) * p[j];
            assert(std::abs(score - scores[i]) < 1e-12 * static_cast<double>(features));
        }
        answers.add(precision + " rows_times", scores);
        answers.add(precision + " rows_sum", sums);
    }
}

// Coordinate descent on eight problems side by side: a compressed row's products and sums, and what a row answers.
template <class T> void eight(const LinearLanes<T>& lane, const std::string& precision, Answers& answers) {
    for (long count : {0, 1, 2, 9}) {
        constexpr long features = 40;
        Random random(static_cast<std::uint64_t>(count) + 1);
        const auto values = drawn<T>(random, count);
        std::vector<int> columns;
        for (long k = 0; k < count; ++k) columns.push_back(static_cast<int>(4 * k + 1));
        auto w = drawn<double>(random, 8 * features);
        const auto before = w, factor = drawn<double>(random, 8);
        std::vector<double> found(8);
        lane.eight_times(values.data(), columns.data(), count, w.data(), found.data());
        lane.eight_add(values.data(), columns.data(), count, factor.data(), w.data());
        for (int l = 0; l < 8; ++l) {  // near what they should be, too
            double score = 0;
            for (long k = 0; k < count; ++k) {
                const double x = static_cast<double>(values[k]);
                score += x * before[8 * columns[k] + l];
                assert(std::abs(w[8 * columns[k] + l] - (before[8 * columns[k] + l] + factor[l] * x)) < 1e-12);
            }
            assert(std::abs(score - found[l]) < 1e-12);
        }
        answers.add(precision + " eight_times", found);
        answers.add(precision + " eight_add", w);
    }
}

void descent(const DescentLanes& lane, const std::string& name, long L, Answers& answers) {
    for (int pieces : {1, 2, 3}) {
        Random random(static_cast<std::uint64_t>(pieces));
        Aligned<double> sign = drawn<double>(random, L), slope, edge, gamma, live;
        for (double& y : sign) y = y < 0 ? -1 : 1;
        for (int k = 0; k < pieces; ++k)
            for (long l = 0; l < L; ++l) slope.push_back(1.0 - 0.5 * k), edge.push_back(0.3 + 0.4 * k);
        for (long l = 0; l < L; ++l) gamma.push_back(0.03 * static_cast<double>(l)), live.push_back(l % 3 != 2);
        auto bias = drawn<double>(random, L), excess = drawn<double>(random, L), score = drawn<double>(random, L);
        const Aligned<double> stretch(L, 0.2), none(L, 0.0);
        Aligned<double> change = none, margins = none, gap = none, gaps = none, room = none, total = none, sums = none;
        const RowBeside row{sign.data(), slope.data(), edge.data(), gamma.data(), 1.7, pieces};
        const Beside all{bias.data(), excess.data(), stretch.data(), live.data()};
        lane.row_room(row, all, 1e-12, room.data(), total.data());
        lane.respond(row, all, score.data(), 1e-12, change.data());
        for (long l = 0; l < L; ++l) assert(live[l] != 0 || change[l] == 0);
        lane.row_gap(row, all, score.data(), margins.data(), gap.data(), gaps.data());
        for (const double each : gap) assert(each >= -1e-12);
        lane.loss_sums(slope.data(), edge.data(), pieces, margins.data(), live.data(), 1, sums.data());
        for (const auto* each : {&room, &total, &change, &gamma, &bias, &excess, &margins, &gap, &gaps, &sums})
            answers.add(name, *each);
    }
}

void steps_and_outer(const LaneSet& set, Answers& answers) {
    Random random(3);
    constexpr long blocks = 3, features = 5, n = blocks * block_rows<double>;
    const auto rows = drawn<double>(random, n * features), point = drawn<double>(random, features, 0.7);
    auto weight = drawn<double>(random, n);
    for (double& w : weight) w = std::abs(w);
    for (double steepness : {20.0, 1000.0}) {  // one exponential for three steps, and one each
        std::vector<double> gradient(features), sums(2), scratch(features * 16);
        const StepLoss loss{steepness, 0.1, 0.2, 0.7, 0.05, -0.01, 0.4};
        set.steps.losses(loss, features, rows.data(), weight.data(), point.data(), blocks, gradient.data(), sums.data(), scratch.data());
        answers.add("losses", gradient);
        answers.add("losses", sums);
    }
    const double* const views[] = {rows.data(), rows.data() + 64};
    const double factors[] = {0.3, -0.7};
    std::vector<double> out(64);
    const double least = set.steps.least_sum(weight.data(), views, factors, 2, 64, out.data());
    answers.add("least_sum", out);
    answers.add("least_sum", &least, 1);
    constexpr long stride = 48, tall = 30;
    const auto panel = drawn<double>(random, tall * stride);
    Aligned<double> H(stride * stride, 0.5);
    set.outer(panel.data(), tall, stride, 0, stride, H.data());
    for (long i = 0; i < stride; ++i) answers.add("outer", H.data() + i * stride + i, static_cast<std::size_t>(stride - i));
}

Case make_case(std::uint64_t seed, Index rows, Index features) {
    Random random(seed);
    Case c;
    c.rows = rows;
    c.features = features;
    for (Index i = 0; i < rows; ++i) {
        const std::int8_t y = random.uniform() < 0.4 ? 1 : -1;
        for (Index k = 0; k < features; ++k) c.X.push_back(random.uniform() < 0.2 ? 0 : random.normal() + 0.5 * y);
        c.sign.push_back(y);
        c.weight.push_back(0.5 + random.uniform());
    }
    give_losses(c, 2, 0.7);
    return c;
}

Answers loops(const LaneSet& set) {
    Answers answers;
    kernels(set.in_single, "single", answers), kernels(set.in_double, "double", answers);
    pairs_and_sums(set.in_single, "single", answers), pairs_and_sums(set.in_double, "double", answers);
    linear(set.linear_single, "single", answers), linear(set.linear_double, "double", answers);
    eight(set.linear_single, "single", answers), eight(set.linear_double, "double", answers);
    descent(set.descent_of_one, "descent of one", 1, answers), descent(set.descent_of_eight, "descent of eight", 8, answers);
    steps_and_outer(set, answers);
    return answers;
}

Answers fits(const LaneSet& set, int threads) {
    use_lanes(set);
    Answers answers;
    ThreadPool pool(threads);
    Watch watch;
    for (Index rows : {150, 1300})
        for (KernelName kernel : {KernelName::rbf, KernelName::linear, KernelName::poly, KernelName::sigmoid, KernelName::laplacian}) {
            if (rows > 1000 && kernel != KernelName::rbf && kernel != KernelName::laplacian) continue;  // fitted in single
            const Case c = make_case(1, rows, 6);
            const Compressed sparse = compress(c);
            const KernelSpec spec{kernel, kernel == KernelName::sigmoid ? 0.01 : 0.1, 0.5, 3};
            const std::string name = "kernel " + std::to_string(static_cast<int>(kernel)) + ", rows " + std::to_string(rows);
            const Outcome found = solve(c.problem(), spec, c.dense(), nullptr, {}, pool, watch);
            assert(found.status == Status::converged);
            answers.add(name, found.beta), answers.add(name, found.expansion);
            if (rows < 1000) answers.add(name + ", sparse", solve(c.problem(), spec, sparse.rows(6), nullptr, {}, pool, watch).beta);
        }
    const Case c = make_case(2, 80, 4);
    const std::vector<double> penalty(4, 0.5);
    const EmbeddedRows rows{c.X.data(), c.sign.data(), penalty.data(), c.rows, c.features};
    answers.add("embedded", solve_primal(rows, rows, {0.2, 0.04, 100, 0.05}, {}, {}, {5}, watch).point);
    return answers;
}

void expect_none(const std::vector<std::string>& unlike, const LaneSet& set) {
    for (const std::string& name : unlike) std::fprintf(stderr, "%s differs from %s: %s\n", set.name, lanes_v2.name, name.c_str());
    assert(unlike.empty());
}

}  // namespace

int main() {
    const Answers narrow = loops(lanes_v2), narrow_fits = fits(lanes_v2, 1);
    for (const LaneSet* set : lane_sets()) {
        expect_none(narrow.unlike(loops(*set)), *set);
        for (int threads : {1, 3}) expect_none(narrow_fits.unlike(fits(*set, threads)), *set);
    }
#ifdef ABSTAIN_X86
    if (lane_sets().size() < 2) return 0;  // no fused operations
    const std::vector<std::string> fused = narrow.unlike(loops(fused_lanes));
    for (const char* loop : {"single values", "single accumulate", "single combine", "single step", "single dot", "single add",
                             "double values", "double accumulate", "double dot", "double rows_times", "double rows_sum", "losses", "outer"})
        if (std::find(fused.begin(), fused.end(), loop) == fused.end()) std::fprintf(stderr, "%s does not show fused operations\n", loop), assert(false);
    assert(narrow_fits.unlike(fits(fused_lanes, 1)).size() > 5);
#endif
}
