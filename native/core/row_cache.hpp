// Rows of the kernel matrix over the active columns; the least recently used is dropped first.
//
// One buffer, touched from its beginning as it fills: memory that is never needed is never resident.
#pragma once

#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "kernel_matrix.hpp"

namespace abstain {

template <class T> class RowCache {
  public:
    // At most `bytes`, less if the system refuses; capacity 0 if not even one row fits.
    RowCache(Index rows, double bytes);

    Index capacity() const { return stride_ > 0 ? limit_ / stride_ : 0; }
    T* find(Index row);  // nullptr where it is not held
    // The slot of a new row; its old contents are lost. At most capacity() rows may be requested in a series of calls.
    T* insert(Index row);
    // Rows over the columns `now` (ascending) from here on: cut down where these are among `before`, else forgotten.
    void select(const std::vector<Index>& before, const std::vector<Index>& now);

  private:
    void compact(const std::vector<Index>& kept);
    T* slot(Index s) { return buffer_.get() + s * stride_; }

    struct Entry {
        Index row, slot;
    };
    struct Free {
        void operator()(T* p) const { ::operator delete(p, std::align_val_t(64)); }
    };
    std::unique_ptr<T, Free> buffer_;
    Index limit_ = 0;  // values that fit the buffer
    Index stride_ = 0;
    Index used_ = 0;
    std::list<Entry> order_;  // most recent first
    std::unordered_map<Index, typename std::list<Entry>::iterator> where_;
};

}  // namespace abstain
