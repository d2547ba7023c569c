#include "part_values.hpp"

#include <algorithm>

#include "kernel_source.hpp"
#include "mirror.hpp"

namespace abstain {

PartValues::PartValues(const KernelSpec& spec, const DenseRows& X, const Parts& parts, ThreadPool& pool, Watch& watch)
    : parts_(parts) {
    const ScaledRows<double> scaled(spec, X);
    shape_ = scaled.shape;
    cut(X.rows);
    struct Columns {
        Piece* piece;
        Index block;
    };
    std::vector<Columns> work;
    for (Piece& piece : pieces_) {
        std::vector<Index> rows(piece.count);
        for (Index a = 0; a < piece.count; ++a) rows[a] = piece.first + a;
        scaled.pack(rows, block_rows<double>, block_rows<double>, piece.columns);
        scaled.pack_support(rows, piece.support);
        piece.own.resize(piece.count * whole_stride(piece.count));
        for (Index block = 0; block * block_rows<double> < piece.count; ++block) work.push_back({&piece, block});
    }
    constexpr Index at_once = 16;  // a few for each thread between two checks of the clock
    for (Index first = 0; first < std::ssize(work); first += at_once, watch.look())
        pool.run(std::min(at_once, std::ssize(work) - first), [&](Index w) { make(*work[first + w].piece, work[first + w].block); });
}

// At the ends of all runs of all parts.
void PartValues::cut(Index rows) {
    piece_from_.assign(rows + 1, -1);
    std::vector<char> ends(piece_from_.size(), 0), held(piece_from_.size(), 0);
    for (Index part = 0; part < parts_.count(); ++part)
        for (const Run& run : runs_of(parts_.of(part))) {
            ends[run.first] = ends[run.first + run.count] = 1;
            std::fill_n(held.begin() + run.first, run.count, char(1));
        }
    for (Index row = 0; row < std::ssize(held); ++row) {
        if (!held[row]) continue;
        if (ends[row]) {
            piece_from_[row] = std::ssize(pieces_);
            pieces_.push_back({row, 0, {}, {}, {}});
        }
        ++pieces_.back().count;
    }
}

// A block of columns, down to the diagonal, and the lines that are the same columns.
void PartValues::make(Piece& piece, Index block) const {
    constexpr Index B = block_rows<double>;
    const Index stride = whole_stride(piece.count), d = shape_.features;
    const Index first = block * B, last = std::min(piece.count, first + B);
    const int tiles = static_cast<int>((last + support_tile - 1) / support_tile);
    Aligned<double> spare(stride);
    std::vector<double*> to(tiles * support_tile, spare.data());
    for (Index a = 0; a < last; ++a) to[a] = piece.own.data() + a * stride;
    lanes<double>().values(shape_, piece.columns.values.data() + first * d, piece.columns.half.data() + first,
                           piece.support.values.data(), piece.support.half.data(), tiles, to.data(), first, last - first);
    mirror_block(piece.own.data(), stride, 0, first, first, last);
    if (last == piece.count)
        for (Index a = 0; a < last; ++a) std::fill(to[a] + last, to[a] + stride, 0.0);
}

// The values of some rows with others, into the lines of the former; those of the last block go on behind the last column.
void PartValues::between(const Piece& rows, const Piece& columns, double* out, Index stride) const {
    constexpr Index B = block_rows<double>;
    const Index d = shape_.features;
    Aligned<double> spare(rounded_up(columns.count, B));
    std::vector<double*> to(rows.support.tiles() * support_tile, spare.data());
    for (Index a = 0; a < rows.count; ++a) to[a] = out + a * stride;
    for (Index b = 0; b * B < columns.count; ++b)
        lanes<double>().values(shape_, columns.columns.values.data() + b * B * d, columns.columns.half.data() + b * B,
                               rows.support.values.data(), rows.support.half.data(), rows.support.tiles(), to.data(), b * B,
                               std::min(B, columns.count - b * B));
}

GramRows PartValues::of(Index part, Aligned<double>& memory) const {
    const std::span<const Index> rows = parts_.of(part);
    struct Placed {
        const Piece* piece;
        Index at;
    };
    std::vector<Placed> placed;
    const Index size = std::ssize(rows);
    for (Index at = 0; at < size; at += placed.back().piece->count) placed.push_back({&pieces_[piece_from_[rows[at]]], at});
    if (placed.size() == 1) return {placed[0].piece->own.data(), size, whole_stride(size)};
    const Index stride = whole_stride(size + block_rows<double> - 1);  // room for what goes on behind the last column
    memory.resize(size * stride);
    for (std::size_t i = 0; i < placed.size(); ++i) {
        const auto [piece, at] = placed[i];
        const Index own = whole_stride(piece->count);
        for (Index a = 0; a < piece->count; ++a)
            std::copy_n(piece->own.data() + a * own, piece->count, memory.data() + (at + a) * stride + at);
        for (std::size_t j = i + 1; j < placed.size(); ++j)
            between(*piece, *placed[j].piece, memory.data() + at * stride + placed[j].at, stride);
        mirror_block(memory.data(), stride, at, at + piece->count, at + piece->count, size);
    }
    for (Index a = 0; a < size; ++a) std::fill(memory.data() + a * stride + size, memory.data() + (a + 1) * stride, 0.0);
    return {memory.data(), size, stride};
}

}  // namespace abstain
