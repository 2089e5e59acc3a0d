"""What is asked of MiniLM: its table of 512 rows, and what its vectors of sentences know of order."""

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, normalize

from ..pretrained.minilm import MiniLM
from .probe import Probe, encoder, loaded

__all__ = ["table"]

BIT = "The man bit the dog."
BESIDE = {
    "reversed roles": "The dog bit the man.",
    "paraphrase": "A man sank his teeth into a dog.",
    "shuffled": "Dog the bit man the.",
    "stranger": "Interest rates rose again in March.",
}
MORE = (  # sentences, their roles reversed, a paraphrase
    (
        "The teacher thanked the student.",
        "The student thanked the teacher.",
        "The pupil was thanked by the teacher.",
    ),
    ("Anna lent Ben her car.", "Ben lent Anna her car.", "Ben was allowed to borrow Anna's car."),
    ("The cat chased the mouse.", "The mouse chased the cat.", "A mouse was being hunted by the cat."),
    (
        "The lawyer sued the doctor.",
        "The doctor sued the lawyer.",
        "The doctor was taken to court by the lawyer.",
    ),
    ("Rome conquered Greece.", "Greece conquered Rome.", "Greece fell to the Romans."),
    (
        "The boy taught his father chess.",
        "The father taught his boy chess.",
        "A father learned chess from his son.",
    ),
    (
        "The mayor praised the nurse.",
        "The nurse praised the mayor.",
        "The nurse received praise from the mayor.",
    ),
)
FILLER = "It was raining, and nobody was in the street."


def table(probe: Probe, device: str) -> list[dict]:
    """Rows of a record: of the table, of sentences at other places, and of sentences in other orders."""
    model = loaded("minilm", probe.dtype, device)
    return [{"case": "rows"} | remembered(model), *moved(model, device), *ordered(model, device)]


def remembered(model: MiniLM) -> dict:
    """Norms, the cosine of each row with the next, and how well a row finds its neighbors; energy by component.

    nearest: the index of the row most like each row. centered: cosines after the mean row is taken away.
    """
    rows = model.table.double()
    centered = rows - rows.mean(dim=0)
    alike = cosine(centered)
    words = model.tokens.weight.double().norm(dim=1)
    energy = torch.linalg.svdvals(centered).square()
    return {
        "norms": rounded(rows.norm(dim=1)),
        "centered norms": rounded(centered.norm(dim=1)),
        "mean row's norm": round(rows.mean(dim=0).norm().item(), 4),
        "words' norms": rounded(words.quantile(torch.tensor([0.05, 0.5, 0.95], device=rows.device).double())),
        "next": rounded(cosine_similarity(rows[:-1], rows[1:])),
        "centered next": rounded(alike.diagonal(1)),
        "nearest": alike.masked_fill(torch.eye(len(rows), device=rows.device, dtype=torch.bool), -2)
        .argmax(1)
        .tolist(),
        "energy": rounded(energy / energy.sum()),
    }


def cosine(x: Tensor) -> Tensor:
    x = normalize(x, dim=-1)
    return x @ x.T


def rounded(x: Tensor) -> list[float]:
    return [round(v, 4) for v in x.tolist()]


def moved(model: MiniLM, device: str) -> list[dict]:
    """Cosine of a sentence's vector with itself elsewhere: all its tokens moved, or all but [CLS]; and behind filler.

    The filler is behind a mask in "places of filler", so only the place changes; in "filler" it is read, too, and the mean
    is over the sentence's own tokens.
    """
    texts = [BIT, *BESIDE.values(), *(text for three in MORE for text in three)]
    rows = []
    for text in texts:
        ids = torch.tensor([encoder("minilm")(text)], device=device)
        here = torch.arange(ids.shape[1], device=device)
        home = model.vectors(ids)

        def alike(positions: Tensor, ids: Tensor = ids, home: Tensor = home) -> float:
            return round((model.vectors(ids, positions) @ home.T).item(), 4)

        row = {"case": "moved", "text": text}
        for shift in (1, 16, 64, 120, 240, 400, 490):
            row[f"by {shift}"] = alike(here + shift)
            row[f"by {shift}, [CLS] at 0"] = alike((here + shift).masked_fill(here == 0, 0))
        row["all at 0"] = alike(torch.zeros_like(here))
        row["all at 5"] = alike(torch.full_like(here, 5))
        row["reversed"] = alike(here.flip(0))
        row["times 2"] = alike(2 * here)
        row |= behind_filler(model, ids, device)
        rows.append(row)
    return rows


def behind_filler(model: MiniLM, ids: Tensor, device: str) -> dict:
    """Cosine of the mean over the sentence's own words alone and after filler, at their places or at the old ones."""
    filler, row = encoder("minilm")(FILLER)[1:-1], {}
    words = ids[0, 1:-1]

    def own(tokens: Tensor, positions: Tensor, real: Tensor | None = None) -> Tensor:
        return normalize(model(tokens[None], positions, real)[0, -1 - len(words) : -1].mean(dim=0), dim=0)

    home = own(ids[0], torch.arange(ids.shape[1], device=device))
    for times in (1, 4, 16):
        long = torch.cat([ids[0, :1], torch.tensor(filler * times, device=device), ids[0, 1:]])
        here = torch.arange(len(long), device=device)
        old = here.clone()
        old[-1 - len(words) :] = torch.arange(1, len(words) + 2, device=device)
        hidden = (here == 0) | (here > len(filler) * times)
        for case, positions, real in (
            (f"after {len(filler) * times} of filler", here, None),
            (f"after {len(filler) * times} of filler, at its old places", old, None),
            (f"after {len(filler) * times} of filler that is masked", here, hidden[None]),
        ):
            row[case] = round((own(long, positions, real) @ home).item(), 4)
    return row


def ordered(model: MiniLM, device: str) -> list[dict]:
    """Cosines of sentences with their roles reversed, with a paraphrase, and with all tokens in one place.

    Row 0 is that of [CLS] alone, in training; row 5 is one of many.
    """

    def vector(text: str, place: int | None = None) -> Tensor:
        ids = torch.tensor([encoder("minilm")(text)], device=device)
        here = torch.arange(ids.shape[1], device=device)
        return model.vectors(ids, here if place is None else torch.full_like(here, place))[0]

    def beside(text: str, name: str, other: str) -> dict:
        places = {"cosine": None, "all at 0": 0, "all at 5": 5}
        alike = {what: round((vector(text, at) @ vector(other, at)).item(), 4) for what, at in places.items()}
        return {"case": "order", "text": text, "beside": name, "other": other} | alike

    rows = [beside(BIT, name, other) for name, other in BESIDE.items()]
    for text, back, paraphrase in MORE:
        rows += [beside(text, "reversed roles", back), beside(text, "paraphrase", paraphrase)]
    return rows
