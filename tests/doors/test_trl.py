"""TRL's `environment_factory`: the phone as tools, by hand here; and two steps of real GRPO with a tiny random model."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from phoneworld.env.observation import ObservationSpec
from phoneworld.env.rollout import Phones
from phoneworld.evaluate.real_phone import RealPhone
from phoneworld.program.bundle import Bundle
from phoneworld.serve.doors.tools import TOOLS
from phoneworld.serve.doors.trl import TrlPhones
from phoneworld.tasks.file import load_tasks
from phoneworld.testing.samples import sample_bundle
from tests.cli.running import ROOT, phoneworld
from tests.doors.trainers import TRL, run_in, trainer
from tests.study.tiny import write_study


def test_a_task_is_done_by_calls(phones: Phones) -> None:
    phone = TrlPhones(phones)()
    first = phone.reset(prompt=[{"role": "user", "content": "x"}], task="shop/cheap-v1", seed=0)
    assert first.startswith("Show what is cheap only.\n\nOn the screen of") and '1 switch "Cheap" off' in first
    assert '1 switch "Cheap" on' in phone.tap(1)
    cart = next(line for line in phone.swipe("sideways").split("\n") if "Cart" in line)
    assert "Empty" in phone.tap(int(cart.split(" ")[0]))
    assert phone.finish() == "The episode is over: success." and phone.get_reward() == 1.0
    assert phone.tap(0) == "The episode is over: success." and phone.get_reward() == 1.0
    assert phone.reset(task="shop/cheap-v1", seed=0) == first and phone.get_reward() == 0.0


def test_calls_that_cannot_be_are_answered_and_cost_a_step(phones: Phones) -> None:
    phone = TrlPhones(phones)()
    phone.reset(task="shop/cheap-v1")
    for told in (phone.tap(99), phone.type_text("x", 98), phone.open_app("Nothing"), phone.tap_at(-1, 0), phone.swipe("away")):
        assert told.startswith("Not done: "), told
    assert phone._env.steps == 5
    assert phone.wait() == "The episode is over: step_limit."


def test_every_tool_is_typed_and_documented_as_trl_needs_it(phones: Phones) -> None:
    phone = TrlPhones(phones)()
    public = {name for name, _ in inspect.getmembers(phone, inspect.ismethod) if not name.startswith("_")}
    assert public == {*TOOLS, "reset", "get_reward"}
    for name in TOOLS:
        method = getattr(phone, name)
        parameters = inspect.signature(method, eval_str=True).parameters
        assert all(p.annotation in (int, str, bool) for p in parameters.values()), name
        assert all(f"{p}:" in (method.__doc__ or "") for p in parameters), name


def test_with_vision_a_picture_comes_with_the_words(tmp_path: Path) -> None:
    bundle: Bundle = sample_bundle(tmp_path / "b")
    phone = TrlPhones(Phones(str(bundle.path)), vision=True)()
    picture, words = phone.reset()
    assert picture["image"].size == (1080, 2400) and "checkbox" in words["text"]


_SCRIPT = '''
import sys, json
import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer
import trl
from pathlib import Path
from phoneworld.env.rollout import Phones
from phoneworld.serve.doors.trl import TrlPhones

alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
bpe = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
bpe.pre_tokenizer, bpe.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|endoftext|>")
tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
tokenizer.add_tokens(["<tool_call>", "</tool_call>", "<think>", "</think>", "<tool_response>", "</tool_response>"])
tokenizer.chat_template = (Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
torch.manual_seed(0)
model = Qwen3ForCausalLM(Qwen3Config(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=1,
    num_attention_heads=2, num_key_value_heads=2, head_dim=16, max_position_embeddings=8192, eos_token_id=tokenizer.eos_token_id,
    pad_token_id=tokenizer.pad_token_id))
rows = Dataset.from_list([{"prompt": [{"role": "user", "content": "Use the phone."}], "task": "shop/cheap-v1", "seed": s} for s in range(4)])
seen = []
class Watched(TrlPhones):
    def __call__(self):
        phone = TrlPhones.__call__(self)
        plain = phone.reset
        def reset(*args, **row):
            told = plain(*args, **row)
            seen.append((row.get("task"), row.get("seed"), told))
            return told
        phone.reset = reset
        return phone

def reward(environments, **kwargs):
    return [e.get_reward() for e in environments]

trainer = GRPOTrainer(
    model=model, processing_class=tokenizer, train_dataset=rows, reward_funcs=reward,
    environment_factory=Watched(Phones(sys.argv[1], tasks=sys.argv[2])),
    args=GRPOConfig(output_dir=sys.argv[3], max_steps=2, per_device_train_batch_size=2, num_generations=2, max_completion_length=48,
        use_cpu=True, report_to=[], save_strategy="no", logging_steps=1, bf16=False, gradient_checkpointing=False),
)
before = [p.clone() for p in model.parameters()]
trainer.train()
assert trainer.state.global_step == 2 and len(seen) >= 4, (trainer.state.global_step, seen)
assert all(task == "shop/cheap-v1" and told.startswith("Show what is cheap only.") for task, _, told in seen), seen[:1]
# The tools as the model sees them.
from transformers.utils import get_json_schema
phone = TrlPhones(Phones(sys.argv[1], tasks=sys.argv[2]))()
schema = get_json_schema(phone.type_text)["function"]
assert schema["name"] == "type_text" and set(schema["parameters"]["properties"]) == {"text", "element"}, schema
rewards = [log["reward"] for log in trainer.state.log_history if "reward" in log]
print("TRAINED", rewards)
'''


@pytest.mark.slow
def test_two_steps_of_grpo_run_on_the_phone(phones: Phones, tmp_path: Path) -> None:
    done = run_in(trainer(*TRL), _SCRIPT, str(phones.bundles), str(phones.tasks), str(tmp_path), TRL_EXPERIMENTAL_SILENCE="1", OMP_NUM_THREADS="1")
    assert done.returncode == 0 and "TRAINED" in done.stdout, done.stdout[-1500:] + done.stderr[-4000:]


def test_a_real_phone_is_used_by_the_same_tools(tmp_path: Path) -> None:
    """A simulated one, in the place of the real: behind the Device interface, with the names of its apps."""
    write_study(tmp_path)
    bundle, listed = str(tmp_path / "shop" / "bundle"), load_tasks(tmp_path / "shop")
    real = RealPhone(f"mock:{bundle}", bundle, listed, observe=ObservationSpec())
    told = []
    for phones in (real, Phones(bundle, tasks=listed)):
        phone = TrlPhones(phones)()
        phone.reset(task="shop/look-1-v1", seed=3)
        told.append([phone.swipe("sideways"), phone.open_app("Nothing"), phone.finish(), phone.get_reward()])
    assert all(words[1].startswith("Not done: ") and words[2:] == ["The episode is over: failed.", 0.0] for words in told)
    assert told[0][0] == told[1][0]


@pytest.mark.slow
def test_the_recipes_train_a_tiny_model_on_mock_and_real_phone(tmp_path: Path) -> None:
    write_study(tmp_path)
    app = tmp_path / "shop"
    exported = phoneworld("export", app, "--form", "messages", "--see", "text", "-o", tmp_path / "data")
    assert exported.returncode == 0, exported.stderr
    python, environment = trainer(*TRL), {"TRL_EXPERIMENTAL_SILENCE": "1", "OMP_NUM_THREADS": "1"}

    def recipe(name: str, *words: object) -> dict[str, Any]:
        file = ROOT / "examples" / "trl" / name
        script = f"import runpy, sys; sys.argv[0] = {str(file)!r}; sys.path.insert(0, {str(file.parent)!r}); runpy.run_path({str(file)!r}, run_name='__main__')"
        done = run_in(python, script, *map(str, words), **environment)
        assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-4000:]
        told: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        return told

    told = recipe("sft.py", "--data", tmp_path / "data", "--out", tmp_path / "sft", "--steps", 3, "--cpu")
    assert told["steps"] == 3 and told["losses"][-1] < told["losses"][0] * 1.2
    told = recipe(
        "grpo.py", "--model", "tiny", "--app", app, "--only", "look", "--real", f"mock:{app}/bundle", "--real-fraction", 0.5, "--rows", 2, "--steps", 2,
        "--members", 2, "--tokens", 48, "--cpu", "--out", tmp_path / "grpo",
    )  # fmt: skip
    assert told["steps"] == 2 and len(told["rewards"]) == 2
