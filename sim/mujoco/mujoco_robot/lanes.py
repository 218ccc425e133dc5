"""Which goal has which part of the robot: base, arm or gripper. One goal has a part at a time; a newer one takes it.

A mover does what a goal asks for, one step at a time; its methods are called with the robot's lock held:

move()           lets it go on for a step; an Ending, or None while it goes on
halt()           brings it to rest, one step at a time; True when that is measured
leave(finished)  takes its command off the robot; finished says that it came to its own good end
taken(why)       the Ending when its part is taken from it
canceled()       the Ending at rest after a cancel
feedback()       its feedback message
"""

import threading
from typing import NamedTuple

HALT_WITHIN = 2.0  # s after which a cancel is over even if the robot creeps on


class Ending(NamedTuple):
    how: str  # succeed, abort or canceled: the goal handle's method
    result: object


class Job:
    """A goal that moves its part."""

    def __init__(self, handle, mover, began):
        self.handle, self.mover, self.began = handle, mover, began
        self.halting = None  # since when
        self.ending = None
        self.over = threading.Event()


class Lane:
    """A part of the robot that one goal at a time moves."""

    def __init__(self):
        self.job = None

    def begin(self, job):
        self.take_away("preempted by a newer goal")
        self.job = job

    def take_away(self, why):
        if self.job is not None:
            self.end(self.job.mover.taken(why))

    def end(self, ending):
        """A goal whose cancel is obeyed ends canceled, whatever else comes."""
        job, self.job = self.job, None
        if job.halting is not None:
            ending = job.mover.canceled()
        job.mover.leave(ending.how == "succeed")
        job.ending = ending
        job.over.set()

    def step(self, now, stopped):
        """Lets the goal go on; stopped is the emergency stop."""
        job = self.job
        if job is None:
            return
        if stopped:
            self.take_away("the emergency stop is pressed")
            return
        if job.halting is None and job.handle.is_cancel_requested:
            job.halting = now
        if job.halting is not None:
            if job.mover.halt() or now - job.halting >= HALT_WITHIN:
                self.end(job.mover.canceled())
            return
        ending = job.mover.move()
        if ending is not None:
            self.end(ending)
