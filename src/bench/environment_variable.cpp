#include "bench/environment_variable.hpp"

#include <cstdlib>

namespace starpmc {

EnvironmentVariable::EnvironmentVariable(std::string name, const std::string& value)
    : name_(std::move(name)) {
  const char* const set = std::getenv(name_.c_str());
  was_set_ = set != nullptr;
  if (was_set_) before_ = set;
  setenv(name_.c_str(), value.c_str(), 1);
}

EnvironmentVariable::~EnvironmentVariable() {
  if (was_set_) {
    setenv(name_.c_str(), before_.c_str(), 1);
  } else {
    unsetenv(name_.c_str());
  }
}

}  // namespace starpmc
