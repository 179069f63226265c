#pragma once

#include <string>

namespace starpmc {

/// Completion of subcommands, options, their values where these are few words, and files, made of
/// what `--help` is made of.
std::string bash_completion();
std::string zsh_completion();

}  // namespace starpmc
