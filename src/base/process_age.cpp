#include "base/process_age.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace starpmc {

// proc(5): field 22 of stat is the start in clock ticks since boot; the second field, the program's
// name in parentheses, may hold blanks.
double process_age_seconds() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  std::istringstream fields(text.substr(end_of_name + 1));
  std::string skipped;
  constexpr int kFieldsBetween = 19;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  double ticks = 0;
  timespec now{};
  if (!(fields >> ticks) || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  const double started = ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  const double age = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  return std::max(0.0, age - started);
}

}  // namespace starpmc
