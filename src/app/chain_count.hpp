#pragma once

#include "config/settings.hpp"
#include "mpi/ranks.hpp"

namespace starpmc {

/// What QM workers beyond those that chains are at work with may take of free_memory_mb().
double spare_memory_mb();

/// Number of chains for `--sampling.chains auto`: with a QM worker one per CPU worker, for a core
/// waits for each; of pure sampling as many as keep a device busy. Each chain's QM worker and its
/// own data must find room in four fifths of the memory that is free when the first is running.
/// @param worker_memory_mb resident memory of one QM worker; 0: there is none
unsigned automatic_chains(unsigned cpu_workers, unsigned devices, double worker_memory_mb);

/// The same for a given amount of free memory.
unsigned automatic_chains(unsigned cpu_workers, unsigned devices, double worker_memory_mb,
                          double free_memory_mb);

/// How many QM workers so many chains of a process have: qm.workers, or as many as updates can be
/// made at a time. Further chains use these in turn.
unsigned qm_workers(const Settings::QmSection& settings, unsigned chains);

/// @param chains 0: auto
/// @throws InputError where there are too few for each rank to have one
void require_chains_for_all(const Ranks& ranks, unsigned chains);

}  // namespace starpmc
