"""RoPE's parameters as files describe them: one dictionary for all layers, or one for each type of layer."""

from .keys import Keys
from .tables import Refused, table, words

FLAT = ("rope_theta", "partial_rotary_factor")  # which transformers 4 writes outside of rope_scaling
ALWAYS = (*FLAT, "rope_type", "type")
# Where null is not as if the key were missing: the classes take it for a value.
NULLS = ("factor", "original_max_position_embeddings", "truncate")
Parameters = dict[str, object]


def kind_of(parameters: Parameters) -> str:
    """The name of the rule; Phi 3 called the one with two lists YaRN at first."""
    kind = parameters.get("rope_type") or parameters.get("type") or "default"
    kind = table("families")["synonyms"].get(kind, kind)
    return "longrope" if kind == "yarn" and "short_factor" in parameters else kind


def by_types(keys: Keys) -> dict[str, Parameters | None]:
    """The parameters of each type of layer, under "" where all layers have the same, as transformers 5 writes them."""
    file, thetas = of_file(keys), keys.about.get("thetas", {})
    flat = beside(keys, file)
    bases = own_bases(keys, flat)
    words = {*ALWAYS, *words_of_rules()}
    types = {
        name: one
        for name, one in file.items()
        if (one is None or isinstance(one, dict)) and name not in words
    }
    if types:
        return {
            name: one if one is None else flat | {"rope_theta": bases.get(name, flat["rope_theta"])} | one
            for name, one in types.items()
        }
    default = keys.about["keys"].get("rope_parameters", {})
    only_by_type = any(one is None or isinstance(one, dict) for one in default.values())
    if file and (only_by_type or thetas and keys.get("rope_parameters")):
        raise Refused("by_type", got=file)
    if bases:
        stretched = keys.about["scaled"]
        return {
            name: flat | {"rope_theta": base} | (file if name in stretched else {})
            for name, base in bases.items()
        }
    if "rope_theta" in file and file["rope_theta"] is None:
        return {"": None}
    return {"": flat | {key: value for key, value in file.items() if value is not None or key in NULLS}}


def words_of_rules() -> set[str]:
    """The names of all parameters that some rule has."""
    return set(" ".join(table("families")["rules"].values()).split())


def beside(keys: Keys, file: Parameters) -> Parameters:
    """The base and the share that stand outside of the parameters, where these do not say them."""
    inner = [one for one in file.values() if isinstance(one, dict)] or [file]
    flat: Parameters = {"rope_theta": None, "partial_rotary_factor": 1}
    for key in FLAT:
        if any(key not in one for one in inner):
            value = keys.get(key)
            flat[key] = flat[key] if value is None else value
        elif key in keys.own:
            keys.used.add(key)
            a_rule = any(keys.own.get(name) for name in table("families")["spellings"])
            if a_rule and not keys.about.get("thetas") and file.get(key, keys.own[key]) != keys.own[key]:
                raise Refused("one_number_of_two", key=key, got=keys.own[key], beside=file[key])
    if isinstance(keys.own.get("rope_theta"), dict):
        raise Refused("one_number", key="rope_theta", got=keys.own["rope_theta"])
    return flat


def own_bases(keys: Keys, flat: Parameters) -> dict[str, object]:
    """The base of each type of layer, where the class has a key for each."""
    thetas = keys.about.get("thetas", {})
    if not thetas:
        return dict(flat["rope_theta"]) if isinstance(flat["rope_theta"], dict) else {}
    for key in thetas.values():
        if keys.own.get(key, 1) is None:
            raise Refused("positive", key=key, got=None)
    bases = dict(keys.about["keys"]["rope_theta"])
    return bases | {kind: keys[key] for kind, key in thetas.items() if isinstance(keys.get(key), int | float)}


