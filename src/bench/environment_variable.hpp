#pragma once

#include <string>

namespace starpmc {

/// Sets a variable of the environment for as long as it lives, for StarPU runtimes that start
/// meanwhile.
class EnvironmentVariable {
 public:
  EnvironmentVariable(std::string name, const std::string& value);
  ~EnvironmentVariable();
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  std::string name_;
  std::string before_;
  bool was_set_;
};

}  // namespace starpmc
