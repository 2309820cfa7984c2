"""From a grouping to a release: published rows, the manifest, the folder."""

from incrowd.publish.release import Release, SavedRelease, open_release
from incrowd.published.opened import ReleaseLike

__all__ = ["Release", "ReleaseLike", "SavedRelease", "open_release"]
