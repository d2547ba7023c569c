"""What the experiments share: tasks that can be resumed, results as JSON, and pages rendered from the results alone."""

from harness.experiment import Experiment
from harness.tasks import Task

__all__ = ["Experiment", "Task"]
