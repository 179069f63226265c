#pragma once

#include <utility>
#include <vector>

#include "kernels/base/error.hpp"

namespace starpmc {

/// What is wrong with inputs that do not depend on each other. Either the first error is thrown,
/// for those who want to work with the inputs, or all are collected, for those who want to mend
/// them.
class InputErrors {
 public:
  enum class Mode { throw_first, collect };

  explicit InputErrors(Mode mode) : collect_(mode == Mode::collect) {}

  /// @return whether `read` came to its end; otherwise its InputError is among all()
  /// @throws what `read` throws, but for an InputError that is collected
  template <class Read>
  bool attempt(Read&& read) {
    try {
      std::forward<Read>(read)();
      return true;
    } catch (const InputError& error) {
      if (!collect_) throw;
      all_.push_back(error);
      return false;
    }
  }

  bool collects() const { return collect_; }
  const std::vector<InputError>& all() const { return all_; }

 private:
  bool collect_;
  std::vector<InputError> all_;
};

}  // namespace starpmc
