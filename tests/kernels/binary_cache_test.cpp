#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <optional>

#include "device_pipeline.hpp"
#include "kernels/opencl/host/build.hpp"

namespace starpmc::test {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<unsigned char>;

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "starpmc-cache-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    folder_ = root_ / "starpmc" / "kernels";
    if (const char* const before = std::getenv("XDG_CACHE_HOME")) user_cache_ = before;
  }
  void TearDown() override {
    fs::remove_all(root_);
    if (user_cache_) {
      ::setenv("XDG_CACHE_HOME", user_cache_->c_str(), 1);
    } else {
      ::unsetenv("XDG_CACHE_HOME");
    }
  }

  BinaryCache cache() const { return BinaryCache(folder_); }
  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  fs::path root_;
  fs::path folder_;
  std::optional<std::string> user_cache_;  ///< XDG_CACHE_HOME before the test
  const Bytes binary_{1, 0, 255, 7};
};

TEST_F(Cache, GivesBackWhatWasStored) {
  EXPECT_FALSE(cache().load("key"));
  cache().store("key", binary_);
  cache().store("other key", Bytes{9});
  EXPECT_EQ(cache().load("key"), binary_);
  EXPECT_FALSE(cache().load("ke"));
  cache().store("key", Bytes{3, 4});
  EXPECT_EQ(cache().load("key"), (Bytes{3, 4}));
  EXPECT_EQ(fs::status(folder_).permissions(), fs::perms::owner_all);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);  // nothing left aside
}

TEST_F(Cache, IgnoresTornAndForeignFilesAndWritesThemAnew) {
  cache().store("key", binary_);
  const fs::path file = cache().file_of("key");
  const std::string whole = read(file);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(file, whole.substr(0, length));
    ASSERT_FALSE(cache().load("key")) << length;
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    write(file, changed);
    ASSERT_FALSE(cache().load("key")) << i;
  }
  write(file, whole + "x");
  EXPECT_FALSE(cache().load("key"));
  cache().store("key", binary_);
  EXPECT_EQ(cache().load("key"), binary_);
  // a file of another key under this key's name, as two keys of one hash would have it
  cache().store("other key", Bytes{9});
  fs::copy_file(cache().file_of("other key"), file, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(cache().load("key"));
}

TEST_F(Cache, TrustsOnlyWhatNobodyElseMayWrite) {
  cache().store("key", binary_);
  const fs::path file = cache().file_of("key");
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(cache().load("key"));
  fs::permissions(file, fs::perms::group_write, fs::perm_options::remove);
  EXPECT_TRUE(cache().load("key"));
  fs::permissions(folder_, fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(cache().load("key"));
  cache().store("second", binary_);
  EXPECT_FALSE(fs::exists(cache().file_of("second")));
  fs::permissions(folder_, fs::perms::others_write, fs::perm_options::remove);
  EXPECT_TRUE(cache().load("key"));
  fs::rename(file, root_ / "elsewhere");
  fs::create_symlink(root_ / "elsewhere", file);
  EXPECT_FALSE(cache().load("key"));
  fs::rename(folder_, root_ / "moved");
  fs::create_directory_symlink(root_ / "moved", folder_);
  cache().store("third", binary_);
  EXPECT_FALSE(fs::exists(root_ / "moved" / cache().file_of("third").filename()));
}

TEST_F(Cache, LivesWithFoldersItCannotUse) {
  const BinaryCache inside_a_file(root_ / "file" / "kernels");
  write(root_ / "file", "text");
  inside_a_file.store("key", binary_);
  EXPECT_FALSE(inside_a_file.load("key"));
  EXPECT_EQ(read(root_ / "file"), "text");
}

TEST_F(Cache, KeepsToItsSize) {
  for (std::size_t i = 0; i < BinaryCache::kMostFiles + 5; ++i) {
    cache().store("key " + std::to_string(i), binary_);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}),
            static_cast<std::ptrdiff_t>(BinaryCache::kMostFiles));
}

TEST_F(Cache, LiesWhereTheUserWantsIt) {
  ::setenv("XDG_CACHE_HOME", root_.c_str(), 1);
  EXPECT_EQ(BinaryCache::of_user()->file_of("key"), cache().file_of("key"));
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(BinaryCache::of_user()->file_of("key").parent_path(),
            fs::path(std::getenv("HOME")) / ".cache" / "starpmc" / "kernels");
}

TEST_F(Cache, KnowsWhetherItTakesFiles) {
  EXPECT_TRUE(cache().takes_files());
  EXPECT_TRUE(fs::is_directory(folder_));
  write(root_ / "file", "text");
  EXPECT_FALSE(BinaryCache(root_ / "file" / "kernels").takes_files());
}

