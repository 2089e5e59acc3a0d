"""Two tiers of tests. `make test` leaves the proofs out, `make proof` runs them, and `.ci/run` runs both.

A proof shows once more, and at length, what a quicker test shows as well, or what few changes touch. The list is here and
nowhere else: tests that it names get the marker `proof`. tests/repo/test_tiers.py holds it to the tests that there are.
"""

import time
from collections.abc import Iterable
from pathlib import PurePosixPath

import pytest

from tests.speed import ten_million_additions

# A file, a function of it or a single test -> which of its tests stay in `make test`: the name of a function, or what stands
# in brackets behind it, or a part of that; "" are those without brackets.
SAMPLE = ("arcee", "gemma3_text", "gpt_oss", "llama4_text", "olmo3")
SETTINGS = (
    "Qwen2.5-VL 7B-yarn", "Qwen3-VL 8B-yarn", "Qwen3-VL without RoPE's parameters-yarn", "Voxtral Mini 3B-linear",
    "Mixtral without the width of a head-yarn",
)  # fmt: skip
FAMILIES = (*SAMPLE, "bert", "deberta-v2", "falcon", "pixtral", "swinv2", "t5")
PROOFS = {
    # Trained models, models that are trained in a cell, and a study in full.
    "chapters/01-permutation-equivariance.ipynb": (),
    "chapters/02-sinusoidal.ipynb": (),
    "chapters/05-relative.ipynb": (),
    "chapters/09-trained-model.ipynb": (),
    "chapters/in-depth": (),
    "chapters/projects": (),
    "book/own.ipynb": (),
    "tests/check/test_chapters.py::test_solutions_pass_all_checks[09-trained-model]": (),
    "tests/check/test_chapters.py::test_stubs_are_not_attempted[09-trained-model]": (),
    "tests/benchmarks/test_pages.py::test_a_visit_counts_what_comes_at_load_and_to_the_end": (),
    "tests/check/test_trained.py": (),
    "tests/core/test_gemma3.py::test_one_base_for_all_layers_costs_a_nat_and_says_nothing": (),
    "tests/core/test_gemma3.py::test_the_file_is_read_as_transformers_reads_it": (),
    "tests/core/test_gemma3.py::test_the_text_comes_back_from_its_tokens": (),
    "tests/core/test_smollm2.py": (),
    "tests/lab/test_probe.py::test_a_published_loss_comes_out_again": (),
    "tests/lab/test_real_table.py::test_published_cosines_come_out_again": (),
    "tests/notebooks/test_without_weights.py": (),
    "tests/parity/test_trained_tables.py": (),
    # Mistakes and their hints, but those of one exercise, and all cards.
    "tests/check/test_cards.py": (),
    "tests/check/test_wrong_answers.py::test_a_mistake_gets_its_own_hint": ("two_sided",),
    "tests/check/test_wrong_answers.py::test_a_mistake_is_recognized_however_it_is_written": ("two_sided",),
    # Mutants.
    "tests/check/test_reference_mutants.py::test_every_mutant_is_refused_or_explained": (),
    "tests/check/test_reference_mutants.py::test_without_any_property_a_wrong_answer_passes": (),
    "tests/check/test_wrong_answers.py::test_wrong_answers_and_garbage_are_refused_in_a_short_text_that_is_always_the_same": (),
    "tests/mutation/test_mistakes.py": (),
    # Files of every family with a key that is not there, and scaling in every spelling.
    "tests/parity/test_keys.py::test_a_missing_key_means_what_the_class_takes_for_it": ("gemma3_text",),
    "tests/parity/test_keys.py::test_scaling_in_either_spelling": SAMPLE,
    "tests/parity/test_keys.py::test_frequencies_are_those_of_its_code": SAMPLE,
    "tests/parity/test_serving.py::test_the_bytes_of_its_cache": (*SAMPLE, "bart", "falcon", "deepseek_v2"),
    "tests/parity/test_serving.py::test_settings_stretch_what_turns_and_nothing_else": (*SAMPLE, "glm4", "stablelm"),
    "tests/parity/test_settings.py::test_a_line_and_edits_change_what_a_model_of_the_whole_file_turns_by": SETTINGS,
    "tests/parity/test_settings.py::test_a_file_with_another_value_is_refused_or_read_as_its_class_turns": (),
    "tests/parity/test_settings.py::test_lines_of_servers_change_the_same": SETTINGS,
    "tests/parity/test_keys.py::test_the_file_of_defaults_is_what_the_command_writes": (),
    "tests/parity/test_census.py::test_the_file_is_what_the_command_writes": (),
    # The page's reader beside the package's, on all that they read.
    "tests/parity/test_reader.py::test_a_file_that_says_nothing_and_the_one_of_its_class": FAMILIES,
    "tests/parity/test_reader.py::test_a_key_that_is_dropped_null_or_doubled": ("gemma3_text",),
    "tests/parity/test_reader.py::test_a_release": ("Qwen3 8B", "gpt-oss 20B"),
    "tests/parity/test_reader.py::test_random_files": ("0",),
    "tests/parity/test_reader.py::test_scaling_in_either_spelling": ("gemma3_text", "phi3"),
    "tests/core/test_hub_names.py::test_no_release_answers_for_another_training_of_it": ("2507",),
    # Thousands of bad calls.
    "tests/core/test_fuzz.py::test_bad_calls_are_refused_by_name_and_nothing_hangs": (),
    # Compiled and exported programs, but one of each kind.
    "tests/core/test_base.py::test_every_score_mod_compiles": (),
    "tests/core/test_compile.py::test_one_graph_serves_every_length": ("rope, half", "t5"),
    "tests/core/test_compile.py::test_decoding_takes_three_graphs_for_a_model_and_for_a_layer": (),
    "tests/core/test_export.py::test_one_program_serves_every_length": ("rope, half-one line of positions",),
    "tests/core/test_flex.py::test_a_compiled_program_of_everything": (),
    "tests/core/test_flex.py::test_masks_and_their_combinations": ("True-20-by sequence-in order", "packed"),
    "tests/core/test_grid.py::test_one_graph_serves_every_number_of_cells": ("rope, two axes",),
    # The lab, where processes die and runs are done again.
    "tests/lab/test_again.py::test_a_run_gives_its_record_again": ("order rope none a35a",),
    "tests/lab/test_encodings.py::test_a_script_does_what_its_code_says_now": (),
    "tests/lab/test_encodings.py::test_an_own_encoding_runs_wherever_runs_do": (),
    "tests/lab/test_encodings.py::test_a_study_runs_with_the_encodings_of_a_file": (),
    "tests/lab/test_experiment.py::test_arms_of_dropout_differ_in_nothing_else": (),
    "tests/lab/test_experiment.py::test_a_compiled_model_learns_the_same": (),
    "tests/lab/test_kill.py": (),
    "tests/lab/test_main.py::test_a_look_into_a_folder_that_cannot_be_written": (),
    "tests/lab/test_main.py::test_a_reader_may_have_enough": (),
    "tests/lab/test_main.py::test_ctrl_c_while_modules_load_ends_without_a_traceback": (),
    "tests/lab/test_main.py::test_the_book_s_page_shows_what_the_records_say": ("crowd", "dropout-lookup", "extrapolation", "gates", "order", "readers", "stacks-needle"),
    "tests/lab/test_sweep.py::test_every_run_is_done_once_and_failures_are_kept": ("{'jobs': 2}",),
    "tests/lab/test_sweep.py::test_workers_that_come_late_are_waited_for": (),
    "tests/lab/test_tasks.py::test_each_split_draws_from_chapters_of_its_own": ("language small",),
    # Figures in a browser, but one of them.
    "tests/figures/hero/test_hero.py::test_a_picture_shows_what_the_script_draws_on_paper": ("clocks",),
    "tests/figures/hero/test_hero_host.py": ("", "dial"),
    "tests/figures/hero/test_hero_host.py::test_a_hidden_tab_is_drawn_when_it_is_shown": (),
    "tests/figures/hero/test_hero_host.py::test_in_a_frame_that_allows_nothing_but_scripts": (),
    "tests/figures/hero/test_hero_host.py::test_paper_shows_nothing_to_touch": (),
    "tests/figures/hero/test_labels.py": ("10", "test_letters_of_a_drawing_can_be_read_on_a_phone"),
    "tests/figures/hero/test_machine.py": (
        "test_a_stored_notebook_and_a_new_run_are_compared_without_the_models", "test_at_every_width_it_can_be_read_by_everybody",
        "test_bad_input_is_refused", "test_it_reads_what_python_reads_and_answers_each_hand",
        "test_no_stored_output_holds_a_model", "test_what_is_stored_is_small_and_holds_no_model",
        "test_words_and_picture_follow_the_state",
    ),
    "tests/figures/hero/test_story.py::test_a_hand_stops_it_steps_and_drags": (),
    "tests/figures/test_explore.py::test_a_hand_can_drag_it": (),
    "tests/figures/test_explore.py::test_the_keyboard_moves_it_and_its_neighbor_stays": (),
    "tests/figures/test_explore.py::test_without_a_kernel_the_bundle_is_a_page_and_its_words": (),
    # Pages in a browser, but one of each kind, with what it is there for. `make quick` runs all tests of a page that has changed.
    "tests/notebooks/test_extension.py": (),
    "tests/site/test_archive.py": (),
    "tests/site/test_asks.py": (
        "choice-mouse", "test_the_search_gives_no_option_away", "test_without_javascript_the_answer_opens_what_tells_it",
    ),
    "tests/site/test_blind.py::test_nothing_in_sight_tells_the_answer": ("chapters/04-rope",),
    "tests/site/test_decks.py": (),
    "tests/site/test_detectors.py": (),
    "tests/site/test_front.py": (
        "test_all_of_it_is_seen_without_scrolling", "test_each_section_leads_to_a_page_and_each_chapter_back",
        "test_the_head_is_what_d2lpos_computes", "test_without_scripts_pictures_and_lines_say_the_same",
    ),
    "tests/site/test_go_on.py": ("test_the_first_page_leads_to_where_a_visitor_was_and_moves_nothing",),
    "tests/site/test_ledger.py": ("test_page_shows_every_claim_and_every_erratum", "test_counts_are_those_of_the_tables"),
    "tests/site/test_models.py": (
        "test_every_family_has_its_row_its_source_and_its_section", "test_every_release_has_its_row_its_source_and_its_report",
        "test_search_by_keyboard",
    ),
    "tests/site/test_not_found.py": ("test_it_works_from_a_folder", "light"),
    "tests/site/test_pages.py": (),
    "tests/site/test_pages.py::test_a_browser_that_keeps_nothing_meets_no_error": ("chapters/05-relative",),
    "tests/site/test_pages.py::test_a_page_runs_no_script_that_was_slipped_in": ("file",),
    "tests/site/test_pages.py::test_no_page_is_wider_than_the_window_whatever_the_size_of_letters": ("index",),
    "tests/site/test_pages.py::test_page_from_file": ("index", "search"),
    "tests/site/test_pages.py::test_quick_reference_prints_on_one_sheet": ("",),
    "tests/site/test_pages.py::test_the_button_of_the_color_mode_says_which": ("",),
    "tests/site/test_paper.py": (),
    "tests/site/test_paper.py::test_what_shows_the_answer_to_a_prediction_first_goes_to_the_end_with_it": ("",),
    "tests/site/test_review.py": ("test_answers_by_keyboard_are_compared_and_kept",),
    "tests/site/test_search.py": (
        "file", "test_the_index_has_all_pages_and_leads_to_places_that_are_there",
        "test_the_index_has_no_furniture_and_gives_no_solution_away",
        "test_the_index_is_small_and_the_same_for_pages_from_a_folder",
    ),
    "tests/site/test_search_words.py": ("test_each_alias_leads_to_a_section_that_is_there",),
    "tests/site/test_styles.py": ("test_a_rule_that_is_lost_is_found",),
    "tests/site/test_summary.py::test_run_without_browser_or_weights": ("1",),
    "tests/site/test_symptoms.py": ("test_every_row_answers_the_four_questions", "test_rows_open_their_places"),
    "tests/site/test_your_model.py": (
        "Qwen3 8B-32768-131072", "vllm-131,072-Yes", "test_a_configuration_is_read_as_people_have_it",
        "test_a_link_shows_what_the_page_shows", "test_a_remedy_has_settings_for_each_program", "test_by_keyboard",
        "test_other_encodings_have_their_own_verdicts", "test_scripts_write_no_markup", "test_the_cost_on_a_card_is_that_of_python",
        "test_the_verdict_is_that_of_python_and_its_kind_stands_in_words", "test_what_comes_in_is_never_markup",
        "test_what_is_no_configuration_gets_one_sentence", "test_without_scripts_a_sentence_and_the_command",
    ),
    # What `python -m build` makes, where `make test` has the wheel of pip.
    "tests/repo/test_package.py::test_an_archive_of_the_source_builds_the_same_wheel": (),
    # Classes that are graded.
    "tests/repo/test_grade.py::test_a_chapter_and_its_handout": (),
    "tests/repo/test_grade.py::test_a_process_that_asks_has_no_reference": (),
    "tests/repo/test_grade.py::test_a_handout_filled_with_the_solutions_passes": (),
    "tests/repo/test_grade.py::test_a_project_is_graded_as_it_tells_its_students": (),
    "tests/repo/test_grade.py::test_each_gets_the_verdict_of_the_book_and_code_that_reaches_further_is_named": (),
    "tests/repo/test_grade.py::test_without_a_seal_and_in_new_processes_the_verdicts_are_the_same": (),
    "tests/repo/test_handout.py::test_a_chapter_runs_with_its_stubs_as_they_are": (),
}

