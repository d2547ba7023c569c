// The linear machine's sums over blocks of rows, for abstain.solvers.
#include <nanobind/stl/optional.h>

#include <atomic>
#include <limits>

#include "linear/block_sums.hpp"
#include "linear/linear_interior.hpp"
#include "linear/row_check.hpp"
#include "newton.hpp"
#include "rows.hpp"

using namespace nanobind::literals;

namespace abstain::bind {

namespace {

// Rows and everything they point into. The arrays are held by themselves: the caller's dict may lose them.
struct HeldRows {
    LinearRows rows;
    std::vector<nb::ndarray<>> arrays;
    Indices own;
};

template <class T> HeldRows dense_rows(const View<T, 2>& X, const nb::dict& data) {
    require(X.shape(0) > 0 && X.shape(1) > 0, "X must have at least one row and one column");
    const auto centre = entry<Vector>(data, "centre");
    require(centre.shape(0) == X.shape(1), "centre must have an entry per column of X");
    const DenseLinearRows<T> rows{X.data(), centre.data(), static_cast<Index>(X.shape(0)), static_cast<Index>(X.shape(1))};
    return {rows, {nb::ndarray<>(X), nb::ndarray<>(centre)}, {}};
}

template <class T> HeldRows sparse_rows(const View<T, 1>& values, const nb::dict& data) {
    const auto starts = entry<View<std::int64_t, 1>>(data, "starts");
    const auto columns = entry<View<std::int32_t, 1>>(data, "columns");
    require(data.contains("features"), "features is missing");
    const auto features = plain<Index>(data["features"], "features must be a whole number");
    Indices own{{starts.data(), starts.data() + starts.shape(0)}, {columns.data(), columns.data() + columns.shape(0)}};
    const Index lengths[] = {static_cast<Index>(starts.shape(0)), static_cast<Index>(columns.shape(0)),
                             static_cast<Index>(values.shape(0))};
    const SparseRows checked{nullptr, own.columns.data(), own.starts.data(), lengths[0] - 1, features};
    if (const char* rule = fault(checked, lengths[0], lengths[1], lengths[2])) throw nb::value_error(rule);
    require(checked.rows > 0 && features > 0 && features <= std::numeric_limits<std::int32_t>::max(),
            "there must be at least one row, and from 1 to 2^31 - 1 features");
    const SparseLinearRows<T> rows{values.data(), own.columns.data(), own.starts.data(), checked.rows, features};
    return {rows, {nb::ndarray<>(values)}, std::move(own)};  // a moved vector keeps its place
}

HeldRows rows_of(const nb::dict& data) {
    if (!data.contains("X")) {
        View<float, 1> single;
        if (data.contains("values") && nb::try_cast(data["values"], single, false)) return sparse_rows(single, data);
        return sparse_rows(entry<Vector>(data, "values"), data);
    }
    View<float, 2> single;
    if (nb::try_cast(data["X"], single, false)) return dense_rows(single, data);
    return dense_rows(entry<Matrix>(data, "X"), data);
}

Index count_of(const LinearRows& rows) {
    return std::visit([](const auto& some) { return some.rows; }, rows);
}

// The threads of a block and of those beside it, which one call at a time may use.
struct Crew {
    ThreadPool pool;
    std::atomic<bool> busy{false};

    explicit Crew(int threads) : pool(threads) {}
};

template <class Work>
auto run(Crew& crew, Work&& work, double seconds = std::numeric_limits<double>::infinity(), const nb::object& report = nb::none()) {
    require(!crew.busy.exchange(true), "the block, or one that shares its threads, is in use by another call");
    struct Release {
        Crew& crew;
        ~Release() { crew.busy = false; }
    } release{crew};
    return without_lock(report, seconds, work);
}

Index features_of(const LinearRows& rows) {
    return std::visit([](const auto& some) { return some.features; }, rows);
}

// The block together with everything it borrows. The lock is released during a call, so another thread, or a signal's
// handler, could begin a second one: it is refused.
class Block {
  public:
    // `beside`: a block whose threads this one shares.
    Block(const nb::dict& data, Signs sign, Vector weight, Kinds kind, Matrix knots, Matrix slopes, int threads,
          const Block* beside)
        : inputs_{kept(sign), weight, kept(kind), table_of(knots, slopes)}, held_(rows_of(data)),
          crew_(beside ? beside->crew_ : std::make_shared<Crew>(threads)),
          block_(held_.rows, inputs_.problem(count_of(held_.rows)), std::shared_ptr<ThreadPool>(crew_, &crew_->pool)) {}

