#include "lanes.hpp"

namespace abstain {

namespace v2 {
Lanes<float> single_precision(const char*);
Lanes<double> double_precision(const char*);
}
#ifdef ABSTAIN_X86
namespace v3 {
Lanes<float> single_precision(const char*);
Lanes<double> double_precision(const char*);
}
namespace v4 {
Lanes<float> single_precision(const char*);
Lanes<double> double_precision(const char*);
}
#endif

template <> const Lanes<float>& lanes<float>() {
    static const Lanes<float> best = [] {
#ifdef ABSTAIN_X86
        if (__builtin_cpu_supports("x86-64-v4")) return v4::single_precision("x86-64-v4");
        if (__builtin_cpu_supports("x86-64-v3")) return v3::single_precision("x86-64-v3");
#endif
        return v2::single_precision("baseline");
    }();
    return best;
}

template <> const Lanes<double>& lanes<double>() {
    static const Lanes<double> best = [] {
#ifdef ABSTAIN_X86
        if (__builtin_cpu_supports("x86-64-v4")) return v4::double_precision("x86-64-v4");
        if (__builtin_cpu_supports("x86-64-v3")) return v3::double_precision("x86-64-v3");
#endif
        return v2::double_precision("baseline");
    }();
    return best;
}

}  // namespace abstain
