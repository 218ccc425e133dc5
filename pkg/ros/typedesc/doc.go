// Package typedesc tells what a node's interface types are made of: descriptions
// and hashes (RIHS01) of messages, services and actions, computed from run-time types or read from an
// installed prefix, and the service ~/get_type_description that hands them out.
package typedesc
