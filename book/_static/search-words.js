// What people type, and the words of the book for it: each text is an alternative, looked for in headings and bold words.
const MEANT = [
  [/\b(mrope|3d rope|(multi-?modal|video) rope)\b/, "m-rope", "more than one axis"],
  [/\b(2d|axial|image) rope\b|\brope (in |for )?(2d|images?)\b/, "more than one axis"],
  [/\b2d\b|\b(resiz|higher[- ]resolution)\w*/, "two dimensions"],
  [/\bsqrt\W*d\w*|\bsquare root of d\w*|\bscal(e|es|ed|ing) (the )?(scores|logits|dot products?)\b/, "square root"],
  [/\b(bf16|bfloat16|half) position[_ ]?ids?\b/, "positions in bfloat16"],
  [/\bposition[_ ]?ids?\b/, "positions data"],
  [/\b(left|right)[- ]?padd(ed|ing)\b|\bpad(ded|ding)?( tokens?)?\b/, "padding token"],
  [/\bpack(ed|ing)\b/, "positions data"],
  [/\b(bert|roberta|gpt-?2)\b/, "learned positions"],
  [/\bmax_position_embeddings\b|\bout of (range|bounds)\b/, "past the last row", "ask for row"],
  [/\blength (generali[sz]ation|extrapolation)\b|\bgenerali[sz]e to long\w*|\bextrapolat\w+/, "extrapolation", "train short test long"],
  [/\b(context (extension|windows?|length)|extend(ing)? (the )?context|long(er)?[- ]contexts?)\b/, "ways to stretch"],
  [/\b((position(al)?|linear) (interpolation|scaling)|rope[_ ]scaling|yarn|ntk|longrope)\b/, "ways to stretch"],
  [/\brope_theta (ignored|default)\b/, "base not the model's", "soon repeating itself"],
  [/\b(rope_)?theta\b/, "base"],
  [/\binv_freq\b/, "frequencies"],
  [/\bmscale\w*\b/, "attention factor", "attn_factor"],
  [/\b(speculative|drafter|drafts?)\b( decoding)?/, "draft"],
  [/\bqk[- ]?norms?\b( (before|after).*)?/, "query and key norms"],
  [/\bproportional( rope)?\b/, "partial rotary"],
  [/\brollback\b/, "draft rejected", "take back"],
  [/\b(rope )?offset after\b/, "decoding drifts"],
  [/\b(rotate[_ ]half|interleaved?|half[- ]split)\b/, "two layouts"],
  [/\brotary( position\w*)?( (embedding|encoding)s?)?\b/, "rope"],
  [/\bdecay\b/, "fade"],
  [/\blinear bias(es)?\b/, "alibi"],
  [/\bno (position\w*|encoding|embedding)( \w+)?\b|\bwithout position\w*|\bnope\b/, "nope", "blind to order"],
  [/\b(bag of words|order[- ]invarian\w+|permutation[- ]invarian\w+)\b/, "blind to order", "equivariant"],
  [/\b(swa|sliding window|local attention)\b/, "window"],
  [/\b(niah|passkey|haystack|lost in the middle)\b/, "needle"],
  [/\b(kv[- ]?cach\w+|past_key_values)\b/, "cache"],
  [/\b[gm]qa\b/, "grouped queries"],
  [/\bbf16\b/, "bfloat16"],
  [/\bf(p|loat)16\b/, "half precision"],
  [/\bconcat\b/, "concatenate"],
  [/\b(which|what)(?= (position\w* )?(encoding|embedding)s?\b)|\b(best|decision|decide|recommend\w*|choose|should (i|we) (use|pick))\b/, "choosing"],
  [/\b(install\w*|set ?up|locally)\b/, "how to run it"],
  [/\b((pytorch )?implement\w*|source code)\b/, "as code"],
  [/\bcheat ?sheet\b/, "quick reference"],
  [/\b(glossary|definitions?|vocabulary)\b/, "notation terms"],
];
// Words that ask: the list of lunr.js, and a few more.
const ASKING = `a able about across after all almost also am among an and any are as at be because been but by can cannot could dear did
do does either else ever every for from get got had has have he her hers him his how however i if in into is it its just least let like
likely may me might most must my neither no nor not of off often on only or other our own rather said say says she should since so some
than that the their them then there these they this tis to too twas us wants was we were what when where which while who whom why will
with would yet you your between difference explain many mean means much need put use used using versus vs want work works`;
