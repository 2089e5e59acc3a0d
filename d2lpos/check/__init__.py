"""Checks for the exercises: a folder a chapter or project, a file an exercise.

A chapter uses its folder by name:

    from d2lpos.check import permutation as check
    check.permute_mask(permute_mask)

The result is a verdict, and its text is what the notebook shows: "○ … not attempted yet", "○ … 1 of 8 still
open", "✓ … 2 properties hold", or "✗ …" with a counterexample and, where the mistake is a known one, a hint.
A check never raises, and stops an answer that takes more than ten seconds for one case. An
answer gets CPU tensors, and may return tensors of any device. A program asks the verdict for its `kind`, `why` and
`hint`, and leaves the text to readers.

To write one, describe it in a file of its own, `permutation/permute_mask.py`, and name it in the folder's `__init__`:

    def permute(mask, order):
        return mask[..., order, :][..., order]


    permute_mask = Check(
        "permute_mask",
        reference=permute,
        properties={
            "one mask (T, T)": [call(mask=draw(3, 3) > 0, order=torch.tensor([1, 2, 0]))],
            "a batch of masks": [call(mask=draw(3, 3, 3) > 0, order=torch.tensor([1, 2, 0]))],
        },
        mistakes={
            "Only the keys are permuted. The queries have moved too.": "mask[..., order, :] → mask",
            "Two indices in one bracket pick pairs. Index twice.": lambda mask, order: mask[..., order, order],
        },
    )

- The reference is a right answer, and the answer agrees with it in every case of every property. `call` is the
  case that passes arguments. A `Case` of your own asks something else: what comes out when the function that the
  answer receives is broken, or what a dictionary says under a key. Those that several chapters ask are in
  `cases`.
- A property needs a wrong answer that fails it and no other; the tests insist. Its cases come smallest first,
  because the first that fails is the counterexample.
- A mistake is an answer that makes it, and is right in all else; a tuple holds several that make the same. Where it
  is the reference with one change, write the change alone, "before → after": it is made in the source of the
  reference, or of a function of its folder that the reference uses, so "before" stands there once. The reader's
  answer is recognized by what it gives, not by how it is written, so choose cases in which different mistakes give
  different results. Each gets its own hint, and none that comes before it. Take four to eight, which students make.
- Numbers are compared, and no dtypes: int32 is as good as int64, and float64 as float32. Where the exercise names a
  dtype, put its cases into `exact_dtype` of `cases`.
- Let sizes, numbers and orders differ from case to case: an answer may take one that never changes for granted. Let one
  text be longer than 16 tokens. The tests find what is missing; where the exercise leaves no choice, `fixed` says why.
- `cards` are wrong answers, written as a student would, whose code the chapter's page shows to ask which property
  fails: one of three or more, or one or both of two.
- The tests change the reference in one place after the other, and each change must be refused. Where one is as good as
  the reference, `as_good` says why, under the name by which the tests print it.
- What the exercise asks besides, a number or a name, is an `Answer` beside the properties:
  `answers=(Answer("orders", 24, {"Those are the orders of five tokens.": 120}),)`. The notebook leaves it open in
  the stub, `orders = ...`, and hands it over behind the function, `check.symmetries(symmetries, orders)`.
- Draw inputs from a seeded generator, as numbers whose sums and products are exact (quarters, whole numbers).
  Then the text is the same on every processor, and `call` prints small inputs whole, to be tried. Other inputs come
  from `check.permute_mask.example()`, and the verdict says so.
- An answer runs in a thread of its own, and in `make grade` in a process that has let go of the reference. So compute
  what a case expects before its `ask`, and not in it.

`tests/check/` has right answers written otherwise. Changes of them show that a hint does not hang on how the check
writes a mistake. `tests/wrong_answers/` holds wrong answers that no rule makes.
What several exercises of a chapter ask about stands in its `material.py`.
"""
