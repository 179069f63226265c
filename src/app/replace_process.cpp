#include "app/replace_process.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "kernels/base/error.hpp"

namespace starpmc {

void replace_process(std::vector<std::string> command) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  execv(words.front(), words.data());
  throw RunError(command.front() +
                 ": cannot be started: " + std::generic_category().message(errno));
}

}  // namespace starpmc
