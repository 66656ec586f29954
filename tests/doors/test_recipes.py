"""The recipes of `examples/ms_swift` and `examples/verl` under the real libraries, as far as those go without a GPU, with a random model of one layer.

Where the library's own rollout needs a GPU, the rest of it plays: its config, its dataset, its worker, our class; another speaks for the model.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from phoneworld.env.rollout import Phones
from tests.cli.running import ROOT, phoneworld
from tests.doors.trainers import SWIFT, VERL, call_in, trainer
from tests.study.tiny import write_study

pytestmark = pytest.mark.slow
EXAMPLES = ROOT / "examples"
_SLOWEST_S = 1800
_SAYING = """
import json
def call(**arguments):
    return "<tool_call>" + json.dumps({"name": "mobile_use", "arguments": arguments}) + "</tool_call>"
DOES = [call(action="click", coordinate=[833, 25]), "What now?", call(action="click", coordinate=[833, 75]), call(action="terminate", status="success")]
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A small app with tasks, and an export of what its oracle does."""
    write_study(tmp_path)
    exported = phoneworld("export", tmp_path / "shop", "--form", "messages", "--see", "text", "-o", tmp_path / "data")
    assert exported.returncode == 0, exported.stderr
    return tmp_path / "shop"


def ran(python: Path, *words: object, paths: tuple[Path, ...] = (), **environment: str) -> str:
    """What a program in the trainer's environment says."""
    path = os.pathsep.join(map(str, (ROOT, *paths)))
    try:
        done = call_in(python, *map(str, words), timeout_s=_SLOWEST_S, PYTHONPATH=path, OMP_NUM_THREADS="1", TRL_EXPERIMENTAL_SILENCE="1", **environment)
    except subprocess.TimeoutExpired as e:
        pytest.fail(f"not done in {_SLOWEST_S} s: {words[:3]}; it said {str(e.stderr)[-2000:]}")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def logged(folder: Path, key: str) -> list[float]:
    lines = [json.loads(line) for line in (folder / "logging.jsonl").read_text(encoding="utf-8").splitlines()]
    return [float(line[key]) for line in lines if key in line]


def swift(python: Path, verb: str, recipe: str, folder: Path, *words: object) -> None:
    """A recipe of ms-swift with what makes it small, and in numbers that processors know."""
    ran(
        python, "-m", "swift.cli.main", verb, EXAMPLES / "ms_swift" / recipe, "--model", folder / "tiny", "--model_type", "qwen3", "--template", "qwen3",
        "--torch_dtype", "float32", "--max_steps", 2, "--per_device_train_batch_size", 2, *words, MODELSCOPE_CACHE=str(folder / "cache"),
    )  # fmt: skip


def test_ms_swift_trains_on_demonstrations_and_then_on_the_phone(app: Path) -> None:
    python, folder = trainer(*SWIFT), app.parent
    ran(python, EXAMPLES / "trl" / "models.py", folder / "tiny")
    swift(python, "sft", "sft.yaml", folder, "--dataset", folder / "data" / "train.jsonl", "--output_dir", folder / "sft")
    assert len(logged(folder / "sft", "loss")) == 2 and (folder / "sft" / "checkpoint-2" / "model.safetensors").is_file()
    ran(python, EXAMPLES / "ms_swift" / "rows.py", app, "--only", "look", "--rows", 2, "-o", folder / "grpo.jsonl")
    swift(
        python, "rlhf", "grpo.yaml", folder, "--dataset", folder / "grpo.jsonl", "--output_dir", folder / "grpo", "--num_generations", 2,
        "--max_completion_length", 8, "--log_completions", "true",
    )  # fmt: skip
    rewards, turns = logged(folder / "grpo", "reward"), logged(folder / "grpo", "num_turns")
    assert len(rewards) == 2 and all(0 <= reward <= 1 for reward in rewards)
    assert turns == [5.0, 5.0], "as many as the task's budget has steps: a random model says nothing that ends it sooner"


