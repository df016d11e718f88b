"""What tasks with a label column say about their data."""

from __future__ import annotations

from seqlab.core.errors import DataError
from seqlab.sources.base import Source
from seqlab.sources.column_roles import Answer, ColumnRoles, find_roles
from seqlab.sources.settings import DataSettings
from seqlab.tasks.spec import TaskSpec


class LabeledSpec(TaskSpec):
    """A task that learns the values of a label column."""

    answer: Answer
    """What the label column holds."""
    needs: str
    """What the task needs, for the error when there is none."""

    def fits(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> bool:
        return roles is not None and roles.answer == self.answer

    def find_columns(self, source: Source, data: DataSettings) -> tuple[DataSettings, list[str]]:
        roles = find_roles(source, settings=data)
        if not roles.label:
            raise DataError(
                f"{self.name} needs {self.needs}, but no column looks like one.",
                where=source.name,
                cure="Name it with data.label=NAME, or use task=language_model.",
            )
        reasons = roles.sentences(without_label=roles.answer != self.answer)
        columns = {
            "text": roles.text,
            "label": roles.label,
            "sequence": roles.sequence,
            "features": roles.features,
        }
        return data.model_copy(update=columns), reasons
