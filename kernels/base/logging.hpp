#pragma once

#include <spdlog/spdlog.h>

// spdlog formats in its header. Of fmt up to version 9 every file would compile all that formats
// floating-point numbers, which the library holds: a second and a half for each.
#if FMT_VERSION < 100000
extern template void fmt::detail::vformat_to<char>(
    fmt::detail::buffer<char>&, fmt::basic_string_view<char>,
    fmt::basic_format_args<fmt::buffer_context<char>>, fmt::detail::locale_ref);
#endif
