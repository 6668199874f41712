"""What people type into forms, checked."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from inspector.models import Evidence, Operation, Probe, Target
from inspector.probes import KINDS


class DeleteForm(forms.Form):
    """Why a session is deleted."""

    reason = forms.CharField(max_length=300, error_messages={"required": "Say why. The reason stays in the audit trail."})


class ClaimForm(forms.Form):
    """What somebody says happened, as far as it can be checked before anything is kept. The rules of the ledger are the service's."""

    outcome = forms.ChoiceField(choices=Operation.Outcome.choices)
    statement = forms.CharField(
        max_length=10_000, error_messages={"required": "Say in your own words what you looked at and what it showed."}
    )  # fmt: skip
    evidence = forms.ModelMultipleChoiceField(queryset=Evidence.objects.none(), required=False)
    note = forms.CharField(required=False, max_length=10_000)
    url = forms.URLField(required=False, max_length=2000, assume_scheme="https", error_messages={"invalid": "Give a whole link, with https://."})
    file = forms.FileField(required=False, error_messages={"empty": "That file is empty."})
    related = forms.ModelChoiceField(
        queryset=Operation.objects.all(), required=False, error_messages={"invalid_choice": "There is no such operation."}
    )  # fmt: skip
    effect_exists = forms.TypedChoiceField(
        choices=(("yes", "yes"), ("no", "no")), coerce=lambda value: value == "yes", required=False, empty_value=None
    )  # fmt: skip

    def __init__(self, *args: Any, operation: Operation, **more: Any) -> None:
        super().__init__(*args, **more)
        field = self.fields["evidence"]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        field.queryset = operation.evidence.all()

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        if not self.errors.keys() & {"evidence", "note", "url", "file"} and not any(said.get(name) for name in ("evidence", "note", "url", "file")):
            self.add_error("note", "Evidence is needed: what did you look at, and what did it show? Write it, or give a link or a file.")
        outcome = said.get("outcome")
        if outcome == Operation.Outcome.SUPERSEDED and said.get("effect_exists") is None:
            self.add_error("effect_exists", "Say whether its old effect exists.")
        linked = said.get("related") or said.get("url") or any(piece.url for piece in said.get("evidence") or ())
        if outcome == Operation.Outcome.SUPERSEDED and not linked and "related" not in self.errors:
            self.add_error("related", "Name the operation, or link what made it needless.")
        if outcome == Operation.Outcome.COMPENSATED and not said.get("related") and "related" not in self.errors:
            self.add_error("related", "Name the operation that undid it; that one must have happened.")
        return said

    def wrong(self) -> dict[str, str]:
        """Field -> its first fault."""
        return {name: str(faults[0]) for name, faults in self.errors.items()}


class _Json(forms.JSONField):
    """JSON to be read and changed by a person."""

    widget = forms.Textarea(attrs={"rows": 6})

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)


class _Declared(forms.ModelForm):
    """A form whose fields look like those of the other pages."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        for field in self.fields.values():
            if not isinstance(field.widget, forms.CheckboxInput):
                field.widget.attrs["class"] = "select" if isinstance(field.widget, forms.Select) else "input"


class TargetForm(_Declared):
    """What is declared of a target. The service checks it whole."""

    class Meta:
        model = Target
        fields = ("name", "kind", "contract", "key_valid_seconds", "quiet_seconds", "probe", "probe_max_age_seconds", "active")
        labels = {
            "key_valid_seconds": "Seconds that it knows a key",
            "quiet_seconds": "Quiet period in seconds",
            "probe": "Probe that tells",
            "probe_max_age_seconds": "Seconds that a probe's answer is good for",
            "active": "In use",
        }
        help_texts = {
            "name": "By this name rules and applications call it. It can't be changed later.",
            "kind": "Decides when an operation may be sent again.",
            "contract": "What the target promises, in the words of its documentation, and where that stands.",
            "key_valid_seconds": "Only for a target that knows keys: after that the same key is a new request. 0 for every other one.",
            "quiet_seconds": "Longest pause of a sender plus longest time that a request may be under way. “Not there” counts only after it.",
            "probe": "The gate asks for a reading of it before work goes on. None: nothing is asked.",
            "probe_max_age_seconds": "An older answer has to be looked up again before work goes on.",
            "active": "Switched off, no new operation may name it.",
        }
        error_messages = {"name": {"unique": "There is a target of this name already."}}
        widgets = {"contract": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        for name, words in (("kind", "Choose…"), ("probe", "None")):
            field = self.fields[name]
            if isinstance(field, forms.ModelChoiceField):
                field.empty_label = words
            elif isinstance(field, forms.ChoiceField):
                field.choices = [("", words), *Target.Kind.choices]


class ProbeForm(_Declared):
    """A read-only look, as far as the room of probes has no say in it. The service checks it whole."""

    kind = forms.ChoiceField(choices=[(name, kind.TITLE) for name, kind in KINDS.items()])
    config = _Json(required=False, error_messages={"invalid": "This is no JSON."})
    parameters = _Json(
        required=False, error_messages={"invalid": "This is no JSON."}, help_text="What a person types: name and regular expression of each value."
    )

    class Meta:
        model = Probe
        fields = ("name", "kind", "config", "parameters", "active")
        labels = {"active": "In use"}
        help_texts = {
            "name": "Its readings are kept under this name. It can't be changed later.",
            "active": "Switched off, nobody can click it; its readings stay.",
        }
        error_messages = {"name": {"unique": "There is a probe of this name already."}}
