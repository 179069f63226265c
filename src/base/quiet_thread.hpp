#pragma once

#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

namespace starpmc {

/// Signals are for threads that wait for them: none is to end the program by way of this one.
template <typename Work>
std::jthread thread_without_signals(Work&& work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::jthread thread(std::forward<Work>(work));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace starpmc
