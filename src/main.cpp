#include <csignal>
#include <string>
#include <vector>

#include "app/command_line.hpp"
#include "app/device_succession.hpp"
#include "app/openmp_binding.hpp"

int main(int count, char** words) {
  // A file that may not grow (ulimit -f) is to be an error of that write, not the program's death.
  std::signal(SIGXFSZ, SIG_IGN);
  starpmc::undo_openmp_binding();
  // Whoever starts this program may ignore the ends of children, which it would inherit: the kernel
  // then forgets how a QM worker ended.
  std::signal(SIGCHLD, SIG_DFL);
  starpmc::remember_start();
  const std::vector<std::string> arguments(words + 1, words + count);
  return starpmc::run_command_line(arguments);
}
