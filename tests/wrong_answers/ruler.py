"""Wrong answers to the exercises of chapter 12."""

import math

import torch

from d2lpos.check import ruler as check
from d2lpos.rotary.rope import rotate

from . import wrong

# A gate at each word


def spans(gates):
    """The tokens t behind the key j, up to the query i; three nested loops, as one writes them first."""
    heads, T = gates.shape
    for h in range(heads):
        for i in range(T):
            for j in range(i + 1):
                yield h, i, j


def filled(gates, sum_of):
    bias = torch.full((*gates.shape, gates.shape[-1]), -torch.inf)
    for h, i, j in spans(gates):
        bias[h, i, j] = sum_of(gates[h], i, j)
    return bias


@wrong(check.forget, "The key's own gate counts here.")
def from_the_key_on(gates):
    return filled(gates, lambda gate, i, j: gate[j : i + 1].log().sum())


@wrong(check.forget, "The query's own gate counts, too")
def up_to_the_query(gates):
    return filled(gates, lambda gate, i, j: gate[j + 1 : i].log().sum())


@wrong(check.forget, "The gates before the key count here, too.")
def cumulative(gates):
    return filled(gates, lambda gate, i, j: gate[: i + 1].log().sum())


@wrong(check.forget, "These are factors.")
def products(gates):
    factors = torch.zeros(*gates.shape, gates.shape[-1])
    for h, i, j in spans(gates):
        factors[h, i, j] = gates[h, j + 1 : i + 1].prod()
    return factors


@wrong(check.forget, "−∞, not 0.")
def causality_is_not_mine(gates):
    bias = torch.zeros(*gates.shape, gates.shape[-1])
    for h, i, j in spans(gates):
        bias[h, i, j] = gates[h, j + 1 : i + 1].log().sum()
    return bias


@wrong(check.forget, "Rows are queries, columns are keys.")
def keys_in_rows(gates):
    return filled(gates, lambda gate, i, j: gate[j + 1 : i + 1].log().sum()).transpose(1, 2)


@wrong(check.forget, "The bias is the logarithm itself")
def a_toll(gates):
    return filled(gates, lambda gate, i, j: -gate[j + 1 : i + 1].log().sum())


@wrong(check.forget, "ln is the natural logarithm")
def by_halvings(gates):
    return filled(gates, lambda gate, i, j: gate[j + 1 : i + 1].log2().sum())


@wrong(check.forget, "Here it says how much goes.")
def forgets_where_it_should_keep(gates):
    return filled(gates, lambda gate, i, j: torch.log(1 - gate[j + 1 : i + 1]).sum())


@wrong(check.forget, "fails 1 of 3 properties Property: in each head the sum of ln gates")
@wrong(check.forget, "Each head has its own gates.")
def one_head(gates):
    bias = filled(gates[:1], lambda gate, i, j: gate[j + 1 : i + 1].log().sum())
    return bias.repeat(len(gates), 1, 1)


@wrong(check.forget, "Each head has its own gates.")
def mean_of_heads(gates):
    same = gates.mean(dim=0).expand(gates.shape)
    return filled(same, lambda gate, i, j: gate[j + 1 : i + 1].log().sum())


@wrong(check.forget, "fails 1 of 3 properties Property: many small gates")
@wrong(check.forget, "A product of many small gates is 0 in a float.")
def logarithm_of_the_product(gates):
    return filled(gates, lambda gate, i, j: gate[j + 1 : i + 1].double().prod().log())


@wrong(check.forget, "A product of many small gates is 0 in a float.")
def quotient_of_cumulative_products(gates):
    kept = gates.cumprod(dim=-1)
    ratio = kept[:, :, None] / kept[:, None]
    ahead = torch.ones_like(ratio).triu(1).bool()
    return ratio.log().masked_fill(ahead, float("-inf"))


