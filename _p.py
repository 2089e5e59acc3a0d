import torch, warnings, logging; warnings.filterwarnings("ignore"); logging.disable(30)
from tests.parity.test_serving import *
for f in ["doge"]+[f for f in READ if f>="kosmos_2_text_model"]:
    try: test_the_bytes_of_its_cache(f)
    except BaseException as e: print(f, type(e).__name__, str(e)[:160].replace("\n"," "), flush=True)
print("END")
