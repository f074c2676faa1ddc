"""A small real training job, to be hung on purpose: DistributedDataParallel on the CPU, gloo between the ranks.

    RANK=0 WORLD_SIZE=2 MASTER_ADDR=10.0.0.1 MASTER_PORT=29500 python3 train.py --heartbeats
    RANK=1 ...

A step takes --step-seconds, most of it asleep as if a data loader were slow, and reduces the 4 MB of gradients of one
layer. Signals do what goes wrong in real jobs: USR1 lets this rank loop on its CPU from its next step on, TERM ends the
whole job in order. --save-seconds lets rank 0 save a checkpoint to a slow disk, once, while its peers wait in their
collective. --checkpoint FILE lets rank 0 keep the model and the step every ten steps, and a job that is started again go
on from there. What matters is printed, one line each.
"""

import argparse
import io
import os
import signal
import sys
import tempfile
import time

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel

WIDTH = 1024  # one layer of WIDTH x WIDTH float32: 4 MB of gradients
CHUNK = 1 << 20
DISK = 256 << 20


class SlowDisk(io.RawIOBase):
    """A file that takes so many bytes a second. What does not fit into DISK bytes overwrites what came before."""

    def __init__(self, bytes_per_second):
        self.rate = bytes_per_second
        self.file = tempfile.TemporaryFile()
        self.begin = time.monotonic()
        self.written = 0

    def writable(self):
        return True

    def write(self, data):
        view = memoryview(data).cast("B")
        for at in range(0, len(view), CHUNK):
            chunk = view[at : at + CHUNK]
            if self.file.tell() + len(chunk) > DISK:
                self.file.seek(0)
            self.file.write(chunk)
            self.file.flush()
            self.written += len(chunk)
            time.sleep(max(0.0, self.begin + self.written / self.rate - time.monotonic()))
        return len(view)

    def close(self):
        self.file.close()
        super().close()


def checkpoint(seconds, megabytes_per_second):
    """One torch.save that takes so long. Its tensors are memory that nobody has touched, so they cost none."""
    size = 32 << 20
    count = max(1, int(seconds * megabytes_per_second * 1e6 / size))
    state = {"layer %d" % n: torch.empty(size, dtype=torch.uint8) for n in range(count)}
    with SlowDisk(megabytes_per_second * 1e6) as disk:
        torch.save(state, disk)
        return disk.written


def say(text):
    print("%.3f rank %s: %s" % (time.time(), os.environ["RANK"], text), flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heartbeats", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--announce", action=argparse.BooleanOptionalAction, default=False,
                        help="let unhang announce torch.save by itself; needs --heartbeats")
    parser.add_argument("--job", help="the job's name in heartbeats")
    parser.add_argument("--step-seconds", type=float, default=0.3)
    parser.add_argument("--save-seconds", type=float, default=0, help="how long rank 0 saves, once")
    parser.add_argument("--at-step", type=int, default=150, help="the step before which it does")
    parser.add_argument("--checkpoint", help="file that rank 0 keeps and every rank goes on from")
    parser.add_argument("--save-rate", type=float, default=40, help="MB a second")
    return parser.parse_args()


def main():
    args = arguments()
    if args.heartbeats:
        import unhang

        unhang.start(job=args.job, auto=args.announce)
    asked = set()
    for number in (signal.SIGUSR1, signal.SIGTERM):
        signal.signal(number, lambda which, _: asked.add(which))
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
    say("pid %d of %d ranks, torch %s" % (os.getpid(), world, torch.__version__))

    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(WIDTH, WIDTH, bias=False))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    step = first = 0
    if args.checkpoint and os.path.exists(args.checkpoint):
        kept = torch.load(args.checkpoint)
        model.load_state_dict(kept["model"])
        step = first = kept["step"]
        say("goes on from step %d" % step)
    while True:
        begin = time.monotonic()
        if args.heartbeats:
            unhang.step(step)
        if signal.SIGUSR1 in asked:
            say("loops on its CPU before step %d" % step)
            while True:
                pass
        if args.save_seconds > 0 and step == args.at_step and rank == 0:
            say("saves before step %d" % step)
            written = checkpoint(args.save_seconds, args.save_rate)
            say("saved %d MB in %.1f s" % (written / 1e6, time.monotonic() - begin))
        batch = torch.randn(16, WIDTH)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(batch), batch)
        loss.backward()  # reduces the gradients
        optimizer.step()
        leave = torch.tensor([signal.SIGTERM in asked], dtype=torch.int32)
        torch.distributed.all_reduce(leave, op=torch.distributed.ReduceOp.MAX)
        if leave.item():
            break
        if args.checkpoint and rank == 0 and step % 10 == 0:
            torch.save({"model": model.state_dict(), "step": step + 1}, args.checkpoint + ".part")
            os.replace(args.checkpoint + ".part", args.checkpoint)
        if first and step == first:
            say("trains again, step %d" % step)
        if step % 100 == 0:
            say("step %d, loss %.4f" % (step, loss.item()))
        step += 1
        time.sleep(max(0.0, begin + args.step_seconds - time.monotonic()))
    if args.heartbeats:
        unhang.end()
    torch.distributed.destroy_process_group()
    say("done after %d steps" % step)


if __name__ == "__main__":
    sys.exit(main())