@wrong(check.forget, "fails 1 of 3 properties Property: a gate of 0 forgets all before it")
@wrong(check.forget, "ln 0 is −∞. −∞ less −∞ is nan")
def difference_of_cumulative_sums(gates):
    logs = gates.log().cumsum(dim=-1)
    bias = logs[:, :, None] - logs[:, None]
    return bias.masked_fill(torch.ones_like(bias).triu(1).bool(), float("-inf"))


@wrong(check.forget, "and so is 0 times −∞", card=True)
def multiplied_with_a_mask(gates):
    T = gates.shape[-1]
    behind = torch.ones(T, T).tril(-1)
    bias = (gates.log()[:, :, None] * behind).cumsum(dim=1)
    return bias.masked_fill(behind.T > 0, float("-inf"))


@wrong(check.forget, "A gate of 0 leaves nothing: −∞.")
def never_0(gates):
    return filled(gates, lambda gate, i, j: (gate[j + 1 : i + 1] + 1e-9).log().sum())


@wrong(check.forget, "A gate of 0 leaves nothing: −∞.")
def clamped(gates):
    return filled(gates, lambda gate, i, j: gate[j + 1 : i + 1].clamp(min=1e-20).log().sum())


# Count, and look between


def interpolated(q, p, table):
    """q_i · (the row between floor and ceil), for each i and j."""
    low = p.floor().long()
    high = (low + 1).clamp(max=len(table) - 1)
    rows = table[low] + (p - low)[..., None] * (table[high] - table[low])
    return (q[:, None] * rows).sum(dim=-1).tril()


def gated(q, k):
    return torch.sigmoid(q @ k.T / q.shape[1] ** 0.5)


def counts(gates):
    T = len(gates)
    p = torch.zeros(T, T)
    for i in range(T):
        for j in range(i + 1):
            p[i, j] = gates[i, j : i + 1].sum()
    return p


def place(q, k, table):
    return counts(gated(q, k)).clamp(max=len(table) - 1)


@wrong(check.contextual, "fails 1 of 2 properties Property: counts between two rows of the table")
@wrong(check.contextual, "The row below is taken alone.")
def floor_only(q, k, table):
    rows = table[place(q, k, table).long()]
    return torch.einsum("id,ijd->ij", q, rows).tril()


@wrong(check.contextual, "The row above is taken alone.")
def ceil_only(q, k, table):
    rows = table[place(q, k, table).ceil().long()]
    return torch.einsum("id,ijd->ij", q, rows).tril()


@wrong(check.contextual, "The nearest row is taken.")
def rounded(q, k, table):
    rows = table[place(q, k, table).round().long()]
    return torch.einsum("id,ijd->ij", q, rows).tril()


@wrong(check.contextual, "The two rows have each other's weights.")
def weights_swapped(q, k, table):
    p = place(q, k, table)
    part = (p - p.floor())[..., None]
    rows = part * table[p.floor().long()] + (1 - part) * table[p.ceil().long()]
    return torch.einsum("id,ijd->ij", q, rows).tril()


@wrong(check.contextual, "fails 1 of 2 properties Property: whole counts, and counts beyond the last row")
@wrong(check.contextual, "their weights are to add up to 1.")
def nothing_where_the_count_is_whole(q, k, table):
    p = place(q, k, table)
    low, high = p.floor(), p.ceil()
    rows = (high - p)[..., None] * table[low.long()] + (p - low)[..., None] * table[high.long()]
    return torch.einsum("id,ijd->ij", q, rows).tril()


@wrong(check.contextual, "The key itself counts, too.")
def behind_the_key(q, k, table):
    gates = gated(q, k)
    p = counts(gates) - gates.tril()
    return interpolated(q, p.clamp(max=len(table) - 1), table)


@wrong(check.contextual, "The query itself counts, too.")
def before_the_query(q, k, table):
    gates = gated(q, k)
    p = counts(gates) - gates.diagonal()[:, None]
    return interpolated(q, p.tril().clamp(0, len(table) - 1), table)


@wrong(check.contextual, "This counts from the first token up to the key.")
def forgot_to_flip(q, k, table):
    p = gated(q, k).tril().cumsum(dim=-1)
    return interpolated(q, p.clamp(max=len(table) - 1), table)


