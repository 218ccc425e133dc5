// Package msgdef reads interface definitions: .msg, .srv and .action files become
// ros.Type, ros.ServiceType and ros.ActionType at run time, errors with file and line.
//
// A [Source] reads them from file trees laid out as ROS installs them,
// <package>/{msg,srv,action}/<Name>.{msg,srv,action}, when they are first asked for.
// [Embedded] needs no ROS: it has the common packages (folder std, made by
// internal/generate from an installed ROS, see std/NOTICE), agent_msgs and the
// interfaces of the built-in robot. Folder ros1 has the usual packages as ROS 1 defines them, for [ROS1Trees], made by the
// same program from an installed ROS 1. Package typedesc computes type hashes from them.
package msgdef
