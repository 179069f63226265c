#pragma once

#include <string_view>
#include <vector>

#include "bench/bench_case.hpp"

namespace starpmc {

/// What the paper reports for a term of a system, as cases of their own: Miranda et al. 2016,
/// tables 3 to 6, 8 and 9.
std::vector<BenchCase> paper_cases(std::string_view system, std::string_view term);

/// Adds to our cases how they compare: times faster than the paper's serial program on one core
/// (i7-4770K) and than its GPU (GTX 780Ti; bench-R: two GTX 680) in mixed precision; errors as a
/// share of the paper's.
void compare_with_paper(std::vector<BenchCase>& cases);

}  // namespace starpmc
