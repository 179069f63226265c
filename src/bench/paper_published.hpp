#pragma once

#include <string_view>
#include <vector>

#include "bench/paper_table.hpp"

namespace starpmc {

/// Grid sizes of the paper's table 1, and its whole run of bench-R.
inline constexpr double kPaperWholeSteps = 24.8e6;
inline constexpr double kPaperUpdates = 496;
inline constexpr double kPaperCycleSteps = 10'000;    ///< of bench-A to C
inline constexpr double kPaperRCycleSteps = 50'000;   ///< of bench-R
inline constexpr double kPaperSerialCycleR = 572.7;   ///< seconds, one i7-4770K core (table 6)
inline constexpr double kPaperSerialRun = 300'028.0;  ///< seconds, the same

/// The paper's serial program in fp64, the baseline of its tables 3, 4 and 6, and the GPU of its
/// table 4: platforms and devices of the rows.
inline constexpr const char* kPaperSerialDevice = "i7-4770K, 1 core (serial)";
inline constexpr const char* kPaperGpu = "GTX 780Ti";

/// Seconds of 10,000 steps of the paper's serial program on one i7-4770K core (table 3).
/// @param benchmark bench-A, bench-B or bench-C
double paper_serial_seconds(std::string_view benchmark);

/// Tables 3 to 9 and figures 8 to 11 of Miranda et al. (2016) with the published numbers: rows of
/// the source "paper". A figure's numbers are those the text or a table states; nothing was read
/// off a drawing.
/// @param key table-3 to table-9, figure-8 to figure-11
PaperTable published_table(std::string_view key);

/// All keys, in the paper's order.
std::vector<std::string_view> published_keys();

}  // namespace starpmc
