"""The agent loop that verl plays its episodes with: a phone of ours, spoken to in a dialect. Named by `agent.yaml`.

A row's `extra_info` says which phone and what is asked: bundle, tasks, task, seed, dialect; see `rows.py`.
"""

from __future__ import annotations

import math
from typing import Any
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput
from verl.utils.profiler import simple_timer

from phoneworld.env.rollout import Phones
from phoneworld.serve.doors.messages import MessageEnv, Turn


class PhoneAgentLoop(AgentLoopBase):
    """One episode: the model's tokens are trained on, what the phone answers is not."""

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput:
        """Plays the episode of a row, until it is over or `max_response_length` is used up."""
        told = row["extra_info"]
        phone = MessageEnv(Phones(told["bundle"], tasks=told["tasks"]), dialect=told["dialect"])
        try:
            return await self._episode(phone, told, sampling_params)
        finally:
            await phone.close()

    async def _episode(self, phone: MessageEnv, told: dict[str, Any], sampling_params: dict[str, Any]) -> AgentLoopOutput:
        longest, request = self.rollout_config.response_length, uuid4().hex
        messages = await phone.reset(told["task"], int(told["seed"]))
        ids = await self.ct_build_initial_tokens(messages)
        prompt, metrics = len(ids), dict[str, Any]()
        mask, logprobs, paid, turn = list[int](), list[float](), 0.0, None
        while (turn is None or not turn.done) and len(mask) < longest:
            with simple_timer("generate_sequences", metrics):
                said = await self.server_manager.generate(request_id=request, prompt_ids=ids, sampling_params=sampling_params)
            merged, mask, known = await self.ct_merge_assistant_token(
                ids, said.token_ids, mask, logprobs if said.log_probs else None, assistant_logprobs=said.log_probs or None
            )
            ids, logprobs = merged.token_ids, known or []
            text = self.tokenizer.decode(said.token_ids, skip_special_tokens=True)
            with simple_timer("tool_calls", metrics):
                turn = await phone.step(text)
            paid += turn.reward
            spoken = [*messages, {"role": "assistant", "content": text}]
            messages = [*spoken, *turn.messages]
            if turn.messages:
                merged, mask, known = await self.ct_merge_context_msg(spoken, messages, ids, mask, logprobs or None)
                ids, logprobs = merged.token_ids, known or []
        return self._output(ids, prompt, mask[:longest], logprobs[:longest], paid, turn, metrics)

    def _output(
        self, ids: list[int], prompt: int, mask: list[int], logprobs: list[float], paid: float, turn: Turn | None, metrics: dict[str, Any]
    ) -> AgentLoopOutput:
        """An episode without a score, or with a fault of the phone in it, trains nothing: its whole mask is 0.

        Its reward must be a number, so it is 0, which still counts in the mean of its group.
        """
        trainable = turn is not None and bool(turn.info["trainable"]) and not math.isnan(paid)
        return AgentLoopOutput(
            prompt_ids=ids[:prompt], response_ids=ids[prompt : prompt + len(mask)], response_mask=mask if trainable else [0] * len(mask),
            response_logprobs=logprobs or None, reward_score=paid if trainable else 0.0, num_turns=turn.info["step"] if turn else 0, metrics=metrics,
            extra_fields={"trainable": trainable, "termination": str(turn.info["termination"]) if turn else "", "turn_scores": [], "tool_rewards": []},
        )  # fmt: skip
