"""The client beside the real torch; run by UnhangPythonTest where there is one. Each case is a program of its own, since
torch can be loaded only once."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest

MODULE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "main", "python")


class UnhangWithTorchTest(unittest.TestCase):
    def beats_of(self, program):
        """Runs it to its end and returns the heartbeats that it sent."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as collector, tempfile.TemporaryDirectory() as directory:
            collector.bind(("127.0.0.1", 0))
            collector.setblocking(False)
            environment = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
            environment.update(PYTHONPATH=MODULE, UNHANG_HEARTBEAT="127.0.0.1:%d" % collector.getsockname()[1])
            ran = subprocess.run(
                [sys.executable, "-B", "-c", textwrap.dedent(program)],
                cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
            )
            self.assertEqual(0, ran.returncode, ran.stdout)
            beats = []
            try:
                while True:
                    beats.append(json.loads(collector.recv(2048)))
            except BlockingIOError:
                return beats

    def phases_of(self, program):
        """The phases that it told, in their order, each once."""
        phases = [beat["phase"] for beat in sorted(self.beats_of(program), key=lambda beat: beat["seq"])]
        return [phase for n, phase in enumerate(phases) if n == 0 or phases[n - 1] != phase]

    def test_a_save_announces_itself_whichever_was_there_first(self):
        for first, second in (("import torch", "unhang.start(auto=True)"), ("unhang.start(auto=True)", "import torch")):
            with self.subTest(first):
                self.assertEqual(
                    ["INIT", "TRAIN", "CHECKPOINT", "TRAIN"],
                    self.phases_of(
                        """
                        import io
                        import unhang
                        %s
                        %s
                        unhang.step(0)
                        layer = torch.nn.Linear(3, 4)
                        torch.save(layer.state_dict(), "checkpoint.pt")
                        assert torch.equal(torch.load("checkpoint.pt")["weight"], layer.weight)
                        """
                        % (first, second)
                    ),
                )

    def test_a_save_by_any_of_its_names_announces_itself(self):
        for how in ("from torch import save", "from torch.serialization import save"):
            with self.subTest(how):
                self.assertIn(
                    "CHECKPOINT",
                    self.phases_of(
                        """
                        import io
                        import unhang
                        unhang.start(auto=True)
                        %s
                        unhang.step(0)
                        save({"n": 1}, io.BytesIO())
                        """
                        % how
                    ),
                )

    def test_the_function_can_still_be_sent_to_another_process(self):
        self.beats_of(
            """
            import pickle
            import unhang
            unhang.start(auto=True)
            import torch
            assert pickle.loads(pickle.dumps(torch.save)) is torch.save
            """
        )

    def test_a_save_that_fails_ends_its_phase(self):
        self.assertEqual(
            ["INIT", "TRAIN", "CHECKPOINT", "TRAIN"],
            self.phases_of(
                """
                import unhang
                unhang.start(auto=True)
                import torch
                unhang.step(0)
                try:
                    torch.save({}, "no/such/directory/checkpoint.pt")
                except (OSError, RuntimeError):
                    pass
                else:
                    raise AssertionError("saved")
                """
            ),
        )

    def test_rank_and_world_are_those_of_the_process_group(self):
        beats = self.beats_of(
            """
            import unhang
            unhang.start()
            import torch.distributed
            torch.distributed.init_process_group("gloo", init_method="file://" + __import__("os").path.abspath("store"), rank=0, world_size=1)
            unhang.step(0)
            torch.distributed.destroy_process_group()
            """
        )
        self.assertNotIn("rank", beats[0])
        self.assertEqual((0, 1), (beats[-1]["rank"], beats[-1]["world"]))

    def test_a_distributed_checkpoint_announces_itself(self):
        program = """
            import unhang
            unhang.start(auto=True)
            import torch
            import torch.distributed.checkpoint as dcp
            unhang.step(0)
            dcp.save({"weight": torch.ones(4)}, checkpoint_id="checkpoint")
            """
        import torch

        if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 2):
            self.skipTest("torch %s has no torch.distributed.checkpoint.save" % torch.__version__)
        self.assertEqual(["INIT", "TRAIN", "CHECKPOINT", "TRAIN"], self.phases_of(program))


if __name__ == "__main__":
    unittest.main()
