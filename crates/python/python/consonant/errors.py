"""What can go wrong: what was expected, what came, and what to do."""


class Error(Exception):
    """Above all exceptions of the package."""


class UsageError(Error, ValueError):
    """What was asked for makes no sense, whatever the data are."""


class DataError(Error, ValueError):
    """A file of text or data is wrong, or cannot be read."""


class ModelError(Error):
    """A model is wrong, missing, or cannot be read."""


class ProblemError(Error, ValueError):
    """A problem for the engine is none."""


class TaskError(Error):
    """A task failed at its work."""
