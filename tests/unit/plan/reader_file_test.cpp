// Reading files of every kind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "plan/reader.h"

namespace memverify {
namespace {

namespace fs = std::filesystem;

class ReaderFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "memverify-reader-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  static Diagnostic error(const std::string& path) {
    const Result<Plan> plan = read_plan_file(path);
    return plan.ok() ? Diagnostic{} : plan.errors()[0];
  }

  fs::path folder_;
};

TEST_F(ReaderFile, RegularFilesOfEverySizeAroundAPage) {
  for (const std::size_t size : {4095U, 4096U, 4097U}) {
    std::string text = R"({"memverify":1})";
    text.resize(size, ' ');
    EXPECT_TRUE(read_plan_file(write("p.json", text)).ok());
    // The last byte of the last page is part of a string.
    std::string cut = R"({"memverify":1,"name":")";
    cut.resize(size, 'n');
    EXPECT_EQ(error(write("p.json", cut)).message,
              "expected '\"' to end the string, found the end of the text");
  }
}

TEST_F(ReaderFile, ErrorsNameTheFileAsItWasGiven) {
  const std::string path = write("p.json", "{\n  \"memverify\": 1,\n  \"nam\": 2}");
  EXPECT_EQ(to_string(error(path)),
            path + ":3:3: error: unknown key `nam`; did you mean `name`? [json.key] (at /nam)");
}

TEST_F(ReaderFile, EmptyFile) {
  EXPECT_EQ(error(write("empty", "")).message, "expected a JSON object, found the end of the text");
}

TEST_F(ReaderFile, MissingFile) {
  const Diagnostic missing = error((folder_ / "none").string());
  EXPECT_EQ(missing.id, "file.open");
  EXPECT_EQ(missing.message, "cannot open the file: No such file or directory");
  EXPECT_EQ(missing.file, (folder_ / "none").string());
}

TEST_F(ReaderFile, Directory) {
  EXPECT_EQ(error(folder_.string()).id, "file.read");
  EXPECT_EQ(error(folder_.string()).message, "this is a directory, not a file");
  EXPECT_EQ(error("/dev/zero").message, "this is a device, not a file");
}

TEST_F(ReaderFile, FileWithoutReadPermission) {
  const std::string path = write("secret", "{}");
  fs::permissions(path, fs::perms::none);
  const uid_t user = ::geteuid();
  constexpr uid_t kNobody = 65534;
  if (user == 0) {
    ASSERT_EQ(::seteuid(kNobody), 0);  // The superuser may read everything.
  }
  const std::string message = error(path).message;
  if (user == 0) {
    ASSERT_EQ(::seteuid(user), 0);
  }
  EXPECT_EQ(message, "cannot open the file: Permission denied");
}

TEST_F(ReaderFile, Pipe) {
  const std::string path = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string name(300'000, 'n');
  std::thread writer([&] { std::ofstream(path) << R"({"memverify":1,"name":")" << name << "\"}"; });
  const Result<Plan> plan = read_plan_file(path);
  writer.join();
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().name, name);
}

TEST_F(ReaderFile, StandardInputFromAFile) {
  const std::string path = write("p.json", R"({"memverify":1,"nam":2})");
  const int saved = ::dup(STDIN_FILENO);
  const int fd = ::open(path.c_str(), O_RDONLY);
  ASSERT_GE(::dup2(fd, STDIN_FILENO), 0);
  const Diagnostic wrong = error("-");
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(fd);
  EXPECT_EQ(wrong.id, "json.key");
  EXPECT_EQ(wrong.file, "<stdin>");
}

}  // namespace
}  // namespace memverify
