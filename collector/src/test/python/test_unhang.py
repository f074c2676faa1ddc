"""Run by UnhangPythonTest. Asserts no times; the cost of a step is printed as a ratio."""

import inspect
import json
import os
import pickle
import socket
import sys
import tempfile
import textwrap
import threading
import time
import types
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "main", "python"))
import unhang


class Collector:
    """A socket that keeps what it is sent."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(10)
        os.environ["UNHANG_HEARTBEAT"] = "127.0.0.1:%d" % self.socket.getsockname()[1]

    def receive(self):
        data = self.socket.recv(2048)
        assert len(data) <= 1024, len(data)
        return json.loads(data)

    def until(self, **wanted):
        """The first heartbeat that has these values."""
        while True:
            beat = self.receive()
            if all(beat.get(key) == value for key, value in wanted.items()):
                return beat

    def waiting(self):
        self.socket.setblocking(False)
        try:
            found = []
            while True:
                found.append(json.loads(self.socket.recv(2048)))
        except BlockingIOError:
            return found
        finally:
            self.socket.settimeout(10)

    def close(self):
        self.socket.close()


class UnhangTest(unittest.TestCase):
    def setUp(self):
        for name in list(os.environ):
            if name.startswith(("UNHANG", "SLURM", "OMPI", "PMI")) or name in ("RANK", "WORLD_SIZE"):
                del os.environ[name]
        self.collector = Collector()

    def tearDown(self):
        if unhang._client is not None:
            unhang._client.close()
            unhang._client = None
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, unhang._AfterImport)]
        for name in list(sys.modules):
            if name == "torch" or name.startswith("torch."):
                del sys.modules[name]
        self.collector.close()

    def test_a_heartbeat_says_who_and_where(self):
        self.assertTrue(unhang.start(job="llama", rank=3, world=8))
        beat = self.collector.receive()
        self.assertEqual(
            {"v": 1, "pid": os.getpid(), "seq": 1, "phase": "INIT", "job": "llama", "rank": 3, "world": 8},
            {key: value for key, value in beat.items() if key != "ns"},
        )
        self.assertEqual("pid:[%d]" % beat["ns"], os.readlink("/proc/self/ns/pid"))

    def test_rank_and_world_come_from_the_environment(self):
        os.environ.update(RANK="5", WORLD_SIZE="16", SLURM_PROCID="1")
        unhang.start()
        beat = self.collector.receive()
        self.assertEqual((5, 16), (beat["rank"], beat["world"]))
        self.assertNotIn("job", beat)

    def test_torch_distributed_is_believed_over_the_environment(self):
        os.environ.update(RANK="0", WORLD_SIZE="1")
        torch = types.ModuleType("torch.distributed")
        torch.is_available = torch.is_initialized = lambda: True
        torch.get_rank, torch.get_world_size = lambda: 7, lambda: 9
        sys.modules["torch.distributed"] = torch
        unhang.start()
        beat = self.collector.receive()
        self.assertEqual((7, 9), (beat["rank"], beat["world"]))

    def test_the_first_step_begins_training_and_is_told_at_once(self):
        unhang.start()
        self.collector.until(phase="INIT")
        unhang.step(1)
        self.assertEqual(1, self.collector.until(phase="TRAIN")["step"])

    def test_steps_are_told_once_a_second_and_not_each(self):
        unhang.start()
        for n in range(10000):
            unhang.step(n)
        self.assertLessEqual(len(self.collector.waiting()), 4)
        self.collector.until(step=9999)

    def test_phases_nest_and_end_as_they_began(self):
        unhang.start()
        unhang.step(1)
        self.collector.until(phase="TRAIN")
        with unhang.phase("eval"):
            with unhang.phase("CHECKPOINT"):
                pass
        unhang.end()
        phases = []
        while not phases or phases[-1] != "END":
            told = self.collector.receive()["phase"]
            if not phases or told != phases[-1]:
                phases.append(told)
        self.assertEqual(["EVAL", "CHECKPOINT", "EVAL", "TRAIN", "END"], [p for p in phases if p][-5:])

    def test_what_is_told_while_another_thread_sends_is_not_lost(self):
        unhang.start()
        self.collector.until(phase="INIT")
        client, here, go_on = unhang._client, threading.Event(), threading.Event()
        place, slow = client._place, threading.Thread(target=client.send)

        def waits():
            if threading.current_thread() is slow:
                here.set()
                go_on.wait(10)
            return place()

        client._place = waits
        slow.start()
        self.assertTrue(here.wait(10))
        try:
            unhang.step(0)
            with unhang.phase("CHECKPOINT"):
                pass
            unhang.end()
            self.assertEqual("TRAIN", self.collector.until(seq=3)["phase"])
            self.assertEqual("CHECKPOINT", self.collector.until(seq=4)["phase"])
            self.assertEqual("TRAIN", self.collector.until(seq=5)["phase"])
            self.assertEqual("END", self.collector.until(seq=6)["phase"])
        finally:
            go_on.set()
            slow.join()

    def test_phases_of_two_threads_may_end_in_any_order(self):
        unhang.start()
        unhang.step(1)
        first, second = unhang.phase("CHECKPOINT"), unhang.phase("EVAL")
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        self.assertEqual("EVAL", unhang._client.phase)
        second.__exit__(None, None, None)
        self.assertEqual("TRAIN", unhang._client.phase)

    def test_a_step_that_is_no_number_is_not_asked_for_its_value(self):
        class Tensor:
            def __int__(self):
                raise AssertionError("waited for the device")

            __index__ = __int__

        unhang.start()
        unhang.step(4)
        unhang.step(Tensor())
        self.assertEqual(4, unhang._client.step)

    def test_a_save_beside_training_is_no_pause_of_it(self):
        torch = types.ModuleType("torch")
        torch.save = lambda: unhang._client.phase
        sys.modules["torch"] = torch
        unhang.start(auto=True)
        unhang.step(1)
        told = []
        thread = threading.Thread(target=lambda: told.append(torch.save()))
        thread.start()
        thread.join()
        self.assertEqual(["TRAIN"], told)
        self.assertEqual("CHECKPOINT", torch.save())

    def test_an_exception_in_a_phase_is_not_swallowed_and_ends_it(self):
        unhang.start()
        unhang.step(1)
        with self.assertRaises(KeyError):
            with unhang.phase("CHECKPOINT"):
                raise KeyError("of training")
        self.assertEqual("TRAIN", unhang._client.phase)

    def test_nothing_throws_without_a_start_or_a_collector_or_with_nonsense(self):
        unhang.step(1)
        unhang.end()
        with unhang.phase("CHECKPOINT"):
            pass
        os.environ["UNHANG_HEARTBEAT"] = "not an address"
        self.assertFalse(unhang.start())
        unhang.step(2)
        os.environ["UNHANG_HEARTBEAT"] = "127.0.0.1:1"
        self.assertTrue(unhang.start(job=object()))
        for n in (3, 4.5, "x", None, object()):
            unhang.step(n)
            unhang._client.send()
        with unhang.phase(None):
            pass

    def test_a_job_name_is_cut_to_what_the_collector_takes(self):
        unhang.start(job="ü" + "j" * 5000 + "\n", rank=2**23, world=2**23)
        self.assertEqual("j" * 127, self.collector.receive()["job"])

    def test_a_forked_child_is_silent_until_it_starts_itself(self):
        unhang.start(rank=0, world=2)
        unhang.step(1)
        self.collector.until(phase="TRAIN")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                unhang.step(99)
                unhang.end()
                with unhang.phase("EVAL"):
                    pass
                unhang.start(rank=1, world=2)
                time.sleep(0.2)
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(0, os.waitpid(child, 0)[1])
        beat = self.collector.until(pid=child)
        self.assertEqual((1, "INIT", 1), (beat["rank"], beat["phase"], beat["seq"]))
        self.assertNotIn("step", beat)

    def test_torch_save_announces_itself_and_is_otherwise_as_it_was(self):
        torch = types.ModuleType("torch")

        def save(obj, f, pickle_protocol=2, *, weights=True):
            """Saves."""
            return obj, f, pickle_protocol, weights, unhang._client.phase

        torch.save = save
        sys.modules["torch"] = torch
        unhang.start(auto=True)
        unhang.start(auto=True)
        unhang.step(1)
        self.assertEqual(("a", "b", 2, False, "CHECKPOINT"), torch.save("a", f="b", weights=False))
        self.assertEqual("TRAIN", unhang._client.phase)
        self.assertEqual(inspect.signature(save), inspect.signature(torch.save))
        self.assertEqual(("save", "Saves."), (torch.save.__name__, torch.save.__doc__))
        self.assertIs(save, torch.save.__wrapped__)
        with self.assertRaises(TypeError):
            torch.save()

    def test_checkpoints_imported_later_announce_themselves_too(self):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {
                "torch/__init__.py": "import unhang\ndef save(x):\n    return unhang._client.phase\n",
                "torch/distributed/__init__.py": "",
                "torch/distributed/checkpoint/__init__.py": """
                    import unhang
                    def save(x):
                        return unhang._client.phase
                    def async_save(x):
                        return unhang._client.phase
                    """,
            }.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w") as file:
                    file.write(textwrap.dedent(text))
            sys.path.insert(0, root)
            try:
                unhang.start(auto=True)
                unhang.step(1)
                import torch
                import torch.distributed.checkpoint as dcp

                self.assertEqual("CHECKPOINT", torch.save(1))
                self.assertEqual("CHECKPOINT", dcp.save(1))
                self.assertEqual("CHECKPOINT", dcp.async_save(1))
                self.assertEqual("TRAIN", unhang._client.phase)
            finally:
                sys.path.remove(root)

    def test_a_function_is_announced_under_the_name_of_its_home_too(self):
        torch, home = types.ModuleType("torch"), types.ModuleType("torch.serialization")

        def save():
            return unhang._client.phase

        save.__module__, save.__qualname__ = "torch.serialization", "save"
        torch.save = home.save = save
        sys.modules.update({"torch": torch, "torch.serialization": home})
        unhang.start(auto=True)
        unhang.step(1)
        self.assertEqual(("CHECKPOINT", "CHECKPOINT"), (torch.save(), home.save()))
        self.assertIs(torch.save, pickle.loads(pickle.dumps(torch.save)))

    def test_a_missing_torch_is_missed_as_before(self):
        unhang.start(auto=True)
        if any(os.path.isdir(os.path.join(path, "torch")) for path in sys.path):
            self.skipTest("torch is installed here")
        with self.assertRaises(ModuleNotFoundError):
            import torch.distributed.checkpoint  # noqa: F401

    def test_the_cost_of_a_step_is_printed(self):
        unhang.start()
        unhang.step(0)

        def best(function):
            times = []
            for _ in range(5):
                begin = time.perf_counter()
                for n in range(20000):
                    function(n)
                times.append((time.perf_counter() - begin) / 20000)
            return min(times)

        empty, step = best(lambda n: None), best(unhang.step)
        print("a step costs %.2f us, %.3f of the 20 us allowed" % ((step - empty) * 1e6, (step - empty) / 20e-6))


if __name__ == "__main__":
    unittest.main()
