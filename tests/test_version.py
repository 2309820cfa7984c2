"""The version stands in one place; what must repeat it, repeats it."""

import tomllib
from pathlib import Path

import yaml

import incrowd

REPOSITORY = Path(__file__).parent.parent


def test_the_build_reads_the_version_from_its_one_place() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    place = REPOSITORY / project["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{incrowd.__version__}"' in place.read_text(encoding="utf-8")


def test_the_citation_and_the_changelog_name_the_version() -> None:
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == incrowd.__version__
    changes = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {incrowd.__version__} " in changes
