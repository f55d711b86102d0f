# find_package(kvmatrix): kvmatrix_add_driver() builds an engine's plug-in and its tests.

include(CMakeFindDependencyMacro)
find_dependency(gflags)
include(${CMAKE_CURRENT_LIST_DIR}/kvmatrixTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/kvmatrix_add_driver.cmake)
