"""What published labels stand for: one reader for all who read releases."""

from incrowd.labels._masks import MaskedLabel, MaskedTexts, as_mask, shown_by
from incrowd.labels._order import missing_first, ranked
from incrowd.labels._reading import (
    AxisSpan,
    LabelReading,
    LabelWriting,
    Meaning,
    as_texts,
    decimals_of,
    place_of,
)
from incrowd.labels._weights import beside_original, cell_losses, cell_weights, domain_of

__all__ = [
    "AxisSpan",
    "LabelReading",
    "LabelWriting",
    "MaskedLabel",
    "MaskedTexts",
    "Meaning",
    "as_mask",
    "as_texts",
    "beside_original",
    "cell_losses",
    "cell_weights",
    "decimals_of",
    "domain_of",
    "missing_first",
    "place_of",
    "ranked",
    "shown_by",
]