@wrong(check.contextual, "Tokens ahead of the query are counted.")
def both_sides(q, k, table):
    p = gated(q, k).flip(-1).cumsum(dim=-1).flip(-1)
    return interpolated(q, p.clamp(max=len(table) - 1), table)


@wrong(check.contextual, "Here the sum runs over queries.")
def down_the_column(q, k, table):
    p = gated(q, k).tril().cumsum(dim=0)
    return interpolated(q, p.clamp(max=len(table) - 1), table)


@wrong(check.contextual, "The √d is missing.")
def not_divided(q, k, table):
    p = counts(torch.sigmoid(q @ k.T))
    return interpolated(q, p.clamp(max=len(table) - 1), table)


@wrong(check.contextual, "A softmax lets all keys compete.")
def weights_for_gates(q, k, table):
    scores = q @ k.T / math.sqrt(q.shape[-1])
    ahead = torch.ones_like(scores).triu(1).bool()
    p = counts(scores.masked_fill(ahead, float("-inf")).softmax(dim=-1))
    return interpolated(q, p.clamp(max=len(table) - 1), table)


@wrong(check.contextual, "and is not divided by √d.")
def divided_as_well(q, k, table):
    return interpolated(q, place(q, k, table), table) / math.sqrt(q.shape[-1])


@wrong(check.contextual, "Return the term alone")
def with_the_score(q, k, table):
    scores = q @ k.T / math.sqrt(q.shape[-1])
    return (scores + interpolated(q, place(q, k, table), table)).tril()


@wrong(check.contextual, "Here the key does.")
def the_key_asks(q, k, table):
    p = place(q, k, table)
    low = p.floor().long()
    rows = torch.lerp(table[low], table[p.ceil().long()], (p - low)[..., None])
    return torch.einsum("jd,ijd->ij", k, rows).tril()


@wrong(check.contextual, "To a later key nothing is added: 0.")
def row_0_for_later_keys(q, k, table):
    p = place(q, k, table)
    low = p.floor().long()
    rows = torch.lerp(table[low], table[p.ceil().long()], (p - low)[..., None])
    return torch.einsum("id,ijd->ij", q, rows)


@wrong(check.contextual, "Here it begins again at the first.")
def around(q, k, table):
    p = counts(gated(q, k)) % len(table)
    low, rows = p.floor(), torch.cat([table, table[:1]])
    mixed = torch.lerp(rows[low.long()], rows[p.ceil().long()], (p - low)[..., None])
    return torch.einsum("id,ijd->ij", q, mixed).tril()


def by_gather(q, p, table):
    terms = q @ table.T
    low, high = terms.gather(1, p.floor().long()), terms.gather(1, p.ceil().long())
    return torch.lerp(low, high, p - p.floor()).tril()


@wrong(check.contextual, "Clamp it there.")
def no_last_row(q, k, table):
    return by_gather(q, counts(gated(q, k)), table)


@wrong(check.contextual, "Clamp it there.")
def one_row_too_many(q, k, table):
    return by_gather(q, counts(gated(q, k)).clamp(max=len(table)), table)


# Two mirrors


def unit(angle):
    return torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)


def up(angle):
    return torch.tensor([[0.0, 1.0]]).repeat(len(angle), 1)


@wrong(check.mirrors, "fails 1 of 2 properties Property: reflected at u and then at w")
@wrong(check.mirrors, "Which of the two comes first?")
def order_swapped(angle):
    u, w = up(angle), unit(math.pi / 2 + angle / 2)
    return w, u


@wrong(check.mirrors, "Which of the two comes first?")
def clockwise(angle):
    return unit(0 * angle), unit(-angle / 2)


@wrong(check.mirrors, "Two mirrors turn by twice the angle between them.")
def the_angle_between(angle):
    return up(angle), unit(math.pi / 2 + angle)


@wrong(check.mirrors, "This turns by half of the angle.")
def halved_twice(angle):
    return unit(-angle / 8), unit(angle / 8)


