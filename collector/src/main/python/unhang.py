"""Tells the Unhang collector of this node how a training process gets on.

    import unhang
    unhang.start(auto=True)                 # rank and world come from the environment or torch.distributed
    for n, batch in enumerate(loader):
        unhang.step(n)
        ...
        with unhang.phase("CHECKPOINT"):    # auto=True does this for torch.save and distributed checkpoints
            save()
    unhang.end()

It needs the standard library only. It never blocks and never throws into training: step() stores two numbers, and a
daemon thread sends them once a second as a datagram to UNHANG_HEARTBEAT (default 127.0.0.1:9721). Without a collector
the datagrams go nowhere. After a fork the child is silent until it calls start() itself.
"""

import functools
import itertools
import json
import numbers
import os
import socket
import sys
import threading

__all__ = ["start", "step", "phase", "end"]

PHASES = ("INIT", "COMPILE", "TRAIN", "DATA", "CHECKPOINT", "EVAL", "END")
_DEFAULT_ADDRESS = "127.0.0.1:9721"
_EACH_SECONDS = 1.0
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMIX_RANK", "PMI_RANK")
_WORLDS = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "PMI_SIZE")


class _Client:
    """The state of one process. Only start() replaces it; step() only assigns, which needs no lock."""

    def __init__(self, job, rank, world, auto):
        self.pid = os.getpid()
        self.job = job
        self.rank = rank
        self.world = world
        self.auto = auto  # the checkpoints of torch announce themselves
        self.step = None
        self.base = "INIT"  # the phase outside of any phase()
        self.open = []  # the phases that are entered, the innermost last; threads may be in several
        self.thread = None  # the thread that steps
        self.seqs = itertools.count(1)  # its next() is atomic, so any thread may send without a lock
        self.namespace = _pid_namespace()
        self.stop = threading.Event()
        host, _, port = os.environ.get("UNHANG_HEARTBEAT", _DEFAULT_ADDRESS).rpartition(":")
        # A name is looked up here, once, and never while training.
        found = socket.getaddrinfo(host.strip("[]") or "127.0.0.1", int(port), type=socket.SOCK_DGRAM)[0]
        self.address = found[4]
        self.socket = socket.socket(found[0], socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self.send()
        thread = threading.Thread(target=self._run, name="unhang-heartbeat", daemon=True)
        thread.start()

    @property
    def phase(self):
        try:
            return self.open[-1].name
        except IndexError:
            return self.base

    def _run(self):
        while not self.stop.wait(_EACH_SECONDS):
            if os.getpid() != self.pid:
                return
            self.send()

    def send(self):
        """May be called by several threads at once. Each heartbeat goes out: the one that says END may be the last."""
        try:
            # The number first: so the later of two numbers never tells an earlier phase.
            beat = {"v": 1, "pid": self.pid, "seq": next(self.seqs), "phase": self.phase}
            if self.job:
                beat["job"] = self.job
            rank, world = self._place()
            if rank is not None:
                beat["rank"] = rank
            if world is not None:
                beat["world"] = world
            if self.step is not None:
                beat["step"] = self.step
            if self.auto:
                beat["auto"] = True
            if self.namespace:
                beat["ns"] = self.namespace
            self.socket.sendto(json.dumps(beat, separators=(",", ":")).encode(), self.address)
        except Exception:  # nothing of ours may reach training
            pass

    def _place(self):
        """Rank and world: as given, else of torch.distributed once it is initialised, else of the environment."""
        rank, world = self.rank, self.world
        if rank is None or world is None:
            distributed = sys.modules.get("torch.distributed")
            try:
                if distributed is not None and distributed.is_available() and distributed.is_initialized():
                    rank = distributed.get_rank() if rank is None else rank
                    world = distributed.get_world_size() if world is None else world
            except Exception:
                pass
        return (
            _of_environment(_RANKS) if rank is None else rank,
            _of_environment(_WORLDS) if world is None else world,
        )

    def close(self):
        self.stop.set()
        self.socket.close()


_client = None


def start(job=None, rank=None, world=None, auto=False):
    """Begins to send heartbeats; a second call replaces the first. Returns whether it could."""
    global _client
    try:
        old, _client = _client, None
        if old is not None and old.pid == os.getpid():
            old.close()
        job = job if job is not None else os.environ.get("UNHANG_JOB", "")
        job = "".join(c for c in str(job)[:128] if " " <= c <= "~")
        if auto:
            _watch_torch()
        _client = _Client(job, _whole(rank), _whole(world), bool(auto))
        return True
    except Exception:
        return False


def step(n):
    """The number of the training step that now begins; also says that the process trains."""
    client = _client
    if client is None:
        return
    try:
        # A tensor would have to wait for its device to tell its value, so only numbers are taken.
        if type(n) is int or isinstance(n, numbers.Integral):
            client.step = int(n)
        if client.thread is None or client.base == "INIT":
            client.thread = threading.get_ident()
            if client.base == "INIT" and client.pid == os.getpid():
                client.base = "TRAIN"
                client.send()
    except Exception:
        pass


class phase:
    """A stretch in which no step is expected: ``with unhang.phase("CHECKPOINT"):``. Phases may be nested."""

    def __init__(self, name):
        self.name = str(name).upper()[:32]
        self.client = None

    def __enter__(self):
        try:
            client = _client
            if client is not None and client.pid == os.getpid():
                client.open.append(self)
                self.client = client
                client.send()
        except Exception:
            pass
        return self

    def __exit__(self, *_):
        try:
            client, self.client = self.client, None
            if client is not None:
                client.open.remove(self)
                client.send()
        except Exception:
            pass
        return False


def end():
    """Training is over: what follows is no hang. Heartbeats go on until the process ends."""
    try:
        client = _client
        if client is not None and client.pid == os.getpid():
            client.base = "END"
            client.open.clear()
            client.send()
    except Exception:
        pass


def _whole(value):
    return None if value is None else int(value)


def _of_environment(names):
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return None


def _pid_namespace():
    """In a container our pid is not the node's: the collector finds us by both."""
    try:
        return int(os.readlink("/proc/self/ns/pid").partition("[")[2].rstrip("]"))
    except (OSError, ValueError):
        return 0


# ---- checkpoints that announce themselves --------------------------------------------------------------------------

_CHECKPOINTS = {
    "torch": ("save",),
    "torch.distributed.checkpoint": ("save", "async_save", "save_state_dict"),
    "safetensors.torch": ("save_file", "save_model"),
}


def _watch_torch():
    """Wraps what is loaded now, and the rest when it is imported."""
    for name in _CHECKPOINTS:
        _wrap_module(name)
    if not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport())


