"""Whether a text of the model claims that something was done. Such a sentence is shown beside an operation, never counted as proof of it.

English only, and cautious: a sentence that also denies, doubts, asks or plans is no claim.
"""

from __future__ import annotations

import re
from typing import Any

LONGEST = 4000
"""Characters of a text that are looked at."""
CLAIMS = re.compile(
    r"\b(?:done|finished|completed?|succeeded|success(?:ful(?:ly)?)?|went through|worked|shipped|deployed|pushed|merged|sent|created|updated|"
    r"written|wrote|saved|deleted|removed|refunded|charged|paid|booked|installed|published|applied|fixed|committed|migrated|released|uploaded|"
    r"added|restarted|changed|renamed|moved)\b",
    re.IGNORECASE,
)
DOUBTS = re.compile(
    r"\b(?:not|never|no|nothing|without|unable|fail(?:ed|s|ure)?|errors?|will|would|should|could|can|cannot|may|might|must|shall|let me|let's|"
    r"going to|about to|if|whether|unless|until|once|before|when|needs?|wants?|try|trying|interrupted|rejected|cancell?ed|denied|unknown|"
    r"unclear|unsure|uncertain|perhaps|probably|seems?|appears?|assum\w+|check\w*|verify|i'll|we'll)\b|n['\N{RIGHT SINGLE QUOTATION MARK}]t\b|\?",
    re.IGNORECASE,
)
SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+")


def claim_in(text: str) -> str | None:
    """The first sentence that claims that something was done, or None."""
    return next((each for each in SENTENCES.split(text[:LONGEST]) if CLAIMS.search(each) and not DOUBTS.search(each)), None)


WORDS = re.compile(r"[^\W\d_]{4,}")
"""Words that can tell an act: of four letters at least."""
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
TELLS_NOTHING = frozenset("bash echo main with from this that then command description done finished complete completed success".split())


def names(sentence: str, tool: str, arguments: Any) -> bool:
    """Whether a sentence shares a telling word with a call: its tool's name or a text among its arguments (`Pushed.` and `git push`)."""
    given = [value for value in arguments.values() if isinstance(value, str)] if isinstance(arguments, dict) else []
    said = [word for word in WORDS.findall(sentence.lower()) if word not in TELLS_NOTHING]
    about = {word for text in (tool, *given) for word in WORDS.findall(CAMEL.sub(" ", text[:LONGEST]).replace("_", " ").lower())} - TELLS_NOTHING
    return any(word.startswith(each[: max(4, len(each) - 1)]) for word in said for each in about)
