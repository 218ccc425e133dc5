# Stands before the real rosidl_default_generators when an interface package is built for this
# repository's own prefix: C and Python only. Nothing in that prefix is written in C++, and the
# C++ generators take half of the time.
foreach(_generator IN ITEMS
    rosidl_cmake
    rosidl_generator_type_description
    rosidl_generator_c
    rosidl_generator_py
    rosidl_typesupport_c
    rosidl_typesupport_fastrtps_c
    rosidl_typesupport_introspection_c)
  find_package(${_generator} REQUIRED)
endforeach()

# The Fast DDS generator for C and the message packages depended on bring the C++ generators with
# them, so they are taken off the list at the last moment. _rosidl_generate_interfaces is the
# name under which CMake keeps the function that is redefined here.
if(NOT COMMAND _rosidl_generate_interfaces)
  macro(rosidl_generate_interfaces)
    list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
    _rosidl_generate_interfaces(${ARGV})
  endmacro()
endif()
set(rosidl_default_generators_FOUND TRUE)
