"""What chapter 8 says of costs is what the tables of the page on speed say."""

from d2lpos.lab.speeds import speeds


def milliseconds(contest: str, contender: str) -> float:
    return speeds(contest).set_index("Contender")["ms"][contender]


def test_a_turn_takes_tens_of_milliseconds_and_a_bias_more_than_a_second():
    """Of 8 heads with 64 features at 8192 tokens; measured were 4 texts of 16 heads and 2048 tokens, and 8 heads at 2048."""
    turned = 2 * 8 * 8192 / (4 * 16 * 2048)  # queries and keys; each costs its numbers
    for form in ("rotate", "rotate_fast"):
        for layout in ("half", "interleaved"):
            assert 10 < turned * milliseconds("rope-forward", f"`{form}`, {layout}") < 100
    for contest, contender in (("alibi", "`ALiBi`"), ("t5", "`T5Bias`")):
        assert (8192 / 2048) ** 2 * milliseconds(contest, contender) > 1000
