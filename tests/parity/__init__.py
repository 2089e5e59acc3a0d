import os

os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported: nothing is downloaded
os.environ["TRANSFORMERS_VERBOSITY"] = "error"  # else it warns of the small vocabularies of these tests
