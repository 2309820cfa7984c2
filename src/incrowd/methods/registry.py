"""The method that a policy's options name, run on a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incrowd.errors import ParameterError
from incrowd.methods.options import (
    AnatomizeOptions,
    ClusteringOptions,
    IncognitoOptions,
    MethodOptions,
    MondrianOptions,
    ResearchValueOptions,
    TopDownLocalOptions,
    TopDownSpecializationOptions,
)

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, TaskAt


def run(task: TaskAt[Any], options: MethodOptions) -> Outcome:
    """What the method decides on the task; its compiled loops are loaded only now."""
    if not options.runs_on(type(task.counts)):
        raise ParameterError(f"{options.name} asks for more than the home of the records answers.")
    if isinstance(options, MondrianOptions):
        from incrowd.methods.mondrian import mondrian

        return mondrian(task, options)
    if isinstance(options, TopDownSpecializationOptions):
        from incrowd.methods.top_down_specialization import top_down_specialization

        return top_down_specialization(task, options)
    if isinstance(options, TopDownLocalOptions):
        from incrowd.methods.top_down_local import top_down_local

        return top_down_local(task, options)
    if isinstance(options, IncognitoOptions):
        from incrowd.methods.incognito import incognito

        return incognito(task, options)
    if isinstance(options, ClusteringOptions):
        from incrowd.methods.clustering import clustering

        return clustering(task, options)
    if isinstance(options, ResearchValueOptions):
        from incrowd.methods.research_value import research_value

        return research_value(task, options)
    if isinstance(options, AnatomizeOptions):
        from incrowd.methods.anatomize import anatomize

        return anatomize(task, options)
    raise TypeError(f"no method takes {type(options).__name__}")
