"""Query: what an analyst asks of a release, whichever way it is published."""

from incrowd.query._joining import join
from incrowd.query.conditions import Condition, parse_conditions
from incrowd.query.estimates import Estimate, query

__all__ = ["Condition", "Estimate", "join", "parse_conditions", "query"]
