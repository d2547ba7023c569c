// The linear machine's sums over blocks of rows, for abstain.solvers.
#include <limits>

#include "inputs.hpp"
#include "linear/linear_block.hpp"
#include "rows.hpp"

using namespace nanobind::literals;

namespace abstain::bind {

namespace {

template <class T> LinearRows dense_rows(const View<T, 2>& X, const nb::dict& data) {
    require(X.shape(0) > 0 && X.shape(1) > 0, "X must have at least one row and one column");
    const auto centre = entry<Vector>(data, "centre");
    require(centre.shape(0) == X.shape(1), "centre must have an entry per column of X");
    return DenseLinearRows<T>{X.data(), centre.data(), static_cast<Index>(X.shape(0)), static_cast<Index>(X.shape(1))};
}

template <class T> LinearRows sparse_rows(const View<T, 1>& values, Indices& own, const nb::dict& data) {
    const auto starts = entry<View<std::int64_t, 1>>(data, "starts");
    const auto columns = entry<View<std::int32_t, 1>>(data, "columns");
    require(data.contains("features"), "features is missing");
    const auto features = plain<Index>(data["features"], "features must be a whole number");
    own = {{starts.data(), starts.data() + starts.shape(0)}, {columns.data(), columns.data() + columns.shape(0)}};
    const Index lengths[] = {static_cast<Index>(starts.shape(0)), static_cast<Index>(columns.shape(0)),
                             static_cast<Index>(values.shape(0))};
    const SparseRows checked{nullptr, own.columns.data(), own.starts.data(), lengths[0] - 1, features};
    if (const char* rule = fault(checked, lengths[0], lengths[1], lengths[2])) throw nb::value_error(rule);
    require(checked.rows > 0 && features > 0 && features <= std::numeric_limits<std::int32_t>::max(),
            "there must be at least one row, and from 1 to 2^31 - 1 features");
    return SparseLinearRows<T>{values.data(), own.columns.data(), own.starts.data(), checked.rows, features};
}

Index count_of(const LinearRows& rows) {
    return std::visit([](const auto& some) { return some.rows; }, rows);
}

template <class Work> auto run(Work&& work) {
    return without_lock(nb::none(), std::numeric_limits<double>::infinity(), work);
}

Index features_of(const LinearRows& rows) {
    return std::visit([](const auto& some) { return some.features; }, rows);
}

// The block together with everything it borrows.
class Block {
  public:
    // `beside`: a block whose threads this one shares.
    Block(const nb::dict& data, Signs sign, Vector weight, Kinds kind, Matrix knots, Matrix slopes, int threads,
          const Block* beside)
        : data_(data), inputs_{sign, weight, kind, table_of(knots, slopes)}, rows_(rows_of(data)),
          pool_(beside ? beside->pool_ : std::make_shared<ThreadPool>(threads)),
          block_(rows_, inputs_.problem(count_of(rows_)), pool_) {}

    void score(Vector point) {
        check(point);
        run([&](Watch& watch) { block_.score(point.data(), watch); });
    }
    void along(Vector direction) {
        check(direction);
        run([&](Watch& watch) { block_.along(direction.data(), watch); });
    }
    void move(double step) {
        run([&](Watch&) { block_.move(step); });
    }
    auto slopes(double sigma, Vector steps) {
        const std::vector<double> at(steps.data(), steps.data() + steps.shape(0));
        return to_numpy(run([&](Watch&) { return block_.slopes(sigma, at); }));
    }
    auto gradient(double sigma, bool afresh) {
        return to_numpy(run([&](Watch& watch) { return block_.gradient(sigma, afresh, watch); }));
    }
    auto hessian(bool all, Index stride) {
        require(stride >= 1, "stride must be at least 1");
        return to_numpy(run([&](Watch& watch) { return block_.hessian(rows_between(all), stride, watch); }));
    }
    auto hessian_times(Vector direction) {
        check(direction);
        return to_numpy(run([&](Watch& watch) { return block_.hessian_times(direction.data(), watch); }));
    }
    auto hessian_diagonal(bool all) {
        return to_numpy(run([&](Watch& watch) { return block_.hessian_diagonal(rows_between(all), watch); }));
    }
    void accept() { block_.accept(); }
    Index between() const { return block_.between(); }
    double loss() {
        return run([&](Watch&) { return block_.loss(); });
    }
    double shift() {
        return run([&](Watch&) { return block_.shift(); });
    }
    double dual(double negative, double positive) {
        return run([&](Watch&) { return block_.dual({negative, positive}); });
    }
    auto flags() const { return to_numpy(std::vector<std::uint8_t>(block_.flags())); }
    auto gamma() const { return to_numpy(std::vector<double>(block_.gamma().begin(), block_.gamma().end())); }
    void start(Vector gamma) {
        require(static_cast<Index>(gamma.shape(0)) == block_.size(), "start must have an entry per row");
        block_.start(gamma.data());
    }

    // The dict is kept, since the block borrows its arrays.
    void attach(const nb::dict& data) {
        Indices before = std::move(own_);
        const LinearRows rows = rows_of(data);
        if (count_of(rows) != block_.size() || features_of(rows) != block_.features()) {
            own_ = std::move(before);
            throw nb::value_error("the rows must have the shape of those before");
        }
        data_ = data;
        block_.attach(rows);
    }

  private:
    static LinearBlock::Of rows_between(bool all) { return all ? LinearBlock::Of::all : LinearBlock::Of::between; }
    LinearRows rows_of(const nb::dict& data) {
        if (!data.contains("X")) {
            View<float, 1> single;
            if (data.contains("values") && nb::try_cast(data["values"], single, false)) return sparse_rows(single, own_, data);
            return sparse_rows(entry<Vector>(data, "values"), own_, data);
        }
        View<float, 2> single;
        if (nb::try_cast(data["X"], single, false)) return dense_rows(single, data);
        return dense_rows(entry<Matrix>(data, "X"), data);
    }
    void check(const Vector& point) const {
        require(static_cast<Index>(point.shape(0)) == block_.features() + 1, "a point must have an entry more than X has columns");
    }

    nb::dict data_;
    Inputs inputs_;
    Indices own_;
    LinearRows rows_;
    std::shared_ptr<ThreadPool> pool_;
    LinearBlock block_;
};

}  // namespace

void bind_linear(nb::module_& m) {
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
        .def("attach", &Block::attach, "data"_a);
}

}  // namespace abstain::bind
