"""What is known of the releases of FoundationModels, as named behaviours.

Sources: Apple's documentation and talks of the 26 and 27 SDKs, fixtures of Apple's Python SDK, and files of the `fm` tool. Nothing was recorded from
a running framework here: the notes say what is not known.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import ReadError


@dataclass(frozen=True, slots=True)
class Profile:
    """The rules of one release."""

    version: str
    note: str
    default_model: str
    transcript_version: int | str
    """What this release writes into an envelope."""
    context_tokens: int
    """Size of the model's window; the 27 SDK tells it for each model (`contextSize`)."""
    may_preserve: bool
    """A failed request may leave a partly generated last entry in the transcript, where the app asks for that."""
    restores: bool
    """`transcript` of a session can be set; before, only a new session takes one."""


PROFILES = {
    profile.version: profile
    for profile in (
        Profile("27.0", "Whether it reads version 1 of the envelope was not tried.", "SystemLanguageModel.default", "1.1", 8_192, True, True),
        Profile("26.0", "Whether it reads version 1.1 of the envelope was not tried.", "SystemLanguageModel.default", 1, 4_096, False, False),
    )
}


def profile_for(version: str | None) -> Profile:
    """The named release's profile, by its main number; the newest without one. Raises ReadError for a number that is not known."""
    if version is None:
        return next(iter(PROFILES.values()))
    found = next((profile for name, profile in PROFILES.items() if name.split(".")[0] == version.split(".")[0]), None)
    if found is None:
        raise ReadError(f"no release {version!r} of FoundationModels is known", hint=f"Known: {', '.join(PROFILES)}")
    return found
