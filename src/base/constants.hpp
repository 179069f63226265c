#pragma once

namespace starpmc {

/// R, kJ/mol/K (CODATA 2018, exact).
inline constexpr double kGasConstant = 0.00831446261815324;

inline constexpr double kBytesPerMebibyte = 1 << 20;

inline constexpr double kAngstromPerNanometre = 10;

}  // namespace starpmc