def _wrap_module(name):
    module = sys.modules.get(name)
    if module is None:
        return
    for function in _CHECKPOINTS[name]:
        original = getattr(module, function, None)
        if callable(original) and not hasattr(original, "_unhang"):
            announced = _announced(original)
            setattr(module, function, announced)
            # Where it was defined too: there pickle looks for it, and some code calls it there.
            home = sys.modules.get(getattr(original, "__module__", None))
            if home is not None and getattr(home, function, None) is original:
                setattr(home, function, announced)


def _announced(original):
    @functools.wraps(original)
    def checkpoint(*args, **kwargs):
        client = _client
        if client is None or client.thread not in (None, threading.get_ident()):
            return original(*args, **kwargs)  # a thread beside training writes: the steps go on
        with phase("CHECKPOINT"):
            return original(*args, **kwargs)

    checkpoint._unhang = True
    return checkpoint


class _AfterImport:
    """Lets the usual finders find a module, and wraps its functions once it is loaded."""

    def __init__(self):
        self.busy = threading.local()

    def find_spec(self, name, path=None, target=None):
        if name not in _CHECKPOINTS or getattr(self.busy, "now", False):
            return None
        self.busy.now = True
        try:
            import importlib.util

            spec = importlib.util.find_spec(name)
        except Exception:
            return None  # the usual finders will say what is wrong
        finally:
            self.busy.now = False
        if spec is not None and spec.loader is not None:
            try:
                _wrap_loader(spec.loader, name)
            except Exception:
                pass
        return spec


def _wrap_loader(loader, name):
    load = loader.exec_module

    def exec_module(module):
        load(module)
        try:
            _wrap_module(name)
        except Exception:
            pass

    loader.exec_module = exec_module
