#include "kernels/opencl/host/source_text.hpp"

#include <fstream>

#include "kernels/base/error.hpp"

namespace starpmc::opencl {
namespace {

constexpr int kDeepestInclude = 12;

void append(const std::filesystem::path& folder, std::string_view name, int depth,
            std::string& text) {
  const std::filesystem::path path = folder / name;
  std::ifstream file(path);
  if (!file) {
    throw RunError("cannot read the kernel file '" + path.string() +
                   "': is the installation complete?");
  }
  if (depth > kDeepestInclude) {
    throw RunError("kernel file '" + path.string() + "' includes itself");
  }
  constexpr std::string_view kInclude = "#include \"";
  const auto mark_line = [&](int line) {
    text += "#line " + std::to_string(line) + " \"" + std::string(name) + "\"\n";
  };
  mark_line(1);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.starts_with(kInclude)) {
      const std::size_t end = line.find('"', kInclude.size());
      append(folder, line.substr(kInclude.size(), end - kInclude.size()), depth + 1, text);
      mark_line(number + 1);
    } else {
      text += line + '\n';
    }
  }
  if (file.bad()) throw RunError("reading the kernel file '" + path.string() + "' failed");
}

}  // namespace

std::string source_text(const std::filesystem::path& folder,
                        std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) append(folder, name, 0, text);
  return text;
}

}  // namespace starpmc::opencl
