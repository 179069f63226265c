#pragma once

namespace starpmc {

/// Seconds since this process was started, before its libraries were loaded; to a hundredth. 0: the
/// system does not tell.
double process_age_seconds();

}  // namespace starpmc
