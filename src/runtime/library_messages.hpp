#pragma once

#include <string>
#include <vector>

namespace starpmc {

/// What StarPU and the compilers of OpenCL drivers say on standard error while the object lives, so
/// that it goes to the log instead of the terminal. What is not theirs is passed on when the object
/// ends; should the process abort, everything is. One object at a time. With STARPU_SILENT=0 the
/// user wants to see it all, and nothing is held back.
class LibraryMessages {
 public:
  LibraryMessages();
  ~LibraryMessages();
  LibraryMessages(const LibraryMessages&) = delete;
  LibraryMessages& operator=(const LibraryMessages&) = delete;

  /// Standard error is the terminal's again. @return the libraries' lines
  std::vector<std::string> end();

 private:
  void restore();

  int terminal_ = -1;
  int kept_ = -1;
};

/// Whether a line is one of StarPU's or of a compiler's count of its warnings.
bool is_from_library(const std::string& line);

}  // namespace starpmc
