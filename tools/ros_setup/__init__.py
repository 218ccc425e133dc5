"""Sets up ROS 2 for this checkout: a prefix, the interface packages it lacks, build/env.sh.

distribution.py  what there is: a sourced distribution, or the one to make from wheels
wheels.py        makes a prefix from wheels
overlay.py       builds interface packages
environment.py   writes build/env.sh
progress.py      lines for the person who waits; commands with their output kept in a log
"""
