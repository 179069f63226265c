#include "runtime/task_label.hpp"

namespace starpmc::codelets {
namespace {

thread_local TaskLabel current_label;

}  // namespace

LabelledTasks::LabelledTasks(const TaskLabel& label) : before_(current_label) {
  current_label = label;
}
LabelledTasks::~LabelledTasks() { current_label = before_; }

const TaskLabel& LabelledTasks::current() { return current_label; }

}  // namespace starpmc::codelets
