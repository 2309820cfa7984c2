"""Report: pictures of what a release keeps and what it costs."""
