# add_driver(NAME SOURCE [ALSO source...] [LIBRARIES library...]
#            [DEFINES definition...] [KNOWN_FAILURES test...])
#
# Makes the object library driver_NAME (the driver and its build facts) and the
# executable db_bench_NAME.  LIBRARIES are link names, the engine's own first.
# KNOWN_FAILURES are tests of the conformance suite, such as
# "DriverTest.ScansBackward*", that the engine fails: the other tests run without
# them, and tests of their own show that they still fail.
# A library that is not there means a message and no executable: the harness
# reports such an engine as missing.
#
# The target `plugins`, which is not part of `all`, makes plugins/drivers/NAME.so of each
# driver, for `kvmatrix ab --duet`.  A static library then needs position-independent code.
#
# -DKVM_PREFIX_<library>=/prefix takes that library and its headers from where its
# authors installed a build of their own, and nowhere else.

# Sets `path` to the library in the folder that the user chose, and what is known
# of it: where it is, and the file's checksum.
function(find_own_library library)
  set(prefix ${KVM_PREFIX_${library}})
  set(path "")
  foreach(end a so)
    file(GLOB path ${prefix}/lib*/lib${library}.${end}
         ${prefix}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/lib${library}.${end})
    if(path)
      break()
    endif()
  endforeach()
  if(NOT path OR NOT IS_ABSOLUTE "${prefix}")
    message(FATAL_ERROR "KVM_PREFIX_${library}=${prefix}: there is no "
                        "/prefix/lib*/lib${library}.a or .so")
  endif()
  list(GET path 0 path)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  set(package ${library})
  set(of KVM_ENGINE_${package})
  file(SHA256 ${path} ${of}_SHA256)
  set(${of}_PREFIX ${prefix})
  set(${of}_VERSION "built elsewhere")
  set(${of}_ORIGIN "built elsewhere")
  file(REAL_PATH ${path} place)
  set(${of}_PLACE ": ${place}")
  set(${of}_FLAGS "")
  return(PROPAGATE path package ${of}_PREFIX ${of}_VERSION ${of}_ORIGIN ${of}_PLACE
         ${of}_SHA256 ${of}_FLAGS)
endfunction()

# Sets `path` and `package` to where `library` is and to the package that it
# belongs to; `path` is empty when there is none.  In bundled mode nothing will do
# but our own archives and what an engine says is the distribution's.
function(find_engine_library library)
  set(path "")
  set(package ${library})
  foreach(candidate IN LISTS KVM_ENGINE_PACKAGES)
    set(of KVM_ENGINE_${candidate})
    if("${${of}_LINK}" STREQUAL "${library}")
      set(path ${${of}_LIBRARY})
      set(package ${candidate})
    elseif(${of}_PREFIX)
      file(GLOB archive ${${of}_PREFIX}/lib*/lib${library}.a)
      if(archive)
        list(GET archive 0 path)
        set(package ${candidate})
      endif()
    endif()
  endforeach()
  if(path STREQUAL "" AND KVM_ENGINES STREQUAL "system")
    find_library(found NAMES ${library} NO_CACHE)
    if(found)
      set(path ${found})
    endif()
    if(DEFINED KVM_ENGINE_lib${library}_VERSION)
      set(package lib${library})
    endif()
  endif()
  return(PROPAGATE path package)
endfunction()

# Says why db_bench_`name` is not built, here and in db_bench_`name`.why, where
# scripts/setup reads it, and removes one that was built earlier.
function(not_built name why)
  message(STATUS "db_bench_${name}: not built, ${why}")
  set(executable ${CMAKE_BINARY_DIR}/drivers/db_bench_${name})
  file(WRITE ${executable}.why "${why}\n")
  file(REMOVE ${executable} ${CMAKE_BINARY_DIR}/plugins/drivers/${name}.so)
endfunction()

# Sets `facts` to the path of a source that defines kBuildFacts for `name`.
# `packages` holds the engine's source packages, its own first; may be empty.
# Equal libraries make equal executables: where one that was built elsewhere is, only
# the file db_bench_`name`.origin next to the executable says, for drivers/linked.cc.
function(write_build_facts name packages)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" FLAGS)
  set(TARGET db_bench_${name})
  set(COMPILER "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  set(ORIGIN "this repository")
  set(ORIGIN_SHA256 "")
  set(ENGINE_FLAGS "")
  set(places "${ORIGIN}")
  if(packages)
    list(POP_FRONT packages engine)
    set(of KVM_ENGINE_${engine})
    set(ORIGIN "${${of}_ORIGIN}")
    set(ORIGIN_SHA256 "${${of}_SHA256}")
    set(ENGINE_FLAGS "${${of}_FLAGS}")
    set(places "${ORIGIN}${${of}_PLACE}")
    foreach(package IN LISTS packages)
      set(of KVM_ENGINE_${package})
      string(APPEND ORIGIN ", ${package} ${${of}_VERSION}")
      string(APPEND places ", ${package} ${${of}_VERSION}${${of}_PLACE}")
    endforeach()
  endif()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/db_bench_${name}.origin)
  file(REMOVE ${file})
  if(NOT places STREQUAL ORIGIN)
    file(WRITE ${file} "${places}")
  endif()
  set(facts ${CMAKE_CURRENT_BINARY_DIR}/build_facts_${name}.cc)
  configure_file(build_facts.cc.in ${facts} @ONLY)
  return(PROPAGATE facts ORIGIN ORIGIN_SHA256)
