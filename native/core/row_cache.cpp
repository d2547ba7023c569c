#include "row_cache.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace abstain {

template <class T> RowCache<T>::RowCache(Index rows, double bytes) {
    const Index row = rounded_up(rows);
    double values = std::min(bytes / sizeof(T), static_cast<double>(row) * static_cast<double>(rows));
    for (; values >= static_cast<double>(row); values /= 2) {
        limit_ = static_cast<Index>(values);
        buffer_.reset(static_cast<T*>(::operator new(limit_ * sizeof(T), std::align_val_t(64), std::nothrow)));
        if (buffer_) break;
    }
    if (!buffer_) limit_ = 0;
    stride_ = row;
}

template <class T> T* RowCache<T>::find(Index row) {
    const auto found = where_.find(row);
    if (found == where_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return slot(found->second->slot);
}

template <class T> T* RowCache<T>::insert(Index row) {
    if (used_ < capacity()) {
        order_.push_front({row, used_++});
    } else {
        where_.erase(order_.back().row);
        order_.splice(order_.begin(), order_, std::prev(order_.end()));
        order_.front().row = row;
    }
    where_[row] = order_.begin();
    return slot(order_.front().slot);
}

// Slots move towards the front of the buffer in ascending order, so nothing is overwritten before it is read.
template <class T> void RowCache<T>::compact(const std::vector<Index>& kept) {
    const Index stride = rounded_up(std::ssize(kept));
    for (Index s = 0; s < used_; ++s) {
        const T* from = buffer_.get() + s * stride_;
        T* to = buffer_.get() + s * stride;
        for (std::size_t a = 0; a < kept.size(); ++a) to[a] = from[kept[a]];
    }
    stride_ = stride;
}

template <class T> void RowCache<T>::select(const std::vector<Index>& before, const std::vector<Index>& now) {
    if (now.size() < before.size() && std::includes(before.begin(), before.end(), now.begin(), now.end())) {
        std::vector<Index> kept;
        kept.reserve(now.size());
        Index column_before = 0;
        for (Index column : now) {
            while (before[column_before] != column) ++column_before;
            kept.push_back(column_before);
        }
        compact(kept);
        return;
    }
    order_.clear();
    where_.clear();
    used_ = 0;
    stride_ = rounded_up(std::ssize(now));
}

template class RowCache<float>;
template class RowCache<double>;

}  // namespace abstain
