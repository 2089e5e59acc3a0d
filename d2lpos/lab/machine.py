"""What a record says about the machine that made it."""

import platform
import subprocess
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch


def machine(device: str) -> dict[str, object]:
    """Device, processor, threads, versions, and the commit of the code ("+" where files were changed)."""
    return {
        "device": torch.cuda.get_device_name(device) if device.startswith("cuda") else device,
        "processor": processor(),
        "chip": chip(),
        "vectors": torch.backends.cpu.get_cpu_capability(),
        "system": f"{platform.system()} {platform.machine()}",
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "d2lpos": installed("d2lpos"),
        "commit": commit(),
    }


def installed(package: str) -> str | None:
    """The version of a package, or None where it is not installed, as this one where it runs from its tree."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """The processor's name, where the system tells it."""
    with suppress(OSError, StopIteration), open("/proc/cpuinfo") as lines:
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return platform.processor() or platform.machine()


def chip() -> str | None:
    """The processor's family, model and stepping, which tell apart what may have one name; None where not told."""
    wanted = ("cpu family", "model", "stepping")
    with suppress(OSError, KeyError), open("/proc/cpuinfo") as lines:
        fields = dict(tuple(map(str.strip, text.partition(":")[::2])) for text in lines)
        return "-".join(fields[name] for name in wanted)
    return None


def alike(one: dict, other: dict) -> bool:
    """Whether two records' machines are of one kind, as far as both tell: then a program gives both the same digits."""
    decisive = {"device", "processor", "chip", "vectors", "system", "threads", "torch", "compiled"}
    return all(one[name] == other[name] for name in decisive & one.keys() & other.keys())


@cache
def commit() -> str | None:
    """The commit that this package was read from ("+" where files were changed), or None where git has it not."""
    folder = Path(__file__).parents[1]

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        git("ls-files", "--error-unmatch", __file__)  # not the repository of somebody who installed it there
        return git("rev-parse", "--short=12", "HEAD") + "+" * bool(git("status", "--porcelain", "."))
    except (OSError, subprocess.CalledProcessError):
        return None


def forget_peak(device: str) -> None:
    """Begin to measure the peak of memory anew."""
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats(device)
    else:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")


def peak_bytes(device: str) -> int | None:
    """The most memory held since `forget_peak`: on a GPU by tensors, else by the process; None where not told."""
    if device.startswith("cuda"):
        return torch.cuda.max_memory_allocated(device)
    return status("VmHWM")


def held_bytes(device: str) -> int | None:
    """The memory held now, as `peak_bytes` counts it."""
    if device.startswith("cuda"):
        return torch.cuda.memory_allocated(device)
    return status("VmRSS")


def status(name: str) -> int | None:
    """A number of bytes that Linux tells about this process."""
    with suppress(OSError, StopIteration), open("/proc/self/status") as lines:
        return 1024 * int(next(line.split()[1] for line in lines if line.startswith(name)))
    return None
