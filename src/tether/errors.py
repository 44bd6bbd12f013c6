"""Every error code, once; one function turns an error into a wire answer."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

INTENT_HANDSHAKE: Final = "You must cite a valid active Intent ID before mutating tools."

# code → (recoverable, what the caller should do when the thrower does not say better)
CODES: Final[dict[str, tuple[bool, str]]] = {
    # governed edits
    "INTENT_REQUIRED": (True, "Call select_active_intent with the id of an active intent, then retry"),
    "INTENT_INVALID": (
        True,
        "Choose an active intent (`tether intent list`) or ask its owner to activate it",
    ),
    "INTENTS_MALFORMED": (True, "Ask a person to mend .orchestration/active_intents.yaml, then retry"),
    "SCOPE_VIOLATION": (True, "Request scope expansion or choose a valid intent"),
    "RISK_APPROVAL_REQUIRED": (True, "Ask a person to approve, then retry exactly the same call"),
    "APPROVAL_REJECTED": (True, "Do not retry this call; choose another way or ask the person why"),
    "APPROVAL_EXPIRED": (True, "Retry the call to ask again"),
    "STALE_FILE": (True, "Re-read the file, rebase the change on what it holds now, then retry"),
    "WRITE_DENIED": (
        True,
        "Ask a person to run `tether shadow` or `tether config set security.write_enabled true`",
    ),
    "SECURITY_VIOLATION": (False, "Stay inside the project and away from protected files"),
    "LOOP_HALTED": (False, "Stop and ask a person to run `tether reset`"),
    "PLAN_REQUIRED": (True, "Submit a plan whose open node covers this call"),
    "COLLISION": (True, "Another call holds this path; wait for it to settle, then retry"),
    "BUDGET_EXCEEDED": (True, "Ask a person to raise the budget"),
    "POLICY_ERROR": (False, "A policy rule failed and the call was refused; run `tether doctor`"),
    # doing
    "NOT_FOUND": (True, "Check the path with `glob` and retry"),
    "ALREADY_EXISTS": (True, "Read the existing file first, or choose another path"),
    "BAD_ARGUMENTS": (True, "Correct the arguments and retry"),
    "UNKNOWN_VERB": (True, "List the verbs with `tether call --list`"),
    "PATCH_FAILED": (True, "Re-read the file and make the patch match it exactly"),
    "TOO_LARGE": (True, "Ask for a smaller range or file"),
    "NOT_A_FILE": (False, "Only regular files inside the project can be used"),
    "COMMAND_FAILED": (True, "Read the output, mend the cause, then retry"),
    "COMMAND_TIMEOUT": (True, "Raise `timeout`, or run something smaller"),
    "QUALITY_FAILED": (True, "Mend the reported problems"),
    "CANCELLED": (True, "Retry if it is still wanted"),
    "DEADLINE": (True, "Retry with a longer deadline"),
    # keeping
    "JOURNAL_UNAVAILABLE": (True, "What cannot be recorded is not done: run `tether doctor`"),
    "JOURNAL_FOREIGN": (False, "This record did not start on this machine: a person must run `tether trust`"),
    "JOURNAL_BROKEN": (False, "Run `tether journal verify` and keep a copy of the file"),
    "STORE_CORRUPT": (True, "Run `tether doctor`"),
    "INDEX_STALE": (True, "Wait for indexing to catch up, or run `tether index`"),
    "EMBEDDING_FAILED": (True, "Nothing: the texts are queued and tried again; words are searched meanwhile"),
    # setting up
    "CONFIG_INVALID": (True, "Correct the configuration and retry"),
    "NOT_A_PROJECT": (True, "Run `tether init` in the project's directory"),
    "UNTRUSTED": (True, "Ask a person to run `tether trust`"),
    "INTERNAL": (False, "Run `tether doctor` and report this"),
}


class TetherError(Exception):
    """A refusal or failure that a caller can act on."""

    def __init__(self, code: str, message: str, *, action: str = "", **data: Any) -> None:
        super().__init__(message)
        if code not in CODES:
            raise ValueError(f"unknown error code `{code}`")
        self.code = code
        self.message = message
        self.action = action or CODES[code][1]
        self.recoverable = CODES[code][0]
        self.data = data


def to_wire(error: BaseException) -> dict[str, Any]:
    """The error contract: `error_code`, `message`, `recoverable`, `required_action`, and what is known."""
    if isinstance(error, TetherError):
        return {
            "error_code": error.code,
            "message": error.message,
            "recoverable": error.recoverable,
            "required_action": error.action,
            **error.data,
        }
    recoverable, action = CODES["INTERNAL"]
    # INVARIANT: the text of an unforeseen exception may quote file contents, so only its type goes out.
    return {
        "error_code": "INTERNAL",
        "message": f"unexpected {type(error).__name__}",
        "recoverable": recoverable,
        "required_action": action,
    }
