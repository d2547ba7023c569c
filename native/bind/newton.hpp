// Newton steps for Python: on sums that a Python object has, with reports to it, and with its factors of large matrices.
#pragma once

#include <nanobind/stl/optional.h>

#include <optional>

#include "inputs.hpp"
#include "linear/linear_newton.hpp"

using namespace nanobind::literals;

namespace abstain::bind {

inline std::vector<double> numbers_of(const nb::object& found, Index count) {
    nb::ndarray<const double, nb::c_contig, nb::device::cpu> array;
    if (!nb::try_cast(found, array) || static_cast<Index>(array.size()) != count) throw nb::type_error("an array of floats has another number of entries");
    return {array.data(), array.data() + count};
}

// Sums that a Python object has. The interpreter's lock is held throughout.
class PythonSums final : public LinearSums {
  public:
    explicit PythonSums(nb::object sums)
        : sums_(std::move(sums)), features_(nb::cast<Index>(sums_.attr("features"))),
          at_once_(nb::cast<Index>(nb::getattr(sums_, "at_once", nb::int_(1)))) {
        require(features_ >= 1 && at_once_ >= 1, "features and at_once must be at least 1");
    }

    Index features() const override { return features_; }
    Index at_once() const override { return at_once_; }
    void score(const Point& point) override { sums_.attr("score")(to_numpy(Point(point))); }
    void along(const Point& direction) override { sums_.attr("along")(to_numpy(Point(direction))); }
    void move(double step) override { sums_.attr("move")(step); }
    std::vector<double> slopes(double sigma, const std::vector<double>& steps) override {
        return numbers_of(sums_.attr("slopes")(sigma, to_numpy(Point(steps))), 2 * static_cast<Index>(steps.size()));
    }
    std::vector<double> gradient(double sigma, bool afresh) override {
        return numbers_of(sums_.attr("gradient")(sigma, "afresh"_a = afresh), 2 * (features_ + 1));
    }
    Index between() override { return nb::cast<Index>(sums_.attr("between")()); }
    std::vector<double> hessian(Index most, bool all) override {
        return numbers_of(sums_.attr("hessian")(most, "everything"_a = all), (features_ + 1) * (features_ + 1));
    }
    Point hessian_times(const Point& direction) override {
        return numbers_of(sums_.attr("hessian_times")(to_numpy(Point(direction))), features_ + 1);
    }
    Point hessian_diagonal(bool all) override { return numbers_of(sums_.attr("hessian_diagonal")(all), features_ + 1); }
    void accept() override { sums_.attr("accept")(); }
    double shift() override { return nb::cast<double>(sums_.attr("shift")()); }
    double loss() override { return nb::cast<double>(sums_.attr("loss")()); }
    double dual(Sides scale) override { return nb::cast<double>(sums_.attr("dual")(scale[0], scale[1])); }

  private:
    nb::object sums_;
    Index features_, at_once_;
};

// What Python is asked for between Newton steps, from a thread that has released the lock or holds it. An error is kept until
// the steps have ended.
class Asked final : public Factor {
    template <class Question> auto ask(Question&& question) {
        nb::gil_scoped_acquire lock;
        try {
            return question();
        } catch (nb::python_error& raised) {
            error_.emplace(std::move(raised));
            throw Interrupted();
        }
    }

  public:
    // `progress`: asked with the steps and the gap whether to end; `lapack`: makes factors and solves with them.
    Asked(nb::object progress, nb::object lapack) : progress_(std::move(progress)), lapack_(std::move(lapack)) {}

    bool ends(Index steps, double gap) {
        return ask([&] { return nb::cast<bool>(nb::bool_(progress_(steps, gap))); });
    }
    bool make(std::vector<double> H) override {
        return ask([&] { return nb::cast<bool>(lapack_.attr("make")(to_numpy(std::move(H)))); });
    }
    void solve(std::vector<double>& v) override {
        const Index count = static_cast<Index>(v.size());
        v = ask([&] { return numbers_of(lapack_.attr("solve")(to_numpy(std::move(v))), count); });
    }

    // Work that ends early after an error, which `raise` then throws, with the lock.
    template <class Work> NewtonSolution during(Work&& work) {
        try {
            return work();
        } catch (const Interrupted&) {
            if (!error_) throw;
            return {};
        }
    }
    void raise() {
        if (error_) throw nb::python_error(std::move(*error_));
    }

  private:
    nb::object progress_, lapack_;
    std::optional<nb::python_error> error_;
};

template <class Value> Value setting(const nb::dict& settings, const char* name) {
    if (!settings.contains(name)) throw nb::value_error((std::string(name) + " is missing").c_str());
    return plain<Value>(settings[name], (std::string(name) + " has another type").c_str());
}

// Newton steps on sums, by settings that Python names.
class Steps {
  public:
    Steps(Index features, const std::optional<Vector>& start, double sigma, const nb::dict& given)
        : asked_(setting<nb::object>(given, "progress"), setting<nb::object>(given, "lapack")), sigma_(sigma),
          seconds_(setting<double>(given, "seconds")) {
        settings_ = {setting<double>(given, "tol"),        setting<Index>(given, "max_iter"), setting<bool>(given, "polish"),
                     setting<Index>(given, "most_formed"), setting<Index>(given, "most_rows"), &asked_, {}, {}};
        if (!nb::object(given["progress"]).is_none())
            settings_.ends = [this](Index steps, double gap) { return asked_.ends(steps, gap); };
        require(!start || static_cast<Index>(start->shape(0)) == features + 1, "start must have an entry more than X has columns");
        start_ = start ? Point(start->data(), start->data() + features + 1) : Point(features + 1, 0.0);
    }

    double seconds() const { return seconds_; }
    NewtonSolution on(LinearSums& sums, const Watch& watch) {
        settings_.expired = [&] { return watch.seconds_left() < 0; };
        return asked_.during([&] { return newton(sums, start_, sigma_, settings_); });
    }
    // The point, the scales of the two sides, the status, the number of steps, the gap and the last penalty.
    nb::tuple result(NewtonSolution found) {
        asked_.raise();
        const auto scale = nb::make_tuple(found.scale[0], found.scale[1]);
        return nb::make_tuple(to_numpy(std::move(found.point)), scale, word(found.status), found.steps, found.gap, found.sigma);
    }

  private:
    Asked asked_;
    NewtonSettings settings_;
    Point start_;
    double sigma_, seconds_;
};

}  // namespace abstain::bind
