"""Settings that let a program read texts of a length: edits of the outer file, and the program's line for them."""

from typing import TypedDict

from .arguments import check_name, check_tokens, check_until
from .edits import edits, needed
from .programs import check_program, line
from .schema import Reading
from .stretch import Edit, refuse
from .tables import Refused, table
from .words import fill


class Settings(TypedDict):
    """edits are those of the outer file, empty where nothing is to be set; line is what to write for the program, or the comment
    that nothing is needed; notes say why an uncommon number stands in the line."""

    edits: list[Edit]
    line: str
    notes: list[str]


def settings(
    reading: Reading, tokens: int, program: str, trained: int | None = None, rule: str | None = None
) -> Settings:
    """Settings that let a program read texts of that length, by one of the rules of tables/settings.json.

    trained is the training length in tokens, by default the one that the configuration calls original, or else the length
    that it allows. Without a rule nothing is set up to the length that the file allows, and YaRN beyond it, as the authors of
    Qwen and others advise. A rule that is named stretches from trained. Nothing is needed up to trained, or up to the length
    to which the model is stretched already. For models with only windows or ALiBi only the allowed length is raised. Raises
    ValueError for an unknown program (see tables/programs.json) or rule, and Refused if these positions cannot be stretched
    in this way: tables, buckets, two kinds of RoPE, a second stretch, or a program not known to have the rule, windows or slopes.

    >>> qwen3 = read({"model_type": "qwen3"})
    >>> settings(qwen3, 65_536, "llama.cpp", trained=32_768)["line"][:45]
    'llama-server -m MODEL.gguf -c 65536 --rope-sc'
    """
    check_tokens(tokens=tokens, trained=trained)
    check_name("program", program, tuple(table("programs")))
    about, row = table("settings"), table("programs")[program]
    if rule is not None:
        check_name("rule", rule, (*about["rules"], *about["unset"]))
    if rule in about["unset"]:
        raise Refused(f"settings_{rule}")
    if rule and "flags" in row and rule not in row["flags"]:
        name = row["name"].rpartition(" ")[0]
        refuse(reading, "no_flag", program=name, rule=about["rules"][rule])
    check_until(reading, tokens)
    need, why = needed(reading, tokens, trained, rule)
    if need == "nothing":
        length = trained or reading["lengths"]["original"]
        comments = table("programs")[program].get("needless", about["needless"][why])
        comment = fill(comments, tokens=tokens, trained=length)
        return {"edits": [], "line": comment, "notes": []}
    check_program(reading, program, need, why, rule or "yarn")
    changes = edits(reading, tokens, rule, trained)
    return {"edits": changes, **line(reading, changes, tokens, program)}
