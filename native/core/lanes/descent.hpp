// The loops of coordinate descent over L problems side by side (linear/linear_descent.cpp). Part of all_lanes.hpp.

namespace abstain {
namespace {

// L numbers, which compilers divide into vectors of this instruction set.
template <int L> struct SideBySide {
    typedef double type __attribute__((vector_size(8 * L)));
};
template <> struct SideBySide<1> {
    using type = double;
};
template <int L> using Numbers = typename SideBySide<L>::type;

template <int L> [[gnu::always_inline]] inline Numbers<L> read(const double* from) {
    Numbers<L> v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
template <int L> [[gnu::always_inline]] inline void write(double* to, const Numbers<L>& v) { __builtin_memcpy(to, &v, sizeof v); }

template <class V> [[gnu::always_inline]] inline V lower(const V& a, const V& b) { return a < b ? a : b; }
template <class V> [[gnu::always_inline]] inline V higher(const V& a, const V& b) { return a > b ? a : b; }
template <class V> [[gnu::always_inline]] inline V size_of(const V& a) { return higher<V>(a, -a); }

// Whether one of a is above its b.
[[gnu::always_inline]] inline bool any_above(double a, double b) { return a > b; }
template <class V> [[gnu::always_inline]] inline bool any_above(const V& a, const V& b) {
    const auto above = a > b;
    long long any = 0;
    for (unsigned l = 0; l < sizeof(V) / sizeof(double); ++l) any |= above[l];
    return any != 0;
}

// The multipliers of a row that are best for the others as they are; false if they are what they were.
template <int L> bool respond(const RowBeside& row, const Beside& all, const double* score, double resting, double* change) {
    using V = Numbers<L>;
    const V sign = read<L>(row.sign), gamma = read<L>(row.gamma), bias = read<L>(all.bias), stretch = read<L>(all.stretch);
    const V margin = sign * (read<L>(score) + bias), rate = read<L>(all.live) / (row.squared + stretch);
    V next{};
    for (int k = 0; k < row.pieces; ++k) {
        const V pull = gamma + rate * (read<L>(row.slope + k * L) - margin);
        next = higher<V>(next, lower<V>(pull, read<L>(row.edge + k * L)));
    }
    const V moved = sign * (next - gamma);
    if (!any_above(size_of<V>(moved), V(resting * next))) return false;
    write<L>(all.bias, bias + stretch * moved);
    write<L>(all.excess, read<L>(all.excess) + moved);
    write<L>(row.gamma, next);
    write<L>(change, moved);
    return true;
}

template <int L>
[[gnu::always_inline]] inline Numbers<L> losses(const double* slope, const double* edge, int pieces, const Numbers<L>& margin) {
    using V = Numbers<L>;
    V found{}, first{};
    for (int k = 0; k < pieces; ++k) {
        const V last = read<L>(edge + k * L);
        found += higher<V>(read<L>(slope + k * L) - margin, V{}) * (last - first);
        first = last;
    }
    return found;
}

// The margins of a row and its parts of the duality gaps, which are added to `gaps`.
template <int L> void row_gap(const RowBeside& row, const Beside& all, const double* score, double* margins, double* gap, double* gaps) {
    using V = Numbers<L>;
    const V sign = read<L>(row.sign), gamma = read<L>(row.gamma), margin = sign * (read<L>(score) + read<L>(all.bias));
    V found = losses<L>(row.slope, row.edge, row.pieces, margin) + gamma * margin, first{};
    for (int k = 0; k < row.pieces; ++k) {
        const V last = read<L>(row.edge + k * L);
        found -= read<L>(row.slope + k * L) * higher<V>(lower<V>(gamma, last) - first, V{});
        first = last;
    }
    write<L>(margins, margin);
    write<L>(gap, found);
    write<L>(gaps, read<L>(gaps) + found);
    write<L>(all.excess, read<L>(all.excess) + sign * gamma);
}

// Adds the losses of rows at multiples of their margins to `sums`.
template <int L>
void loss_sums(const double* slope, const double* edge, int pieces, const double* margins, const double* factor, long rows, double* sums) {
    Numbers<L> sum = read<L>(sums);
    const Numbers<L> by = read<L>(factor);
    for (long i = 0; i < rows; ++i) {
        const long at = i * pieces * L;
        sum += losses<L>(slope + at, edge + at, pieces, by * read<L>(margins + i * L));
    }
    write<L>(sums, sum);
}

// Room of a row's multipliers strictly between two breakpoints, towards an excess of 0.
template <int L> void row_room(const RowBeside& row, const Beside& all, double resting, double* room, double* total) {
    using V = Numbers<L>;
    const V gamma = read<L>(row.gamma), slack = resting * read<L>(row.edge + (row.pieces - 1) * L);
    const V falls = read<L>(row.sign) * read<L>(all.excess);
    V first{}, found{};
    for (int k = 0; k < row.pieces; ++k) {
        const V last = read<L>(row.edge + k * L), below = gamma - first, above = last - gamma, least_room = lower<V>(below, above);
        const V towards = falls > 0.0 ? below : above;
        found = least_room > slack ? towards : found;
        first = last;
    }
    write<L>(room, found);
    write<L>(total, read<L>(total) + found);
}

template <int L> constexpr DescentLanes descent_lanes_of() { return {respond<L>, row_gap<L>, loss_sums<L>, row_room<L>}; }

}  // namespace
}  // namespace abstain
