# Every command of the book. GNU make 3.81 (macOS) and a POSIX shell are enough.

PYTHON ?= python3
PORT ?= 8000
CONSTRAINTS ?= constraints.txt
export CONSTRAINTS

bin := .venv/bin
python := $(bin)/python
pip := $(python) -m pip install --disable-pip-version-check --progress-bar off --constraint $(CONSTRAINTS)
# Nothing is shown of a command, unless it fails.
quietly = >$(1) 2>&1 || { status=$$?; cat $(1) >&2; exit $$status; }

# In the environment it may be another program's.
torch := $(filter cpu cuda,$(TORCH))
ifeq ($(origin TORCH),command line)
ifneq ($(TORCH),$(torch))
$(error TORCH must be cpu, cuda, or nothing for what fits the machine; not '$(TORCH)')
endif
endif

.DELETE_ON_ERROR:
.PHONY: help book serve pdf zip release test proof quick lint notebooks cards handout grade class lab weights browser address clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

# Anew each time: Sphinx tells a page's warnings only when it reads that page. What other commands put into _build stays.
book: .venv/book.stamp  ## Build the book
	@rm -rf _build/html* _build/jupyter_execute _build/.doctrees && mkdir -p _build && touch _build/began
	@$(bin)/jupyter-book build . -W -n --keep-going -q $(call quietly,_build/build.log)
	@mv _build/began _build/html.stamp
	@$(python) -c 'from pathlib import Path; print("The book is at", Path("_build/html/index.html").resolve().as_uri())'

serve: book  ## Build the book, serve it on this machine and open it (PORT=8000)
	@$(python) book/serve.py $(PORT)

pdf: .venv/pdf.stamp book  ## Print the book into one PDF, which the front page then offers
	@rm -f _build/html.stamp
	@$(python) -m book.paper

zip: book  ## Pack the pages for reading offline, which the front page then offers
	@rm -f _build/html.stamp
	@$(python) -m book.archive

release: releasable pdf zip  ## Make all that a release offers: wheel, source, zip, PDF, list of parts, notes, checksums
	@$(python) -m pip install --quiet --disable-pip-version-check --constraint tests/rehearsals/programs.txt \
	  --upgrade --target _build/cyclonedx cyclonedx-bom $(call quietly,_build/cyclonedx.log)
	@$(python) -m book.release

# Before all that takes its time.
.PHONY: releasable
releasable: .venv/pdf.stamp
	@$(python) -m book.release --check

# Which tests are proofs is in tests/tiers.py, and which worker gets what in tests/distribution.py.
workers := --numprocesses logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# The tests look at the pages that `make book` has built, unless a file is newer, and else build them.
newer = $$(find _config.yml _toc.yml book chapters d2lpos -type f -newer _build/html.stamp ! -name '*.pyc')
built = [ -e _build/html.stamp ] && [ -z "$(newer)" ] && : "$${D2LPOS_BOOK=_build/html}" && export D2LPOS_BOOK

test: .venv/test.stamp  ## Run the tests, and compare the chapters with their stored outputs
	@$(need_git)
	@$(built); $(python) -m pytest $(workers) -m 'not proof'

proof: .venv/test.stamp  ## Run the slow tests that `make test` leaves out
	@$(need_git)
	@$(built); $(python) -m pytest $(workers) -m 'proof'

quick: .venv/test.stamp  ## Run the tests nearest to your change, in about a minute
	@$(need_git)
	@$(python) -m tests.quick

lint: .venv/test.stamp  ## Check the style of code and notebooks
	@$(python) -m ruff check .
	@$(python) -m pytest --quiet tests/notebooks/test_lint.py
	@$(python) -m tests.prose

notebooks: .venv/test.stamp  ## Run every chapter and store its outputs
	@$(python) book/execute.py
	@$(python) -m tests.check.cards

cards: .venv/test.stamp  ## Draw the pictures that links to the book show, and those of figures without scripts
	@$(python) book/cards.py

handout: .venv/book.stamp  ## Write the chapters without their solutions, for a class
	@$(python) book/handout.py

grade: .venv/jupyter.stamp  ## Grade a folder of notebooks: make grade FOLDER=homework
	@$(python) book/grade.py "$$FOLDER"

class: book  ## Pack a course: the handout, a deck of slides for each chapter, the plan
	@$(python) -m book.course

