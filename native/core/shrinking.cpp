// The rows that leave the sweep, and how they come back (decomposition.hpp).
#include <algorithm>

#include "decomposition.hpp"

namespace abstain {

// A row on a breakpoint whose one-sided gains both lie on the safe side cannot be chosen now.
template <class T> void Decomposition<T>::shrink() {
    std::vector<std::size_t> stay;
    Departure departure;
    std::vector<char> stays(active_.size());
    for (std::size_t a = 0; a < active_.size(); ++a) {
        const double up = up_[a] - sums_[a], down = down_[a] - sums_[a];
        stays[a] = up > lowest_ || down < highest_;
        if (stays[a]) stay.push_back(a);
    }
    if (static_cast<double>(stay.size()) > policy::share_that_stays * static_cast<double>(active_.size())) return;
    for (std::size_t a = 0; a < active_.size(); ++a) {
        const Index i = active_[a];
        if (stays[a]) {
            departure.stayed.push_back(i);
            departure.beta.push_back(state_[i].beta);
        } else {
            departure.gone.push_back(i);
            F_[i] = sums_[a];
        }
    }
    constexpr std::size_t dropped = static_cast<std::size_t>(-1);
    std::vector<std::size_t> position(active_.size(), dropped);
    for (std::size_t s = 0; s < stay.size(); ++s) {
        position[stay[s]] = s;
        sums_[s] = sums_[stay[s]];
        up_[s] = up_[stay[s]];
        down_[s] = down_[stay[s]];
    }
    std::vector<std::size_t> working;
    for (std::size_t a : working_)
        if (position[a] != dropped) working.push_back(position[a]);
    working_ = working;
    active_ = departure.stayed;
    departures_.push_back(std::move(departure));
    kernel_.activate(active_);
}

// F of a row that left has changed only by the coefficients that have moved since.
template <class T> void Decomposition<T>::restore() {
    for (std::size_t a = 0; a < active_.size(); ++a) F_[active_[a]] = sums_[a];
    for (const Departure& departure : departures_) {
        std::vector<Index> moved;
        std::vector<double> change;
        for (std::size_t s = 0; s < departure.stayed.size(); ++s) {
            const Index i = departure.stayed[s];
            if (state_[i].beta == departure.beta[s]) continue;
            moved.push_back(i);
            change.push_back(state_[i].beta - departure.beta[s]);
        }
        if (moved.empty()) continue;
        Aligned<double> sums(rounded_up(std::ssize(departure.gone)), 0.0);
        kernel_.activate(departure.gone);
        kernel_.accumulate(moved, change, sums.data());
        for (std::size_t g = 0; g < departure.gone.size(); ++g) F_[departure.gone[g]] += sums[g];
    }
    departures_.clear();
    active_ = all_rows(problem_.size);
    std::copy(F_.begin(), F_.end(), sums_.begin());
    for (std::size_t a = 0; a < active_.size(); ++a) refresh(a);
    kernel_.activate(active_);
    working_.clear();
}

template void Decomposition<float>::shrink();
template void Decomposition<double>::shrink();
template void Decomposition<float>::restore();
template void Decomposition<double>::restore();

}  // namespace abstain
