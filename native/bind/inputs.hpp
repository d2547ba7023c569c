// What several binding files read from dicts: arrays and numbers by name, and the indices of compressed rows.
#pragma once

#include <string>

#include "problems.hpp"

namespace abstain::bind {

// An array out of a dict, which nanobind does not check by itself.
template <class Array> Array entry(const nb::dict& from, const char* name) {
    Array array;
    if (!from.contains(name)) throw nb::value_error((std::string(name) + " is missing").c_str());
    if (!nb::try_cast<Array>(from[name], array, false))
        throw nb::type_error((std::string(name) + " must be an aligned, C-contiguous array of the right type and dimension").c_str());
    return array;
}

// A whole number or a dict out of a dict or a list, with the name of what it is for the error.
template <class Value> Value plain(const nb::handle& from, const char* rule) {
    Value value;
    if (!nb::try_cast<Value>(from, value, false)) throw nb::type_error(rule);
    return value;
}

// The indices of compressed rows, copied: another thread may change the caller's arrays after they were checked.
struct Indices {
    std::vector<Index> starts;
    std::vector<std::int32_t> columns;
};

}  // namespace abstain::bind
