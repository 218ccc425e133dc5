"""The parts that set-up is made of: hashes of inputs, commands and their ends, the environment found."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from ros_setup import distribution, progress


def test_digest_sees_every_change_that_matters(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "x").write_text("1")
    seen = {progress.digest(folder)}

    def changed() -> bool:
        before = len(seen)
        seen.add(progress.digest(folder))
        return len(seen) > before

    assert not changed()
    (folder / "x").write_text("2")
    assert changed()
    (folder / "y").write_text("")
    assert changed()
    (folder / "y").rename(folder / "z")
    assert changed()
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "c").write_text("")
    assert not changed()
    assert progress.digest("ab", "c") != progress.digest("a", "bc")
    assert progress.digest(tmp_path / "none") != progress.digest(folder)


def test_failed_command_says_where_its_output_is(tmp_path: Path, capsys) -> None:
    log = tmp_path / "log"
    with pytest.raises(progress.SetupError, match=r"exit 3.*log"):
        progress.run(["sh", "-c", "echo what went wrong; exit 3"], log)
    assert "what went wrong" in log.read_text()
    assert "what went wrong" in capsys.readouterr().err


def test_stop_ends_a_command_with_all_that_it_started(tmp_path: Path, monkeypatch) -> None:
    commands = progress.Commands()
    monkeypatch.setattr(progress, "COMMANDS", commands)
    raised = []

    def run() -> None:
        try:
            progress.run(["sh", "-c", f"sleep 600 & echo $! > {tmp_path}/child; wait"], tmp_path / "log")
        except progress.SetupError as error:
            raised.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    deadline = time.monotonic() + 20
    while not ((tmp_path / "child").exists() and (tmp_path / "child").read_text().strip()):
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
    child = int((tmp_path / "child").read_text())
    commands.stop()
    thread.join(20)
    assert raised == ["interrupted"]
    while Path(f"/proc/{child}/stat").exists() and Path(f"/proc/{child}/stat").read_text().split()[2] != "Z":
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
    with pytest.raises(progress.SetupError, match="interrupted"):
        progress.run(["true"], tmp_path / "log")


def test_what_set_up_made_is_no_sourced_distribution(tmp_path: Path, monkeypatch) -> None:
    made = tmp_path / ".ros" / "jazzy"
    (made / "share" / "rcl").mkdir(parents=True)
    (made / "share" / "rcl" / "package.xml").touch()
    (made / distribution.MARKER).touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(made))
    assert distribution.sourced() is None


def test_sourced_distribution_is_the_same_however_often_it_is_named(tmp_path: Path, monkeypatch) -> None:
    ros = tmp_path / "ros"
    (ros / "share" / "rcl").mkdir(parents=True)
    (ros / "share" / "rcl" / "package.xml").touch()
    done = subprocess.CompletedProcess([], 0)
    monkeypatch.setattr(distribution.subprocess, "run", lambda *_, **__: done)
    monkeypatch.setenv("ROS_DISTRO", "jazzy")
    monkeypatch.setenv("PATH", f"{ros}/bin:/usr/bin")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(ros))
    once = distribution.sourced()
    monkeypatch.setenv("AMENT_PREFIX_PATH", os.pathsep.join([str(ros), str(tmp_path / "gone"), str(ros)]))
    assert distribution.sourced() == once
    assert once is not None and once.prefixes == [ros] and once.paths["PATH"] == [f"{ros}/bin"]
    assert once.has("rcl") and not once.has("nav2_msgs")