endfunction()

# Adds the plug-in of a driver to the target `plugins`.
function(add_plugin_of_driver name sources libraries)
  set(target plugin_${name})
  set(folder ${CMAKE_BINARY_DIR}/plugins/drivers)
  # What times the engine's own functions is linked with the harness.
  list(FILTER sources EXCLUDE REGEX "_primitives.cc$")
  add_library(${target} MODULE EXCLUDE_FROM_ALL ${sources} plugins/export.cc)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${folder} CXX_VISIBILITY_PRESET hidden)
  target_include_directories(${target} BEFORE PRIVATE plugins)
  target_include_directories(${target} SYSTEM PRIVATE
    $<TARGET_PROPERTY:driver_${name},INTERFACE_SYSTEM_INCLUDE_DIRECTORIES>)
  target_compile_definitions(${target} PRIVATE
    $<TARGET_PROPERTY:driver_${name},COMPILE_DEFINITIONS>
    KVM_PROPERTIES=KVM_KEEPS_THREADS
    "KVM_ORIGIN=\"${ORIGIN}\"" "KVM_ORIGIN_SHA256=\"${ORIGIN_SHA256}\"")
  target_compile_options(${target} PRIVATE
    $<TARGET_PROPERTY:driver_${name},COMPILE_OPTIONS>)
  target_link_libraries(${target} PRIVATE ${libraries} kvmatrix_options)
  # Another build of the same engine may be in the same process.
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)
  add_dependencies(plugins ${target})
  if(NOT KVM_CORE)  # which has the executable that loads it
    add_custom_command(TARGET ${target} POST_BUILD COMMAND ${CMAKE_COMMAND} -E
      create_symlink $<TARGET_FILE:db_bench_plugin> ${folder}/db_bench_plugin)
    add_dependencies(${target} db_bench_plugin)
  endif()
endfunction()

function(add_driver name source)
  cmake_parse_arguments(arg "" "" "ALSO;LIBRARIES;DEFINES;KNOWN_FAILURES" ${ARGN})
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    not_built(${name} "there is no drivers/${source}")
    return()
  endif()
  set(archives "")
  set(packages "")
  set(headers "")
  foreach(library IN LISTS arg_LIBRARIES)
    if(KVM_PREFIX_${library})
      find_own_library(${library})
    else()
      find_engine_library(${library})
    endif()
    if(path STREQUAL "")
      not_built(${name} "there is no ${KVM_ENGINES} library ${library}")
      return()
    endif()
    list(APPEND archives ${path})
    list(APPEND packages ${package})
    if(KVM_ENGINE_${package}_PREFIX)
      list(APPEND headers ${KVM_ENGINE_${package}_PREFIX}/include)
    endif()
  endforeach()
  file(REMOVE ${CMAKE_CURRENT_BINARY_DIR}/db_bench_${name}.why)
  write_build_facts(${name} "${packages}")
  add_library(driver_${name} OBJECT ${source} ${arg_ALSO} ${facts})
  target_include_directories(driver_${name} SYSTEM PUBLIC ${headers})
  list(TRANSFORM headers PREPEND -fmacro-prefix-map=)  # as kvmatrix_options has it
  list(TRANSFORM headers APPEND /=)
  target_compile_options(driver_${name} PRIVATE ${headers})
  target_compile_definitions(driver_${name} PRIVATE ${arg_DEFINES})
  set_property(TARGET driver_${name} PROPERTY KNOWN_FAILURES ${arg_KNOWN_FAILURES})
  target_link_libraries(driver_${name}
    PUBLIC kvmatrix_common ${archives} Threads::Threads
    PRIVATE kvmatrix_options)
  add_executable(db_bench_${name})
  # A shared library in the build folder is found wherever that folder is.
  set_property(TARGET db_bench_${name} PROPERTY BUILD_RPATH_USE_ORIGIN TRUE)
  target_link_libraries(db_bench_${name} PRIVATE driver_${name})
  if(NOT name STREQUAL "plugin")
    add_plugin_of_driver(${name} "${source};${arg_ALSO}" "${archives};Threads::Threads")
  endif()
endfunction()
