"""The policy of a release as it may be shown: what was asked for, without values and places."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from incrowd._runtime.manifests import Manifest, counts_in
from incrowd._runtime.plain_yaml import dump
from incrowd.privacy import MODELS
from incrowd.privacy.parameters import Means

if TYPE_CHECKING:
    from incrowd.hierarchies.description import TimePolicy
    from incrowd.policy import AttributePolicy, HierarchyPolicy, Policy

_SHOWN = (Means.COLUMNS, Means.LIMITS, Means.WEIGHTS)
"""What lists and mappings may hold to be told: nothing that is a value."""


def shareable_policy(policy: Policy, manifest: Manifest) -> str:
    """The policy as YAML that runs once its source, its files and its values are put back.

    The source and the folders of files are left out, and so are lists of values that the release
    may not show: trees, orders, rules, categories. Where records were suppressed, so are
    the ends of ranges.
    """
    suppressed = bool(counts_in(manifest)["suppressed"])
    told: dict[str, Any] = {}
    if policy.patients is None:
        told |= _columns(policy.attributes, policy.other, suppressed)
        if policy.unit is not None:
            told["unit"] = policy.unit
    else:
        key, own = policy.patients.key, policy.patients
        told["patients"] = {"key": key, **_columns(own.attributes, own.other, suppressed)}
        told["tables"] = {
            name: {
                "unit": each.unit,
                **_columns(each.attributes, each.other, suppressed),
                **({"unmatched": each.unmatched} if each.unmatched == "drop" else {}),
            }
            for name, each in policy.tables.items()
        }
    told["privacy"] = [
        {each["model"]: _parameters(each["parameters"], MODELS[each["model"]].means())}
        for each in manifest["promises"]
    ]
    told["method"] = {"name": policy.method.name, **policy.method.model_dump(mode="json")}
    told["goal"] = policy.goal
    told["publish"] = policy.publish
    told["suppression"] = policy.suppression
    told["missing"] = policy.missing
    if policy.weights is not None:
        told["weights"] = policy.weights
    if policy.rule_base:
        told["rule-base"] = policy.rule_base
    for name in ("hospitals", "report"):
        part = getattr(policy, name).model_dump(mode="json", by_alias=True, exclude_defaults=True)
        if part:
            told[name] = part
    if policy.most_events is not None:
        told["most-events"] = policy.most_events
    told["format"] = policy.format
    return dump(told, width=88, flow=None)


def _columns(
    attributes: Mapping[str, AttributePolicy], other: str | None, suppressed: bool
) -> dict[str, Any]:
    """What a policy says of the columns of one table."""
    told = {name: _attribute(asked, suppressed) for name, asked in attributes.items()}
    return {"attributes": told, **({} if other is None else {"other": other})}


def _attribute(asked: AttributePolicy, suppressed: bool) -> str | dict[str, Any]:
    told: dict[str, Any] = {"role": str(asked.role)}
    if asked.level != "patient":
        told["level"] = asked.level
    if asked.take is not None:
        told["take"] = asked.take
    if asked.type is not None:
        told["type"] = asked.type
    if asked.format is not None:
        told["format"] = asked.format
    if asked.order is not None:
        told["order"] = _left_out(len(asked.order), "value")
    if asked.time is not None:
        told["time"] = _time(asked.time)
    if asked.hierarchy is not None:
        told["hierarchy"] = _hierarchy(asked.hierarchy, suppressed)
    if asked.weight is not None:
        told["weight"] = asked.weight
    if asked.rules is not None:
        told["rules"] = _left_out(len(asked.rules), "rule")
    return told["role"] if len(told) == 1 else told


def _time(asked: TimePolicy) -> dict[str, Any]:
    told: dict[str, Any] = asked.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if isinstance(told.get("relative-to"), dict):
        told["relative-to"]["value"] = _left_out(1, "value")
    return told


def _hierarchy(asked: HierarchyPolicy, suppressed: bool) -> Any:
    if asked.file is not None:
        return PurePath(asked.file.replace("\\", "/")).name
    if asked.tree is not None:
        return {"tree": _left_out(len(asked.tree), "branch", "branches")}
    if asked.auto:
        return "auto"
    told: dict[str, Any] = asked.model_dump(mode="json", by_alias=True, exclude_none=True)
    if suppressed and "intervals" in told:
        # Ends that were chosen to fit the data would tell how far suppressed records lie.
        ends = dict.fromkeys(("start", "stop"), "… in the policy file")
        told["intervals"] = {**told["intervals"], **ends}
    return told


def _parameters(parameters: Mapping[str, Any], means: Mapping[str, Means | None]) -> dict[str, Any]:
    return {
        name: _left_out(len(value), "entry", "entries")
        if means.get(name) not in _SHOWN and isinstance(value, Mapping | list)
        else value
        for name, value in parameters.items()
        if value is not None
    }


def _left_out(number: int, one: str, many: str | None = None) -> str:
    return f"… {number} {one if number == 1 else many or f'{one}s'} in the policy file"
