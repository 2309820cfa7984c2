"""From a grouping to a release: published rows, the manifest, the folder."""

from incrowd.publish.release import Release, ReleaseLike, SavedRelease, open_release

__all__ = ["Release", "ReleaseLike", "SavedRelease", "open_release"]
