"""Code shared by the experiments: resumable tasks, results as JSON, and pages rendered only from the results."""

from harness.experiment import Experiment, command_line
from harness.tasks import Task

__all__ = ["Experiment", "Task", "command_line"]