    void score(Vector point) {
        check(point);
        run(*crew_, [&](Watch& watch) { block_.score(point.data(), watch); });
    }
    void along(Vector direction) {
        check(direction);
        run(*crew_, [&](Watch& watch) { block_.along(direction.data(), watch); });
    }
    void move(double step) {
        run(*crew_, [&](Watch&) { block_.move(step); });
    }
    auto slopes(double sigma, Vector steps) {
        const std::vector<double> at(steps.data(), steps.data() + steps.shape(0));
        return to_numpy(run(*crew_, [&](Watch&) { return block_.slopes(sigma, at); }));
    }
    auto gradient(double sigma, bool afresh) {
        return to_numpy(run(*crew_, [&](Watch& watch) { return block_.gradient(sigma, afresh, watch); }));
    }
    auto hessian(bool all, Index stride) {
        require(stride >= 1, "stride must be at least 1");
        return to_numpy(run(*crew_, [&](Watch& watch) { return block_.hessian(rows_between(all), stride, watch); }));
    }
    auto hessian_times(Vector direction) {
        check(direction);
        return to_numpy(run(*crew_, [&](Watch& watch) { return block_.hessian_times(direction.data(), watch); }));
    }
    auto hessian_diagonal(bool all) {
        return to_numpy(run(*crew_, [&](Watch& watch) { return block_.hessian_diagonal(rows_between(all), watch); }));
    }
    void accept() {
        run(*crew_, [&](Watch&) { block_.accept(); });
    }
    Index between() {
        return run(*crew_, [&](Watch&) { return block_.between(); });
    }
    double loss() {
        return run(*crew_, [&](Watch&) { return block_.loss(); });
    }
    double shift() {
        return run(*crew_, [&](Watch&) { return block_.shift(); });
    }
    double dual(double negative, double positive) {
        return run(*crew_, [&](Watch&) { return block_.dual({negative, positive}); });
    }
    auto flags() {
        return to_numpy(run(*crew_, [&](Watch&) { return std::vector<std::uint8_t>(block_.flags()); }));
    }
    auto gamma() {
        return to_numpy(run(*crew_, [&](Watch&) { return std::vector<double>(block_.gamma().begin(), block_.gamma().end()); }));
    }
    void start(Vector gamma) {
        require(static_cast<Index>(gamma.shape(0)) == block_.size(), "start must have an entry per row");
        run(*crew_, [&](Watch&) { block_.start(gamma.data()); });
    }

    nb::tuple newton(double sigma, std::optional<Vector> start, const nb::dict& settings) {
        Steps steps(block_.features(), start, sigma, settings);
        return steps.result(run(*crew_, [&](Watch& watch) {
            BlockSums sums(block_, watch);
            return steps.on(sums, watch);
        }, steps.seconds()));
    }

    void attach(const nb::dict& data) {
        HeldRows next = rows_of(data);
        require(count_of(next.rows) == block_.size() && features_of(next.rows) == block_.features(),
                "the rows must have the shape of those before");
        run(*crew_, [&](Watch&) { block_.attach(next.rows); });
        std::swap(held_, next);
    }

  private:
    static LinearBlock::Of rows_between(bool all) { return all ? LinearBlock::Of::all : LinearBlock::Of::between; }
    void check(const Vector& point) const {
        require(static_cast<Index>(point.shape(0)) == block_.features() + 1, "a point must have an entry more than X has columns");
    }

