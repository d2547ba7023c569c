// The rows that leave the sweep, and how they come back (decomposition.hpp).
#include <algorithm>

#include "decomposition.hpp"

namespace abstain {

// A row on a breakpoint whose one-sided gains both lie on the safe side cannot be chosen now.
template <class T> void Decomposition<T>::shrink() {
    const auto stays = [&](std::size_t a) { return up_[a] - sums_[a] > lowest_ || down_[a] - sums_[a] < highest_; };
    double staying = 0;
    for (std::size_t a = 0; a < active_.size(); ++a) staying += stays(a);
    if (staying > policy::share_that_stays * static_cast<double>(active_.size())) return;
    Departure departure;
    constexpr std::size_t dropped = static_cast<std::size_t>(-1);
    std::vector<std::size_t> position(active_.size(), dropped);
    for (std::size_t a = 0, s = 0; a < active_.size(); ++a) {
        const Index i = active_[a];
        if (!stays(a)) {
            departure.gone.push_back(i);
            F_[i] = sums_[a];
            continue;
        }
        departure.stayed.push_back(i);
        departure.beta.push_back(state_[i].beta);
        sums_[s] = sums_[a];
        up_[s] = up_[a];
        down_[s] = down_[a];
        position[a] = s++;
    }
    std::erase_if(working_, [&](std::size_t a) { return position[a] == dropped; });
    for (std::size_t& a : working_) a = position[a];
    active_ = departure.stayed;
    departures_.push_back(std::move(departure));
    kernel_.activate(active_);
    if (!on_demand_) return;
    std::vector<Index> kept;
    for (std::size_t a = 0; a < position.size(); ++a)
        if (position[a] != dropped) kept.push_back(static_cast<Index>(a));
    on_demand_->keep(kept);
}

// F of a row that left has changed only by the coefficients that have moved since.
template <class T> void Decomposition<T>::restore() {
    for (std::size_t a = 0; a < active_.size(); ++a) F_[active_[a]] = sums_[a];
    for (const Departure& departure : departures_) {
        SparseVector change;
        for (std::size_t s = 0; s < departure.stayed.size(); ++s)
            change.add(departure.stayed[s], state_[departure.stayed[s]].beta - departure.beta[s]);
        if (change.rows.empty()) continue;
        Aligned<double> sums(rounded_up(std::ssize(departure.gone)), 0.0);
        kernel_.activate(departure.gone);
        kernel_.accumulate(change, sums.data());
        for (std::size_t g = 0; g < departure.gone.size(); ++g) F_[departure.gone[g]] += sums[g];
    }
    departures_.clear();
    active_ = all_rows(problem_.size);
    std::copy(F_.begin(), F_.end(), sums_.begin());
    for (std::size_t a = 0; a < active_.size(); ++a) refresh(a);
    kernel_.activate(active_);
    if (on_demand_) on_demand_.emplace(kernel_, active_);
    working_.clear();
}

template void Decomposition<float>::shrink();
template void Decomposition<double>::shrink();
template void Decomposition<float>::restore();
template void Decomposition<double>::restore();

}  // namespace abstain