@wrong(check.mirrors, "not where both stand.")
def the_same_mirror(angle):
    return unit(angle / 2), unit(angle / 2)


@wrong(check.mirrors, "This turns by half a circle besides.")
def one_mirror_one_normal(angle):
    return up(angle), unit(angle / 2)


@wrong(check.mirrors, "A root loses the sign.")
def half_angle_formulas(angle):
    cos = torch.cos(angle)
    w = torch.stack([torch.sqrt((1 + cos) / 2), torch.sqrt((1 - cos) / 2)], dim=-1)
    return unit(torch.zeros_like(angle)), w


@wrong(check.mirrors, "fails 1 of 2 properties Property: u and w have length 1")
@wrong(check.mirrors, "but its length is not 1.")
def sum_of_two(angle):
    u = unit(torch.zeros_like(angle))
    return u, u + unit(angle)


@wrong(check.mirrors, "Two tensors are asked for: u and w")
def one_tensor(angle):
    return torch.stack([unit(0 * angle), unit(angle / 2)])


@wrong(check.mirrors, "Returns shapes (2, 3) and (2, 3); u and w are (3, 2) and (3, 2)")
def in_columns(angle):
    return unit(0 * angle).T, unit(angle / 2).T


# One number, three ways


@wrong(check.recurrent, "fails 1 of 3 properties Property: y: what each query reads", card=True)
@wrong(check.recurrent, "first add, then read.")
def read_first(q, k, v, gates, state):
    y = torch.zeros(len(q), v.shape[1])
    for t in range(len(q)):
        y[t] = q[t] @ state
        state = gates[t] * state + k[t][:, None] * v[t]
    return y, state


@wrong(check.recurrent, "first multiply by the gate, then add.")
def decay_after_adding(q, k, v, gates, state):
    y = torch.zeros(len(q), v.shape[1])
    for t in range(len(q)):
        state = (state + k[t][:, None] * v[t]) * gates[t]
        y[t] = q[t] @ state
    return y, state


@wrong(check.recurrent, "before that token's query reads.")
def decay_at_the_end_of_the_step(q, k, v, gates, state):
    y, gate = torch.zeros(len(q), v.shape[1]), 1
    for t in range(len(q)):
        state = gate * state + k[t][:, None] * v[t]
        y[t] = q[t] @ state
        gate = gates[t]
    return y, state


@wrong(check.recurrent, "Nothing decays here.")
def plain_linear_attention(q, k, v, gates, state):
    states = state + (k[:, :, None] * v[:, None]).cumsum(dim=0)
    return torch.einsum("td,tde->te", q, states), states[-1]


@wrong(check.recurrent, "not how much of the token is added.")
def input_gate(q, k, v, gates, state):
    y = []
    for t in range(len(q)):
        state = state + gates[t] * torch.outer(k[t], v[t])
        y.append(q[t] @ state)
    return torch.stack(y), state


@wrong(check.recurrent, "not how much of the token is added.")
def moving_average(q, k, v, gates, state):
    y = []
    for t in range(len(q)):
        state = gates[t] * state + (1 - gates[t]) * torch.outer(k[t], v[t])
        y.append(q[t] @ state)
    return torch.stack(y), state


@wrong(check.recurrent, "Here it begins with zeros.")
def from_nothing(q, k, v, gates, state):
    S, y = torch.zeros(k.shape[1], v.shape[1]), []
    for t in range(len(q)):
        S = gates[t] * S + torch.outer(k[t], v[t])
        y.append(q[t] @ S)
    return torch.stack(y), S


@wrong(check.recurrent, "decays for queries, too, gate by gate.")
def old_state_as_it_was(q, k, v, gates, state):
    S, y = torch.zeros_like(state), []
    for t in range(len(q)):
        S = gates[t] * S + torch.outer(k[t], v[t])
        y.append(q[t] @ S + q[t] @ state)
    return torch.stack(y), S + gates.prod() * state


