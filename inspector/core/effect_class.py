"""The five classes of effect, their order, and a class with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class EffectClass(StrEnum):
    """From harmless to worst. UNKNOWN counts as a change and stands above MUTATING: nobody can say that it is no worse."""

    READ_ONLY = "read-only"
    IDEMPOTENT = "idempotent"
    """Changes something; the same call again adds nothing."""
    MUTATING = "mutating"
    UNKNOWN = "unknown"
    DESTRUCTIVE = "destructive"
    """Takes something away that the call itself cannot bring back."""


RANK = {name: rank for rank, name in enumerate(EffectClass)}


@dataclass(frozen=True, slots=True)
class Effect:
    """A class and, in a few words for a person, why."""

    name: EffectClass
    why: str

    @property
    def rank(self) -> int:
        return RANK[self.name]


def worst(effects: Iterable[Effect]) -> Effect:
    """The worst of the parts; of equals the first. Raises ValueError without any."""
    return max(effects, key=lambda effect: effect.rank)


def read_only(why: str) -> Effect:
    return Effect(EffectClass.READ_ONLY, why)


def idempotent(why: str) -> Effect:
    return Effect(EffectClass.IDEMPOTENT, why)


def mutating(why: str) -> Effect:
    return Effect(EffectClass.MUTATING, why)


def unknown(why: str) -> Effect:
    return Effect(EffectClass.UNKNOWN, why)


def destructive(why: str) -> Effect:
    return Effect(EffectClass.DESTRUCTIVE, why)
