import torch
from torch.testing import assert_close

from d2lpos import RoPE
from d2lpos.transformer.mla import absorbed, built, scores

B, H, N, D, R, TURNED = 2, 3, 7, 4, 6, 8
HERE = torch.arange(N)


def inputs():
    """Queries, latents, the matrices of the heads, and turned queries and keys."""
    q, c, up = torch.randn(B, H, N, D), torch.randn(B, 1, N, R), torch.randn(H, D, R)
    turned = RoPE(TURNED).rotate(torch.randn(B, H, N, TURNED), torch.randn(B, 1, N, TURNED), HERE, HERE)
    return [x.double() for x in (q, c, up, *turned)]


def test_formula():
    q, c, up, *_ = inputs()
    got = built(q, c, up)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, (B, H, N, N))).tolist():
        assert_close(got[b, h, i, j], q[b, h, i] @ (up[h] @ c[b, 0, j]))


def test_the_matrix_can_be_absorbed():
    q, c, up, *_ = inputs()
    assert_close(absorbed(q, c, up), built(q, c, up))


def test_scores_are_those_of_longer_queries_and_keys():
    q, c, up, turned_q, turned_k = inputs()
    queries = torch.cat([q, turned_q], dim=-1)
    keys = torch.cat([c @ up.mT, turned_k.expand(-1, H, -1, -1)], dim=-1)
    got = scores(q, c, up, turned_q, turned_k)
    assert_close(got, queries @ keys.mT / (D + TURNED) ** 0.5)


def test_half_precision_is_summed_wide():
    tensors = [x.bfloat16() for x in inputs()]
    wide = scores(*(x.float() for x in tensors))
    assert torch.equal(scores(*tensors), wide) and wide.dtype == torch.float32
