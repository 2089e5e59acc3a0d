"""Which mutants that rules make of a file would the tests not notice that find its listed mistakes?"""

from argparse import ArgumentParser
from random import Random

from .host import CORE, LAB, ROOT, Host
from .mistakes import listed
from .rules import mutants


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("files", nargs="+", help="as d2lpos/rotary/rope.py")
    parser.add_argument("--sample", type=int, default=20, help="mutants of a file, at most (20)")
    options = parser.parse_args()
    known = list(listed())
    for file in options.files:
        tests = sorted({test for other, some, _ in known if other == file for test in some})
        if not tests:
            parser.error(f"no mistake is listed of {file}")
        made, killers = mutants((ROOT / file).read_text("utf-8")), set()
        tried = Random(0).sample(made, min(options.sample, len(made)))
        with Host(*CORE, *LAB) as host:
            for mutant in tried:
                reply = host.ask(tests, file.removesuffix(".py").replace("/", "."), mutant.text, first=sorted(killers))
                killers.update({reply["failed"]} - {None})
                if not reply["code"]:
                    print(f"    {mutant}", flush=True)
        print(f"{file}: the {len(tried)} of {len(made)} that were tried die, but for those above")


if __name__ == "__main__":
    main()
