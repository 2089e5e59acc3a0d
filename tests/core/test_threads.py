import pytest
import torch

from d2lpos.runtime.threads import one_thread


def test_one_thread_within_and_as_many_as_before_after():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with pytest.raises(KeyError), one_thread():
        assert torch.get_num_threads() == 1
        raise KeyError
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)
