"""All tables of the parity page. A new module of comparisons is added here and to book/parity.md."""

from tests.parity import biases, decay, disputes, made, models, relative, rotary, scaling, sinusoidal, sound

MODULES = sinusoidal, rotary, made, scaling, biases, relative, sound, decay, models, disputes
TABLES = [module.table for module in MODULES]
