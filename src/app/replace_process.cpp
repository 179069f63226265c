#include "app/replace_process.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "kernels/base/error.hpp"

namespace starpmc {

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void execute(std::vector<std::string>& command, char* const* environment) {
  execve(command.front().c_str(), pointers_to(command).data(), environment);
  throw RunError(command.front() +
                 ": cannot be started: " + std::generic_category().message(errno));
}

}  // namespace

void replace_process(std::vector<std::string> command) { execute(command, environ); }

void replace_process(std::vector<std::string> command, std::vector<std::string> environment) {
  execute(command, pointers_to(environment).data());
}

}  // namespace starpmc
