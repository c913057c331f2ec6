// The one translation unit that compiles Asio itself.
#include <boost/asio/impl/src.hpp>
