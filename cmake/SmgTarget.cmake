# How every target of ours is compiled, and how a layer is declared.

add_library(smg_options INTERFACE)
target_compile_options(smg_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wimplicit-fallthrough -Werror
  -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Optimising, g++ 12 misjudges coroutine frames: how they are allocated and what is set in them.
  target_compile_options(smg_options INTERFACE -Wno-maybe-uninitialized -Wno-mismatched-new-delete)
endif()
target_compile_definitions(smg_options INTERFACE
  SMG_VERSION="${PROJECT_VERSION}"
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
if(SMG_SANITIZE)
  # vptr, null, alignment and object-size checks triple the compile time of Asio's templates.
  set(sanitize -fsanitize=${SMG_SANITIZE})
  if(SMG_SANITIZE MATCHES "undefined")
    list(APPEND sanitize -fno-sanitize=vptr,null,alignment,object-size -fno-sanitize-recover=all)
  endif()
  if(SMG_SANITIZE MATCHES "thread")
    target_compile_options(smg_options INTERFACE -Wno-tsan)
  endif()
  target_compile_options(smg_options INTERFACE ${sanitize})
  target_link_options(smg_options INTERFACE ${sanitize})
endif()

# smg_layer(NAME DEPENDS layer... LIBRARIES lib...)
# Makes the static library smg_NAME of src/NAME/*.cpp. Its headers are reachable only through a
# link directory of its own, so an #include of a layer that is not in DEPENDS (or below) does not
# compile: that is what keeps the arrows in ARCHITECTURE.md true.
function(smg_layer name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  set(view "${PROJECT_BINARY_DIR}/layers/${name}")
  file(MAKE_DIRECTORY "${view}/smg")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/include/smg/${name}" "${view}/smg/${name}" SYMBOLIC)
  if(sources)
    add_library(smg_${name} STATIC ${sources})
    set(visibility PUBLIC)
    target_link_libraries(smg_${name} PRIVATE smg_options)
  else()
    add_library(smg_${name} INTERFACE)
    set(visibility INTERFACE)
  endif()
  target_include_directories(smg_${name} ${visibility} "${view}")
  list(TRANSFORM arg_DEPENDS PREPEND smg_)
  target_link_libraries(smg_${name} ${visibility} ${arg_DEPENDS} ${arg_LIBRARIES})
endfunction()