COLLECTED, BEGAN, LEFT_OUT = pytest.StashKey[list[str]](), pytest.StashKey[tuple[float, str]](), pytest.StashKey[int]()


def fits(nodeid: str, part: str) -> bool:
    """Whether this is the name of a test's function, or stands in the brackets behind it, or is a part of what does."""
    function, _, rest = nodeid.partition("::")[2].partition("[")
    whole = rest.removesuffix("]")
    return part == function or (f"-{part}-" in f"-{whole}-" if part else not whole)


def named(nodeid: str) -> str | None:
    """The entry of the list that names a test, the nearest one first: itself, its function, its file or a folder."""
    file = nodeid.partition("::")[0]
    names = nodeid, nodeid.partition("[")[0], file, *(folder.as_posix() for folder in PurePosixPath(file).parents)
    return next((name for name in names if name in PROOFS), None)


def is_proof(nodeid: str) -> bool:
    entry = named(nodeid)
    return entry is not None and not any(fits(nodeid, part) for part in PROOFS[entry])


def faults(nodeids: Iterable[str]) -> list[str]:
    """What the list names and no test of these is: an entry, or what stays of it."""
    ids = {entry: [] for entry in PROOFS}
    for nodeid in nodeids:
        if entry := named(nodeid):
            ids[entry].append(nodeid)
    names = [(entry, part) for entry, parts in PROOFS.items() for part in (parts if ids[entry] else [None])]
    missing = [(entry, part) for entry, part in names if not any(fits(nodeid, part) for nodeid in ids[entry])]
    return [entry + (f"[{part}]" if part else "") + ": no test has this name" for entry, part in missing]


