// Kernel values between the rows of each part, in double. Rows that lie side by side in every part that has them form a piece,
// such as the rows of a class. Values within a piece are made once for all parts, those between two pieces for each part that
// has both, where they are about to be read: all values in memory would be read from there again for each part.
#pragma once

#include "dense_kernel.hpp"
#include "expansion.hpp"

namespace abstain {

class PartValues {
  public:
    // The parts are borrowed.
    PartValues(const KernelSpec& spec, const DenseRows& X, const Parts& parts, ThreadPool& pool, Watch& watch);

    // Of one part: made in `memory`, unless the part is a single piece. Lines are as long as pair steps read them.
    GramRows of(Index part, Aligned<double>& memory) const;

  private:
    struct Piece {
        Index first, count;
        PackedRows<double> columns, support;
        Aligned<double> own;  // the values within, with lines of whole_stride(count)
    };

    void cut(Index rows);
    void make(Piece& piece, Index block) const;
    void between(const Piece& rows, const Piece& columns, double* out, Index stride) const;

    const Parts parts_;
    Shape<double> shape_;
    std::vector<Piece> pieces_;
    std::vector<Index> piece_from_;  // the piece that begins at a row; -1 elsewhere
};

}  // namespace abstain
