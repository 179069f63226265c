#pragma once

#include <string>

namespace starpmc {

/// starpmc(1) in the macros of man(7), made of what `--help` is made of.
std::string man_page();

}  // namespace starpmc
