"""Files that a test gives the node: scripts of a model, variants of the profile."""

import json

from processes import ROOT

PROFILE = ROOT / "config" / "sim_robot.yaml"


def script(folder, *answers, name="script.jsonl"):
    """A file of answers for model.kind scripted. The parameters that use it."""
    file = folder / name
    file.write_text("".join(json.dumps(a) + "\n" for a in answers))
    return {"model.kind": "scripted", "model.script": str(file)}


TASK = "{{task}}"
GIVE_UP = {"finish": "infeasible", "text": "There is no way."}


def call(tool, arguments=None, *, times=None, usage=None, delay=None, call_id="", **named):
    """An answer of a scripted model that calls one tool. A text is taken for the arguments as it stands, with its
    templates filled: TASK makes the goal's task the arguments."""
    arguments = named if arguments is None else arguments
    answer = {"calls": [{"id": call_id, "tool": tool, "arguments": arguments}]}
    return answer | _extra(times, usage, delay)


def calls(*several, times=None, usage=None):
    """An answer that calls several tools: (tool, arguments) each."""
    return {"calls": [{"tool": t, "arguments": a} for t, a in several]} | _extra(times, usage, None)


def say(text, *, usage=None):
    """An answer in words only."""
    return {"text": text} | _extra(None, usage, None)


def _extra(times, usage, delay):
    extra = {}
    if times is not None:
        extra["times"] = times
    if usage is not None:
        extra["usage"] = {"input_tokens": usage[0], "output_tokens": usage[1]}
    if delay is not None:
        extra["delay"] = delay
    return extra


def profile(folder, *changes, name="profile.yaml"):
    """A variant of the built-in robot's profile: (old, new) texts replaced, each of which must be there."""
    text = PROFILE.read_text()
    for old, new in changes:
        assert old in text, f"{PROFILE} does not hold {old!r}"
        text = text.replace(old, new)
    file = folder / name
    file.write_text(text)
    return {"profile": str(file)}
