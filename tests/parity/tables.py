"""All tables of the parity page. A new module of comparisons is added here and to book/parity.md."""

from tests.parity import biases, decay, disputes, models, relative, rotary, scaling, sinusoidal

TABLES = [module.table for module in (sinusoidal, rotary, scaling, biases, relative, decay, models, disputes)]
