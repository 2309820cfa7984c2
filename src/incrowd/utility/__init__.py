"""Utility: how much of the data's value survived, one metric per file."""

from incrowd.published.granularity import Seen
from incrowd.utility._evaluation import Evaluation, evaluate
from incrowd.utility._kl_divergence import KLDivergence, kl_divergence
from incrowd.utility._of_events import LeftOfEvents
from incrowd.utility._of_histories import HistoryOfAttribute, LeftOfHistories, left_of_source
from incrowd.utility.classification import Classification, classification
from incrowd.utility.comparison import Comparison, total_variation
from incrowd.utility.discernibility import Discernibility, discernibility
from incrowd.utility.granularity import seen
from incrowd.utility.ncp import NCP, ncp
from incrowd.utility.pattern_mining.api import Patterns, patterns
from incrowd.utility.query_error import QueryError, query_error
from incrowd.utility.research_value import ResearchValue, research_value

__all__ = [
    "NCP",
    "Classification",
    "Comparison",
    "Discernibility",
    "Evaluation",
    "HistoryOfAttribute",
    "KLDivergence",
    "LeftOfEvents",
    "LeftOfHistories",
    "Patterns",
    "QueryError",
    "ResearchValue",
    "Seen",
    "classification",
    "discernibility",
    "evaluate",
    "kl_divergence",
    "left_of_source",
    "ncp",
    "patterns",
    "query_error",
    "research_value",
    "seen",
    "total_variation",
]
