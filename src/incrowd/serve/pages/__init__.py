"""The pages of `incrowd serve`, made with NiceGUI: from a file to a verified release, in steps."""

from incrowd.serve.pages._installing import install

__all__ = ["install"]