lab: .venv/jupyter.stamp  ## Open the chapters in JupyterLab
	@$(bin)/jupyter trust chapters/*.ipynb chapters/*/*.ipynb chapters/*/*/*.ipynb book/*.ipynb
	@$(python) -m jupyterlab --LabApp.default_url=/lab/tree/chapters

weights: .venv/test.stamp  ## Download four trained models, 251 MB, into your cache (chapter 9, and tests)
	@$(python) -m d2lpos.pretrained

browser: .venv/pdf.stamp  ## Install Chromium for the PDF and the browser tests, unless there is one
	@$(install_chromium)

address:  ## Write the repository's address into all links: make address REPO=owner/name
	@$(need_python)
	@$(PYTHON) book/address.py "$$REPO"

clean:  ## Remove the built book and the environment
	rm -rf .venv _build

# The environment. The stamp of each dependency group in pyproject.toml says that it is installed as pinned.
# HASHES=hashes.txt first installs everything but PyTorch, if its hash is the one in that file. Of PyTorch there are
# several builds of one version, for CPUs and for each CUDA: which of them a machine gets is the machine's choice.
# On Linux pip takes the build that brings CUDA: gigabytes. Where there is no NVIDIA driver, PyTorch's own index has a small one.
# TORCH=cpu asks for the small build, and fails where it cannot be had; TORCH=cuda leaves the choice to pip.
# Matplotlib lists the fonts once, here: if that took long, the first cell that draws would say so in its output.

.venv/%.stamp: constraints.txt pyproject.toml | .venv/bin/activate
	@echo 'Installing what `make $(MAKECMDGOALS)` needs into .venv, once.'
	@$(pip) $(if $(HASHES),--no-deps --require-hashes --requirement $(HASHES),--upgrade pip hatchling) $(call quietly,.venv/pip.log)
	@$(if $(filter-out book pdf,$*),$(torch_$(or $(torch),by_machine)))
	@$(pip) $(if $(filter book pdf,$*),,--no-build-isolation --editable '.[notebooks]') --group $* $(call quietly,.venv/pip.log)
	@$(if $(filter book pdf,$*),,$(python) -c 'import matplotlib.font_manager' $(call quietly,.venv/pip.log))
	@touch $@

small_torch = $(pip) --no-deps --index-url https://download.pytorch.org/whl/cpu torch
torch_cpu = $(small_torch) $(call quietly,.venv/pip.log)
torch_cuda =
define torch_by_machine
if [ "$$(uname -s)" != Linux ] || [ -e /proc/driver/nvidia/version ] || $(python) -c 'import torch' 2>/dev/null; then :; \
elif $(small_torch) --retries 0 --timeout 10 >.venv/pip.log 2>&1; \
then echo 'PyTorch is the small build, because this machine has no NVIDIA driver. TORCH=cuda takes the large one.'; \
else echo "PyTorch is the build that pip finds, because PyTorch's own index gave no small one."; fi
endef

# venv writes this file last, so an interrupted one is made anew.
.venv/bin/activate:
	@$(need_python)
	@$(PYTHON) -m venv --clear .venv

# Who names a Python gets that one.
ifneq ($(origin PYTHON),file)
.venv/book.stamp .venv/pdf.stamp .venv/test.stamp .venv/jupyter.stamp: | named-python
.PHONY: named-python
named-python:
	@$(need_python)
	@test ! -x $(python) || test "$$($(python) -V)" = "$$($(PYTHON) -V)" || \
	{ echo ".venv has $$($(python) -V), $(PYTHON) is $$($(PYTHON) -V): \`make clean\` first." >&2; exit 1; }
endif

# What is missing is told in one sentence.

define need_python
version=$$($(PYTHON) -c 'import platform; print(platform.python_version())' 2>/dev/null || echo missing); \
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
{ echo "The book needs Python 3.11 or newer, and $(PYTHON) is $$version: name another, as in \`make $(MAKECMDGOALS) PYTHON=python3.13\`." >&2; exit 1; }; \
$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
{ echo "$(PYTHON) cannot make virtual environments: install its venv module (Debian and Ubuntu: python3-venv)." >&2; exit 1; }
endef

define need_git
command -v git >/dev/null || { echo "The tests need git: install it first." >&2; exit 1; }
endef

# Playwright drives the browser; what it runs on needs libatomic, which a small Debian lacks.
define install_chromium
if $(python) -m playwright --version >/dev/null 2>&1 && \
$(python) -c 'import sys; from book.browser import find_chromium as find; sys.exit(not find())'; \
then echo 'There is a Chromium or Chrome already: `make test` uses it.'; \
elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium-headless-shell libatomic1; \
then echo 'Installed Chromium from Debian: `make test` uses it.'; \
else $(python) -m playwright install chromium; fi
endef
