#include <string>
#include <vector>

#include "app/command_line.hpp"

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  return starpmc::run_command_line(arguments);
}