@wrong(check.recurrent, "The state is (d, e)")
def values_by_keys(q, k, v, gates, state):
    y = []
    for t in range(len(q)):
        state = gates[t] * state + torch.outer(v[t], k[t])
        y.append(state @ q[t])
    return torch.stack(y), state


@wrong(check.recurrent, "The state is (d, e)")
def handed_out_transposed(q, k, v, gates, state):
    y = []
    for t in range(len(q)):
        state = gates[t] * state + torch.outer(k[t], v[t])
        y.append(q[t] @ state)
    return torch.stack(y), state.T


@wrong(check.recurrent, "fails 1 of 3 properties Property: the state behind the last token")
@wrong(check.recurrent, "This is the state before the last token.")
def one_state_too_early(q, k, v, gates, state):
    states = [state]
    for t in range(len(q)):
        states.append(gates[t] * states[-1] + torch.outer(k[t], v[t]))
    return torch.stack([q[t] @ states[t + 1] for t in range(len(q))]), states[-2]


@wrong(check.recurrent, "there is no softmax, and no mean.")
def averaged(q, k, v, gates, state):
    y = []
    for t in range(len(q)):
        state = gates[t] * state + torch.outer(k[t], v[t])
        y.append(q[t] @ state / (t + 1))
    return torch.stack(y), state


@wrong(check.recurrent, "there is no softmax, and no mean.")
def scaled(q, k, v, gates, state):
    y = []
    for t in range(len(q)):
        state = gates[t] * state + torch.outer(k[t], v[t])
        y.append(q[t] @ state / math.sqrt(k.shape[-1]))
    return torch.stack(y), state


@wrong(check.recurrent, "A product of gates becomes 0")
def divided_by_cumulative_products(q, k, v, gates, state):
    kept = gates.cumprod(dim=0)
    pairs = torch.einsum("td,te->tde", k / kept[:, None], v)
    states = kept[:, None, None] * (state + pairs.cumsum(dim=0))
    return torch.einsum("td,tde->te", q, states), states[-1]


@wrong(check.recurrent, "fails 1 of 3 properties Property: 1,000 tokens, and no tensor of all pairs")
@wrong(check.recurrent, "A matrix for all pairs grows with the square of the text.")
def by_a_matrix(q, k, v, gates, state):
    here = torch.arange(len(q))
    L = torch.where(here[:, None] > here, gates[:, None], 1).cumprod(dim=0).tril()
    y = (L * (q @ k.T)) @ v
    y = y + gates.cumprod(dim=0)[:, None] * (q @ state)
    last = (k * L[-1][:, None]).T @ v + gates.prod() * state
    return y, last


@wrong(check.recurrent, "Two tensors are asked for: y and the state")
def y_alone(q, k, v, gates, state):
    y = []
    for t in range(len(q)):
        state = gates[t] * state + torch.outer(k[t], v[t])
        y.append(q[t] @ state)
    return torch.stack(y)


# Absorb, or not


def content(q, c, up):
    return torch.stack([c @ (up[h] @ q[h]) for h in range(len(q))])


def clock(q_r, k_r, angle):
    return rotate(q_r, angle[-1]) @ rotate(k_r, angle).T


def root(q, q_r):
    return (q.shape[-1] + q_r.shape[-1]) ** 0.5


@wrong(check.scores, "share one root: that of d + d_r.")
def root_of_the_content(q, c, up, q_r, k_r, angle):
    return (content(q, c, up) + clock(q_r, k_r, angle)) / q.shape[-1] ** 0.5


@wrong(check.scores, "share one root: that of d + d_r.")
def two_roots(q, c, up, q_r, k_r, angle):
    far = clock(q_r, k_r, angle) / math.sqrt(k_r.shape[1])
    return content(q, c, up) / math.sqrt(q.shape[1]) + far


@wrong(check.scores, "whatever the cache holds.")
def root_of_what_is_cached(q, c, up, q_r, k_r, angle):
    query = torch.cat([torch.einsum("hd,hrd->hr", q, up), rotate(q_r, angle[-1])], dim=-1)
    cache = torch.cat([c, rotate(k_r, angle)], dim=-1)
    return query @ cache.T / math.sqrt(cache.shape[-1])


