"""Measure everything and write the tables of the parity page: python -m tests.parity"""

from tests.parity.tables import TABLES

for table in TABLES:
    table.write()