_VERL = _SAYING + """
import asyncio, sys
import numpy as np
import torch
from hydra import compose, initialize_config_dir
from torch.utils.data import DataLoader
from verl import DataProto
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from verl.workers.rollout.replica import TokenOutput

folder, rows, model, agent = sys.argv[1:]
with initialize_config_dir(folder, version_base=None):
    config = compose("grpo", overrides=[
        f"actor_rollout_ref.model.path={model}", f"data.train_files={rows}", f"data.val_files={rows}", "data.max_prompt_length=4096",
        "data.max_response_length=8192", f"actor_rollout_ref.rollout.agent.agent_loop_config_path={agent}"])

class Speaks:
    def __init__(self):
        self.said, self.asked = {}, []
    async def generate(self, request_id, *, prompt_ids, sampling_params, **other):
        turn = self.said[request_id] = self.said.get(request_id, -1) + 1
        self.asked.append((request_id, list(prompt_ids)))
        ids = worker.tokenizer.encode(DOES[turn], add_special_tokens=False) + [worker.tokenizer.eos_token_id]
        return TokenOutput(token_ids=ids, log_probs=[-1.0] * len(ids), stop_reason="completed")

def rolled(client, n):
    data = RLHFDataset(rows, tokenizer=worker.tokenizer, config=config.data)
    (batch,) = DataLoader(data, batch_size=n, collate_fn=collate_fn)
    batch = DataProto.from_single_dict({k: v for k, v in batch.items()})
    worker.llm_client = client
    return asyncio.run(worker.generate_sequences(batch))

worker = AgentLoopWorker(config, llm_client=None)
client = Speaks()
out = rolled(client, 2)
assert out.batch["rm_scores"].sum(-1).tolist() == [1.0, 1.0], out.batch["rm_scores"].sum(-1)
for i in range(2):
    mask, ids = out.batch["response_mask"][i].bool(), out.batch["responses"][i]
    words = worker.tokenizer.decode(ids[mask])
    assert words == "".join(text + "<|im_end|>" for text in DOES), words
    told = worker.tokenizer.decode(ids[out.batch["attention_mask"][i][-len(ids):].bool()])
    assert all(told.count(text) == 1 for text in DOES), "what was said stands there once"
    assert told.count("<|im_start|>user") == 3 and "no tool call" in told and 'switch "Cheap" on' in told, told
    assert (out.batch["rollout_log_probs"][i][mask] == -1).all()
prompts = [worker.tokenizer.decode(ids) for _, ids in client.asked if len(ids) == min(len(i) for _, i in client.asked)]
assert "Show what is cheap only." in prompts[0] and prompts[0].endswith("<|im_start|>assistant\\n"), prompts[0][-200:]
assert out.non_tensor_batch["termination"].tolist() == ["success"] * 2 and out.non_tensor_batch["__num_turns__"].tolist() == [4, 4]

# An episode whose checker cannot tell trains nothing.
import phone_loop
from phoneworld.errors import SessionError
DOES[:] = [call(action="terminate", status="success")]
class Lost(phone_loop.MessageEnv):
    async def step(self, text):
        turn = await super().step(text)
        turn.info["trainable"] = False
        return phone_loop.Turn([], float("nan"), True, turn.info)
phone_loop.MessageEnv = Lost
out = rolled(Speaks(), 2)
assert out.batch["response_mask"].sum() == 0 and out.batch["rm_scores"].sum() == 0 and not out.non_tensor_batch["trainable"].any()
print("PLAYED")
"""


def test_verl_plays_and_pays_an_episode_that_succeeds(phones: Phones, tmp_path: Path) -> None:
    """Its config, its dataset, its own worker of agent loops and its tokens; what vLLM would say is written down."""
    python = trainer(*VERL)
    ran(python, EXAMPLES / "trl" / "models.py", tmp_path / "tiny")
    app = Path(phones.bundles if isinstance(phones.bundles, str) else phones.bundles[0]).parent
    ran(python, EXAMPLES / "verl" / "rows.py", "grpo", app, "--only", "cheap", "--rows", 2, "-o", tmp_path / "grpo.parquet")
    agent = EXAMPLES / "verl" / "agent.yaml"
    told = ran(python, "-c", _VERL, EXAMPLES / "verl", tmp_path / "grpo.parquet", tmp_path / "tiny", agent, paths=(EXAMPLES / "verl",))
    assert "PLAYED" in told
