"""What does the controller write into a shift's status on a cluster? Named where it is printed, else free."""

from control.spec.schema_values import ANYTHING, Schema

_CONDITION: Schema = {
    "type": "object",
    "required": ["type", "status"],
    "properties": {
        "type": {"type": "string", "description": "What is so, such as Conflict."},
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
        "reason": {"type": "string", "description": "One of the reasons of the reference."},
        "message": {"type": "string", "description": "The same as a sentence."},
        "since": {"type": "string", "description": "Since when."},
    },
    **ANYTHING,
}


def _text(words: str) -> Schema:
    return {"type": "string", "nullable": True, "description": words}


STATUS: Schema = {
    "type": "object",
    "description": "What the controller says of the shift; nobody else writes it.",
    **ANYTHING,
    "properties": {
        "phase": _text("Where the shift is."),
        "step": {"type": "integer", "description": "How many shares the canary has had."},
        "stepShare": _text("The canary's share of this step, as a fraction."),
        "configured": _text("The canary's share as the mesh's documents say, such as 20 %."),
        "acknowledged": _text("The canary's share that every proxy has acknowledged."),
        "observed": _text("The canary's share as it was counted."),
        "verdict": _text("pass, fail, insufficient, no data or unavailable."),
        "reason": _text("Why it is where it is, as a word of the reference."),
        "message": _text("The same as a sentence."),
        "generation": {
            **ANYTHING,
            "description": "Which spec this is about.",
        },
        "observedGeneration": {**ANYTHING, "description": "A digest of the spec that the state is about."},
        "conditions": {
            "type": "array",
            "maxItems": 50,
            "description": "What needs attention.",
            "items": _CONDITION,
        },
        "lastCommand": {
            "type": "object",
            "description": "The last command of a person: its id, and what became of it.",
            **ANYTHING,
        },
        "accepted": {"type": "object", "description": "The document that holds, in full.", **ANYTHING},
        "history": {
            "type": "array",
            "maxItems": 50,
            "description": "What happened, the latest last.",
            "items": {"type": "object", **ANYTHING},
        },
        "checkpoint": {"type": "integer", "description": "The version of the stored state."},
        "state": {"type": "object", "description": "The controller's stored state.", **ANYTHING},
    },
}