def of_file(keys: Keys) -> Parameters:
    """What a file says under either spelling; raises Refused where it contradicts itself."""
    both = {name: keys[name] for name in table("families")["spellings"] if keys.get(name)}
    for name, value in both.items():
        if not isinstance(value, dict):
            raise Refused("dictionary", key=name, got=value)
        for one in (value, *(one for one in value.values() if isinstance(one, dict))):
            check_names(name, one)
    if len(both) == 2:
        old, new = both["rope_scaling"], both["rope_parameters"]
        if common(old) != common(new):
            raise Refused("agree", one="rope_scaling", other="rope_parameters", got=old, beside=new)
    return dict(next(iter(both.values()), {}))


def check_names(place: str, parameters: Parameters) -> None:
    """Raises Refused where type and rope_type are no texts, or name two rules."""
    kinds = [parameters[key] for key in ("type", "rope_type") if parameters.get(key) is not None]
    for kind in kinds:
        if not isinstance(kind, str):
            raise Refused("rope_type", names=list(table("families")["rules"]), got=kind)
    synonyms = table("families")["synonyms"]
    if len({synonyms.get(kind, kind) for kind in kinds if kind}) > 1:
        raise Refused("agree_in", one="type", other="rope_type", place=place, got=kinds[0], beside=kinds[1])


def common(parameters: Parameters) -> Parameters:
    """What rope_scaling and rope_parameters have in common where they agree."""
    return {
        "rope_type" if key == "type" else key: value
        for key, value in parameters.items()
        if key not in FLAT and value is not None
    }


def by_lists(keys: Keys, types: list[str]) -> dict[str, Parameters]:
    """Step's parameters: bases and shares are lists with a number for each layer; a rule is for layers that see all."""
    file = of_file(keys)
    if file and all(isinstance(file.get(kind), dict) for kind in types):
        return {kind: {"partial_rotary_factor": 1} | file[kind] for kind in dict.fromkeys(types)}
    if keys.get("rope_parameters"):
        raise Refused("by_type", got=file)
    bases, shares = keys.first("rope_theta", default=10_000), keys.get("partial_rotary_factors")
    bases = 10_000 if isinstance(bases, dict) else bases  # what its class has by default
    parameters = {}
    for kind in dict.fromkeys(types):
        first = types.index(kind)
        for name, numbers in ("rope_theta", bases), ("partial_rotary_factors", shares):
            if isinstance(numbers, list) and len(numbers) <= first:
                raise Refused("layer_numbers", key=name, depth=len(types), got=len(numbers))
        parameters[kind] = {
            "rope_theta": bases[first] if isinstance(bases, list) else bases,
            "partial_rotary_factor": shares[first] if shares else 1,
        } | (file if kind == "full_attention" else {})
    return parameters


def by_ratio(keys: Keys, types: list[str]) -> dict[str, Parameters]:
    """ChatGLM's parameters: 10,000 times `rope_ratio` for a base, and half of a head's features."""
    return {"": {"rope_theta": 10_000 * keys.first("rope_ratio", default=1), "partial_rotary_factor": 0.5}}


def by_attention(keys: Keys, types: list[str]) -> dict[str, Parameters]:
    """DBRX's parameters: files have the base in `attn_config`, which its class in transformers passes over for one outside."""
    place = "attn_config"
    inside, known = keys.get(place) or {}, words("keys", "silent") | {"rope_theta"}
    for key, value in inside.items():
        if key not in known and value not in (None, False):
            raise Refused("strange_key_of", key=key, place=place, family=keys.family, got=value)
    ways, base = by_types(keys), inside.get("rope_theta")
    if set(ways) != {""}:
        raise Refused("by_type", got=of_file(keys))
    if base is None or ways[""] is None:
        return ways
    outside = of_file(keys).get("rope_theta", keys.own.get("rope_theta"))
    if outside not in (None, base):
        raise Refused("one_number_of_two", key="rope_theta", got=base, beside=outside)
    return {"": ways[""] | {"rope_theta": base}}


OWN = {"by_attention": by_attention, "by_lists": by_lists, "by_ratio": by_ratio}