@wrong(check.scores, "The scores are not divided.")
def no_root(q, c, up, q_r, k_r, angle):
    return content(q, c, up) + clock(q_r, k_r, angle)


@wrong(check.scores, "fails 1 of 3 properties Property: each head's content, where the clock is silent")
@wrong(check.scores, "Each head has its own matrix to absorb.")
def one_matrix(q, c, up, q_r, k_r, angle):
    return (q @ up[0].T @ c.T + clock(q_r, k_r, angle)) / root(q, q_r)


@wrong(check.scores, "Each head has its own matrix to absorb.", card=True)
def heads_summed(q, c, up, q_r, k_r, angle):
    absorbed = torch.einsum("hd,grd->hr", q, up)
    return (absorbed @ c.T + clock(q_r, k_r, angle)) / root(q, q_r)


@wrong(check.scores, "no turn can stand.")
def turn_in_between(q, c, up, q_r, k_r, angle):
    turned = content(rotate(q, angle[-1]), rotate(c, angle), up)
    return (turned + clock(q_r, k_r, angle)) / root(q, q_r)


@wrong(check.scores, "no turn can stand.")
def all_queries_turn(q, c, up, q_r, k_r, angle):
    turned = content(rotate(q, angle[-1]), c, up)
    return (turned + clock(q_r, k_r, angle)) / root(q, q_r)


@wrong(check.scores, "no turn can stand.")
def rope_in_each_head(q, c, up, q_r, k_r, angle):
    keys = rotate(torch.einsum("tr,hrd->htd", c, up), angle)
    turned = torch.einsum("hd,htd->ht", rotate(q, angle[-1]), keys)
    return (turned + clock(q_r, k_r, angle)) / root(q, q_r)


@wrong(check.scores, "fails 1 of 3 properties Property: the clock, one turned key for all heads")
@wrong(check.scores, "The clock is missing.")
def without_position(q, c, up, q_r, k_r, angle):
    return content(q, c, up) / root(q, q_r)


@wrong(check.scores, "come unturned.")
def no_turn(q, c, up, q_r, k_r, angle):
    return (content(q, c, up) + q_r @ k_r.T) / root(q, q_r)


@wrong(check.scores, "The clock's query turns, too")
def keys_only(q, c, up, q_r, k_r, angle):
    return (content(q, c, up) + q_r @ rotate(k_r, angle).T) / root(q, q_r)


@wrong(check.scores, "The clock's keys turn, too")
def query_only(q, c, up, q_r, k_r, angle):
    return (content(q, c, up) + rotate(q_r, angle[-1]) @ k_r.T) / root(q, q_r)


@wrong(check.scores, "Here it turns as the first.")
def query_at_the_first_place(q, c, up, q_r, k_r, angle):
    far = rotate(q_r, angle[0]) @ rotate(k_r, angle).T
    return (content(q, c, up) + far) / root(q, q_r)


@wrong(check.scores, "The pairs are neighbors here.")
def interleaved(q, c, up, q_r, k_r, angle):
    queries, keys = rotate(q_r, angle[-1], "interleaved"), rotate(k_r, angle, "interleaved")
    return (content(q, c, up) + queries @ keys.T) / root(q, q_r)


@wrong(check.scores, "fails 1 of 3 properties Property: 1,000 tokens, and no keys of any head")
@wrong(check.scores, "Let the query absorb the matrix instead.")
def keys_built(q, c, up, q_r, k_r, angle):
    keys = torch.einsum("tr,hrd->htd", c, up)
    near = torch.einsum("hd,htd->ht", q, keys)
    return (near + clock(q_r, k_r, angle)) / root(q, q_r)


@wrong(check.scores, "Let the query absorb the matrix instead.")
def keys_head_by_head(q, c, up, q_r, k_r, angle):
    near = torch.stack([(c @ up[h]) @ q[h] for h in range(len(q))])
    return (near + clock(q_r, k_r, angle)) / root(q, q_r)