/// What it lacks is told of once it is asked for, and built by whoever helps.
TEST_F(Cache, IsFilledByOthers) {
  const auto device = find_device(CL_DEVICE_TYPE_ALL);
  if (!device) GTEST_SKIP() << "no OpenCL device with double precision";
  const std::string text = "__kernel void answer(__global int *x) { *x = ANSWER; }\n";
  ::setenv("XDG_CACHE_HOME", root_.c_str(), 1);
  int told = 0;
  std::vector<std::string> requests;
  const auto build = [&](const std::string& options, bool helps, const BinaryCache& files) {
    opencl::set_build_help({[&](const std::string&) { ++told; },
                            [&](const std::string& request) {
                              requests.push_back(request);
                              opencl::set_build_help({});
                              if (helps) opencl::build_into_cache(request);
                            }});
    const auto program =
        opencl::build_program(device->context.get(), device->id, text, options, &files);
    opencl::set_build_help({});
    cl_int error = CL_SUCCESS;
    const opencl::Owned<cl_kernel> kernel(clCreateKernel(program.get(), "answer", &error));
    return error == CL_SUCCESS;
  };
  const auto files_there = [&] { return std::distance(fs::directory_iterator(folder_), {}); };
  EXPECT_TRUE(build("-DANSWER=42", true, cache()));
  EXPECT_EQ(files_there(), 1);
  EXPECT_TRUE(build("-DANSWER=42", true, cache()));
  EXPECT_EQ(requests.size(), 1U);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(build("-DANSWER=43", false, cache()));  // whoever helps has failed
  EXPECT_EQ(files_there(), 2);
  EXPECT_EQ(requests.size(), 2U);
  write(root_ / "file", "text");
  EXPECT_TRUE(build("-DANSWER=44", true, BinaryCache(root_ / "file" / "kernels")));
  EXPECT_EQ(requests.size(), 2U);  // what others built would be lost
  EXPECT_EQ(told, 3);
  for (const std::string& nothing :
       {std::string(), std::string("text"), std::string("0 0"), std::string("99 0 0\n"),
        std::string("0 99 0\n"), std::string("0 0 9\nshort"), std::string("-1 0 0\n")}) {
    EXPECT_THROW(opencl::build_into_cache(nothing), RunError) << nothing;
  }
}

/// A program from the cache does what the program from its text does; a binary the driver does not
/// take is replaced.
TEST_F(Cache, ServesPrograms) {
  const auto device = find_device(CL_DEVICE_TYPE_ALL);
  if (!device) GTEST_SKIP() << "no OpenCL device with double precision";
  const std::string text = "__kernel void answer(__global int *x) { *x = 42; }\n";
  const auto answer = [&](const std::string& options) {
    const BinaryCache files = cache();
    const auto program =
        opencl::build_program(device->context.get(), device->id, text, options, &files);
    cl_int error = CL_SUCCESS;
    const opencl::Owned<cl_kernel> kernel(clCreateKernel(program.get(), "answer", &error));
    opencl::check(error, "clCreateKernel");
    const opencl::Owned<cl_mem> memory(
        clCreateBuffer(device->context.get(), CL_MEM_READ_WRITE, sizeof(int), nullptr, &error));
    opencl::check(error, "clCreateBuffer");
    cl_mem argument = memory.get();
    opencl::check(clSetKernelArg(kernel.get(), 0, sizeof(cl_mem), &argument), "clSetKernelArg");
    const std::size_t one = 1;
    opencl::check(clEnqueueNDRangeKernel(device->queue.get(), kernel.get(), 1, nullptr, &one, &one,
                                         0, nullptr, nullptr),
                  "clEnqueueNDRangeKernel");
    int result = 0;
    opencl::check(clEnqueueReadBuffer(device->queue.get(), argument, CL_TRUE, 0, sizeof(int),
                                      &result, 0, nullptr, nullptr),
                  "clEnqueueReadBuffer");
    return result;
  };
  EXPECT_EQ(answer(""), 42);
  ASSERT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  EXPECT_EQ(answer(""), 42);
  // nonsense in place of the binary, in a file that is whole
  const fs::path file = fs::directory_iterator(folder_)->path();
  const std::string whole = read(file);
  const std::size_t lengths = std::string_view("starpmc kernels 1\n").size();
  std::uint64_t key_length = 0;
  std::memcpy(&key_length, &whole.at(lengths), sizeof key_length);
  const std::string key = whole.substr(lengths + 16, key_length);
  ASSERT_TRUE(cache().load(key));
  cache().store(key, binary_);
  EXPECT_EQ(answer(""), 42);
  EXPECT_NE(cache().load(key), binary_);
  EXPECT_EQ(answer("-DSOME=1"), 42);
  ASSERT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);
  EXPECT_THROW(opencl::build_program(device->context.get(), device->id, "no kernel", "", nullptr),
               RunError);
}

}  // namespace
}  // namespace starpmc::test
