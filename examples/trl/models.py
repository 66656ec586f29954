"""The model and its tokenizer: one from the hub or a folder, or `tiny`, a random one of a layer that shows on any machine that all fits together.

    python examples/trl/models.py runs/tiny      # the tiny one as a folder, for trainers that take a path
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

PLAIN = """\
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""Words and nothing else, as Qwen's template puts them."""


def opened(name: str) -> tuple[Any, Any]:
    """The model of this name, and its tokenizer."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if name == "tiny":
        return tiny()
    return AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)


def tiny(template: str | None = None) -> tuple[Any, Any]:
    """A random Qwen3 of one layer, whose tokens are bytes. It learns nothing that is of use. Without a template with TRL's, which has tools."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bpe = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    bpe.pre_tokenizer, bpe.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    tokenizer.add_tokens(["<tool_call>", "</tool_call>", "<think>", "</think>", "<tool_response>", "</tool_response>"])
    if template is None:
        import trl

        template = (Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
    tokenizer.chat_template = template
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2, head_dim=16,
        max_position_embeddings=16_384, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    return Qwen3ForCausalLM(config), tokenizer


def main() -> None:
    """Writes the tiny one."""
    if len(sys.argv) != 2:
        raise SystemExit("which folder? for example: python examples/trl/models.py runs/tiny")
    for part in tiny(PLAIN):
        part.save_pretrained(sys.argv[1])


if __name__ == "__main__":
    main()
