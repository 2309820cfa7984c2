"""From a grouping to a release: published rows, the manifest, the folder."""

from incrowd.publish.key_files import new_key
from incrowd.publish.release import Release, SavedRelease, open_release
from incrowd.published.opened import ReleaseLike

__all__ = ["Release", "ReleaseLike", "SavedRelease", "new_key", "open_release"]