    Inputs inputs_;
    HeldRows held_;
    std::shared_ptr<Crew> crew_;
    LinearBlock block_;
};

nb::tuple newton_on(nb::object sums, double sigma, std::optional<Vector> start, const nb::dict& settings) {
    PythonSums given(std::move(sums));
    Steps steps(given.features(), start, sigma, settings);
    return steps.result(steps.on(given, Watch({}, steps.seconds())));
}

// Solves problems over the same rows, whose signs, weights and kinds follow one another: the points, the multipliers, and for each
// problem how it ended, its relative gap and its steps, of which there may be `most`.
template <class Work>
nb::tuple solve_duals(const nb::dict& data, Signs sign, Vector weight, Kinds kind, Matrix knots, Matrix slopes, double tol, Index most,
                      double seconds, const nb::object& report, Work&& work) {
    const HeldRows held = rows_of(data);
    const Index rows = count_of(held.rows), count = static_cast<Index>(weight.shape(0)) / rows;
    const Inputs inputs{kept(sign), weight, kept(kind), table_of(knots, slopes)};
    const Problem all = inputs.problem(count * rows);
    require(count >= 1, "there must be a weight for each row");
    std::vector<Problem> problems;
    for (Index p = 0; p < count; ++p)
        problems.push_back({rows, all.sign + p * rows, all.weight + p * rows, all.kind + p * rows, all.losses});
    Status ended = Status::inaccurate;
    const std::vector<Descent> found = without_lock(report, seconds, [&](Watch& watch) {
        auto at = work(held.rows, problems, watch);
        if (watch.expired()) ended = watch.status();
        return at;
    });
    std::vector<double> points, multipliers;
    nb::list ends;
    for (const Descent& each : found) {
        points.insert(points.end(), each.point.begin(), each.point.end());
        multipliers.insert(multipliers.end(), each.gamma.begin(), each.gamma.end());
        const Status status = each.gap <= tol ? Status::converged : each.epochs >= most ? Status::iteration_limit : ended;
        ends.append(nb::make_tuple(word(status), each.gap, each.epochs));
    }
    return nb::make_tuple(to_numpy(std::move(points)), to_numpy(std::move(multipliers)), ends);
}

// Coordinate descent, "inaccurate" if the passes were not enough, or after so many more than `patience` of them would be left.
nb::tuple descend_on(const nb::dict& data, Signs sign, Vector weight, Kinds kind, Matrix knots, Matrix slopes, double tol, Index most,
                     double seconds, nb::object report, Vector gamma, Vector bias, double passes, double patience) {
    return solve_duals(data, sign, weight, kind, knots, slopes, tol, most, seconds, report,
                       [&](const LinearRows& rows, const std::vector<Problem>& problems, Watch& watch) {
        require(bias.shape(0) == problems.size() && gamma.shape(0) == weight.shape(0), "gamma must have an entry per row and problem");
        return descend(rows, problems, gamma.data(), bias.data(), {tol, passes, most, patience}, watch);
    });
}

nb::tuple interior_on(const nb::dict& data, Signs sign, Vector weight, Kinds kind, Matrix knots, Matrix slopes, double tol, Index most,
                      double seconds, nb::object report) {
    return solve_duals(data, sign, weight, kind, knots, slopes, tol, most, seconds, report,
                       [&](const LinearRows& rows, const std::vector<Problem>& problems, Watch& watch) {
        return interior(rows, problems, tol, most, watch);
    });
}

// Sums of beta times rows, for several beta that follow one another, and their reach: row_check.hpp.
nb::tuple check_on(const nb::dict& data, Vector beta, Vector weight) {
    const HeldRows held = rows_of(data);
    require(beta.shape(0) == weight.shape(0) && beta.shape(0) % static_cast<std::size_t>(count_of(held.rows)) == 0,
            "beta and weight must have an entry per row");
    RowCheck found = without_lock(nb::none(), std::numeric_limits<double>::infinity(), [&](Watch&) {
        return check_rows(held.rows, beta.data(), weight.data(), static_cast<Index>(beta.shape(0)) / count_of(held.rows));
    });
    return nb::make_tuple(to_numpy(std::move(found.sums)), to_numpy(std::move(found.reach)));
}

}  // namespace

void bind_linear(nb::module_& m) {
    m.def("newton", newton_on, "sums"_a, "sigma"_a, "start"_a.noconvert().none(), "settings"_a);
    m.def("check_rows", check_on, "data"_a, "beta"_a.noconvert(), "weight"_a.noconvert());
    m.def("interior", interior_on, "data"_a, "sign"_a.noconvert(), "weight"_a.noconvert(), "kind"_a.noconvert(), "knots"_a.noconvert(),
          "slopes"_a.noconvert(), "tol"_a, "most"_a, "seconds"_a, "report"_a.none());
    m.def("descend", descend_on, "data"_a, "sign"_a.noconvert(), "weight"_a.noconvert(), "kind"_a.noconvert(), "knots"_a.noconvert(),
          "slopes"_a.noconvert(), "tol"_a, "most"_a, "seconds"_a, "report"_a.none(), "gamma"_a.noconvert(), "bias"_a.noconvert(),
          "passes"_a, "patience"_a);
    nb::class_<Block>(m, "LinearBlock")
        .def(nb::init<const nb::dict&, Signs, Vector, Kinds, Matrix, Matrix, int, const Block*>(), "data"_a, "sign"_a.noconvert(),
             "weight"_a.noconvert(), "kind"_a.noconvert(), "knots"_a.noconvert(), "slopes"_a.noconvert(), "threads"_a,
             "beside"_a.none() = nb::none())
        .def("score", &Block::score, "point"_a.noconvert())
        .def("along", &Block::along, "direction"_a.noconvert())
        .def("move", &Block::move, "step"_a)
        .def("slopes", &Block::slopes, "sigma"_a, "steps"_a.noconvert())
        .def("gradient", &Block::gradient, "sigma"_a, "afresh"_a)
        .def("hessian", &Block::hessian, "all"_a, "stride"_a)
        .def("hessian_times", &Block::hessian_times, "direction"_a.noconvert())
        .def("hessian_diagonal", &Block::hessian_diagonal, "all"_a)
        .def("accept", &Block::accept)
        .def("between", &Block::between)
        .def("loss", &Block::loss)
        .def("shift", &Block::shift)
        .def("dual", &Block::dual, "negative"_a, "positive"_a)
        .def("flags", &Block::flags)
        .def("gamma", &Block::gamma)
        .def("start", &Block::start, "gamma"_a.noconvert())
        .def("newton", &Block::newton, "sigma"_a, "start"_a.noconvert().none(), "settings"_a)
        .def("attach", &Block::attach, "data"_a);
}

}  // namespace abstain::bind
