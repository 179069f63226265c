#pragma once
#include <array>
#include <vector>
namespace starpmc {
struct LocalHack { std::vector<int> movable; std::array<double,3> centre{}; double r2 = 0; };
inline std::array<LocalHack, 64> g_local;
}
