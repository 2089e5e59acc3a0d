"""A table for another grid: what stays, what is refused, and the programs that it is held to."""

import pytest
import torch
from scipy.ndimage import zoom
from torch import nn

from d2lpos.input import resize_table

MODES = [("bilinear", False), ("bilinear", True), ("bicubic", False), ("bicubic", True)]


@pytest.mark.parametrize(("mode", "antialias"), MODES)
def test_the_same_grid_and_equal_rows_stay(mode, antialias):
    table = torch.randn(2 + 3 * 4, 5)
    same = resize_table(table, (3, 4), (3, 4), 2, mode, antialias)
    assert torch.allclose(same, table, atol=1e-6)
    equal = torch.ones(6, 5)
    assert torch.allclose(resize_table(equal, (2, 3), (5, 4), 0, mode, antialias), torch.ones(20, 5))


def test_special_tokens_keep_their_rows_in_any_dtype():
    table = torch.randn(1 + 49, 8).to(torch.bfloat16)
    new = resize_table(table, (7, 7), (9, 5), prefix=1)
    assert new.shape == (1 + 45, 8) and new.dtype == torch.bfloat16
    assert torch.equal(new[0], table[0])


def test_one_column_keeps_its_rows_apart():
    new = resize_table(torch.tensor([[1.0], [2], [3], [4]]), (2, 2), (3, 1), mode="bilinear", antialias=True)
    torch.testing.assert_close(new.flatten(), torch.tensor([1.5, 2.5, 3.5]))


@pytest.mark.parametrize(("mode", "antialias"), MODES)
@pytest.mark.parametrize("new", [(1, 1), (1, 4), (5, 1), (2, 1), (4, 3)], ids=str)
def test_rows_and_columns_are_treated_alike(new, mode, antialias):
    table = torch.randn(3 * 2, 5)
    turn = lambda table, height, width: table.unflatten(0, (height, width)).transpose(0, 1).flatten(0, 1)
    across = resize_table(turn(table, 3, 2), (2, 3), new[::-1], 0, mode, antialias)
    torch.testing.assert_close(turn(across, *new[::-1]), resize_table(table, (3, 2), new, 0, mode, antialias))


@pytest.mark.parametrize(("change", "error", "words"), [
    ({"table": torch.zeros(6, 2, dtype=torch.int64)}, TypeError, "table"),
    ({"old": (2, 2)}, ValueError, r"\(0 \+ 2 · 2, dim\).*\(6, 2\)"),
    ({"new": (0, 3)}, ValueError, r"new\[0\]"),
    ({"new": (3,)}, ValueError, "height and width"),
    ({"mode": "nearest"}, ValueError, "nearest"),
    ({"antialias": 1}, TypeError, "antialias"),
])
def test_bad_input_is_refused(change, error, words):
    with pytest.raises(error, match=words):
        resize_table(**{"table": torch.zeros(6, 2), "old": (2, 3), "new": (3, 3)} | change)


def embeddings(name: str, **more) -> nn.Module:
    """The module of transformers that holds a table, with random rows."""
    transformers = pytest.importorskip("transformers")
    config = getattr(transformers, f"{name}Config")(
        image_size=56, patch_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, **more
    )
    made = getattr(transformers, f"{name}Model")(config).embeddings
    made.position_embeddings.data.normal_()
    return made


@pytest.mark.proof
@pytest.mark.parametrize("grid", [(9, 9), (5, 6), (4, 11)])
@pytest.mark.parametrize(
    ("name", "antialias"), [("ViT", False), ("Dinov2", False), ("Dinov2WithRegisters", True)]
)
def test_tables_of_transformers_with_a_row_for_cls(name, antialias, grid):
    made = embeddings(name)
    height, width = (8 * side for side in grid)
    fake = torch.zeros(1, 1 + grid[0] * grid[1], 16)
    with torch.no_grad():
        theirs = made.interpolate_pos_encoding(fake, height, width)[0]
        ours = resize_table(made.position_embeddings[0], (7, 7), grid, prefix=1, antialias=antialias)
    assert torch.allclose(ours, theirs, atol=1e-5)


@pytest.mark.proof
def test_siglip_2_has_another_grid_for_each_picture():
    siglip = pytest.importorskip("transformers.models.siglip2.modeling_siglip2").Siglip2VisionEmbeddings
    table, shapes = torch.randn(7, 7, 16), torch.tensor([[9, 4], [3, 12]])
    theirs = siglip.resize_positional_embeddings(table, shapes, max_length=36)
    for got, grid in zip(theirs, shapes.tolist(), strict=True):
        ours = resize_table(table.flatten(0, 1), (7, 7), grid, mode="bilinear", antialias=True)
        assert torch.allclose(ours, got, atol=1e-5)


def test_googles_own_code_lets_the_middles_of_the_outermost_cells_meet():
    grid = torch.randn(14, 14)
    zoomed = torch.from_numpy(zoom(grid.numpy(), 20 / 14, order=1))  # as vit_jax/checkpoint.py
    at_the_border = nn.functional.interpolate(grid[None, None], (20, 20), mode="bilinear", align_corners=True)[0, 0]
    assert torch.allclose(zoomed, at_the_border, atol=1e-5)
    ours = resize_table(grid.reshape(-1, 1), (14, 14), (20, 20), 0, "bilinear").reshape(20, 20)
    assert (zoomed - ours).abs().max() > 0.1
