#include "smg/base/error.hpp"

#include <cstdio>
#include <cstdlib>

namespace smg {

// Reached only by value() on a Result that holds an error: a broken invariant, so it aborts.
void throw_exception_from_error(const Error& error, const boost::source_location& where) {
  std::fprintf(stderr, "%s:%u: value() of a failed result: %s\n", where.file_name(),
               static_cast<unsigned>(where.line()), error.detail.c_str());
  std::abort();
}

}  // namespace smg
