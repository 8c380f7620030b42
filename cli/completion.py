"""Completion in Bash, which splits `connect4:width=5` and `tictactoe@score` at every colon, equals sign and at sign.

    what is typed      what Bash says the words are      what it replaces
    connect4:wi        connect4 | : | wi                 wi
    connect4:          connect4 | :                      nothing

So this module joins the words again, and returns of each completion only the part after the last such sign.
"""

from click.shell_completion import BashComplete, CompletionItem, add_completion_class

BREAKS = ":=@"


class BashVariants(BashComplete):
    """Click's completion for Bash, with whole variants."""

    typed = ""
    """The part of the word up to its last sign of BREAKS."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return (the words before the one to complete, that word), with words joined again that Bash has split at
        BREAKS."""
        args, incomplete = super().get_completion_args()
        words: list[str] = []
        after_break = False
        for word in [*args, incomplete]:
            is_break = bool(word) and not word.strip(BREAKS)
            if words and (is_break or after_break):
                words[-1] += word
            else:
                words.append(word)
            after_break = is_break
        *args, incomplete = words
        self.typed = incomplete[: max(incomplete.rfind(sign) for sign in BREAKS) + 1]
        return args, incomplete

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.type},{item.value.removeprefix(self.typed)}"


def install() -> None:
    """Make Click use this class for Bash."""
    add_completion_class(BashVariants)
