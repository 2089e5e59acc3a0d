"""All exercises: the module of each, and its check."""

import sys
from importlib import import_module
from pkgutil import iter_modules

import d2lpos.check
from d2lpos.check.verdict import Check

CHAPTERS = [module.name for module in iter_modules(d2lpos.check.__path__) if module.ispkg]
# In the order of each chapter, which is that of its imports. Those of one line each share a file, `mend`.
EXERCISES = [
    (sys.modules.get(f"d2lpos.check.{chapter}.{name}") or sys.modules[f"d2lpos.check.{chapter}.mend"], check)
    for chapter in CHAPTERS
    for name, check in vars(import_module(f"d2lpos.check.{chapter}")).items()
    if isinstance(check, Check)
]
CHECKS = [check for _, check in EXERCISES]