def pytest_configure(config):
    config.addinivalue_line("markers", "proof: shows at length what need not be shown at each change (tests/tiers.py)")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    config.stash[COLLECTED] = [item.nodeid for item in items]
    proofs = [item for item in items if is_proof(item.nodeid)]
    config.stash[LEFT_OUT] = len(proofs)
    for item in proofs:
        item.add_marker("proof")


# What is told in the end: of the tests that a worker of pytest-xdist has found, the one that tells knows nothing.


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["proofs"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    if hasattr(node, "workeroutput"):
        node.config.stash[LEFT_OUT] = node.workeroutput["proofs"]


def pytest_sessionstart(session):
    """Take the time, except where `--quiet` asks for fewer words, as in the hundreds of runs against mutants."""
    asked = session.config.option.markexpr in ("proof", "not proof") and session.config.option.verbose >= 0
    if asked and not hasattr(session.config, "workerinput"):
        session.config.stash[BEGAN] = time.perf_counter(), ten_million_additions()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Write the last line of `make test` and `make proof`."""
    if BEGAN not in config.stash:
        return
    began, speed = config.stash[BEGAN]
    number = config.stash.get(LEFT_OUT, 0)
    asked = config.option.markexpr == "proof"
    what, left = f"The {number} proofs", f"`make proof` runs {number} proofs, which are left"
    what, left = (what, "`make test` runs all other tests") if asked else ("The tests", left)
    print(f"{what} took {time.perf_counter() - began:.0f} s, where {speed}. {left}.")
