"""Demonstrations as samples: what is seen, what was done, in the words of a dialect; nothing that is not so, and nothing outside the folder."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from phoneworld.datasets.demonstrations import Deed, Demonstration, Shown, Supply, chosen, touching
from phoneworld.dialects.dialect import Screen
from phoneworld.dialects.families import DIALECTS, dialect_named
from phoneworld.dialects.speaking import sayable, ways_to_say
from phoneworld.episodes.trace import hit_of
from phoneworld.errors import ActionError, FileFormatError
from phoneworld.graph.file import save_graph
from phoneworld.testing.samples import sample_graph
from phoneworld.ui.action import Clear, Finish, Pinch, Tap, TypeText, action_from_json
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Hierarchy, Node
from tests.cli.running import phoneworld
from tests.env.shop_phone import write_shop

GOOD = ("--only", "buy", "--only", "cheap", "--only", "told")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    write_shop(tmp_path / "shop")
    return tmp_path


def export(shop: Path, *words: str | Path, code: int = 0) -> Any:
    ran = phoneworld("export", *words, "--see", "text", "-o", "data", "--json", cwd=shop)
    assert ran.returncode == code, ran.stdout + ran.stderr
    return json.loads(ran.stdout)


def samples(shop: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (shop / "data" / "train.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_oracle_of_an_app_becomes_a_sample_a_step(shop: Path) -> None:
    told = export(shop, "shop", *GOOD, "--seeds", "2")
    found = samples(shop)
    assert told["demonstrations"] == 6 and told["samples"] == len(found) > 12 and told["real_samples"] == 0 and told["left_out"] == {}
    first = next(s for s in found if s["id"] == "oracle/shop/cheap-v1/seed-0/step-2")
    assert [m["role"] for m in first["messages"]] == ["system", "user", "assistant"] and first["source"] == "mock" and first["step"] == 2
    asked = first["messages"][1]["content"]
    assert asked.startswith("Show what is cheap only.\n\nDone so far:\n1. Tap “Cheap”.\n\n") and 'switch "Cheap" on at [' in asked, "no picture, so places"
    (action,) = dialect_named("qwen3").parse(first["messages"][2]["content"], Screen(Size(360, 800))).actions
    assert isinstance(action, Tap)
    again = (shop / "data" / "train.jsonl").read_bytes()
    export(shop, "shop", *GOOD, "--seeds", "2")
    assert (shop / "data" / "train.jsonl").read_bytes() == again, "the same bytes each time"


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_what_is_said_does_the_task_in_every_dialect(shop: Path, dialect: str) -> None:
    """Each answer of a conversation is parsed and done: the task is done too."""
    from phoneworld.env.phone_env import PhoneEnv

    export(shop, "shop", "--only", "buy", "--seeds", "1", "--dialect", dialect, "--per", "episode", "--reasons")
    (sample,) = samples(shop)
    roles = [m["role"] for m in sample["messages"]]
    assert roles == ["system", *["user", "assistant"] * ((len(roles) - 1) // 2)] and sample["step"] is None
    with PhoneEnv(shop / "shop" / "bundle", tasks=str(shop / "shop" / "tasks")) as env:
        env.reset(seed=0, task="shop/buy-v1")
        for message in sample["messages"]:
            if message["role"] == "assistant":
                for action in dialect_named(dialect).parse(message["content"], Screen(Size(360, 800))).actions:
                    *_, info = env.step(action)
        assert info["success"] is True


def test_successes_of_a_folder_are_taken_and_the_others_are_counted(shop: Path) -> None:
    (shop / "agent.py").write_text("""
class Policy:
    def begin(self, task, seed):
        self.seed = seed
        return self
    def act(self, observation, info):
        return {"kind": "answer", "text": str(11 + self.seed)}
""")
    phoneworld("eval", "shop", "--policy", "agent.py", "--only", "told", "--seeds", "3", "--out", "runs", cwd=shop)
    told = export(shop, "runs")
    assert told["demonstrations"] == 1 and told["left_out"] == {"no success": 2}
    assert {s["id"].partition("/")[0] for s in samples(shop)} == {"runs"}


def recorded(shop: Path) -> Path:
    """A recording whose first trace says what it was for."""
    graph, pictures = sample_graph()
    first = replace(graph.traces[0], instruction="Look at the <image> of apples.")
    save_graph(replace(graph, traces=(first, *graph.traces[1:])), shop / "rec.graph.json", pictures)
    return shop / "rec.graph.json"


def test_recorded_traces_with_an_instruction_are_real(shop: Path) -> None:
    graph, _ = sample_graph()
    told = export(shop, recorded(shop))
    found = samples(shop)
    assert told["real_samples"] == told["samples"] == len(graph.traces[0].transitions) + 1
    assert told["left_out"] == {"a trace without an instruction": len(graph.traces) - 1}
    assert {s["source"] for s in found} == {"real"} and '"terminate"' in found[-1]["messages"][2]["content"]
    assert "<image>" not in found[0]["messages"][1]["content"] and "< image> of apples" in found[0]["messages"][1]["content"], "words are no marks"


def test_the_share_of_real_steps_is_kept(shop: Path) -> None:
    told = export(shop, "shop", *GOOD, "--seeds", "4", recorded(shop), "--only", "rec", "--real-fraction", "0.25")
    assert told["samples"] and abs(told["real_samples"] / told["samples"] - 0.25) < 0.05
    assert export(shop, "shop", *GOOD, recorded(shop), "--only", "rec", "--real-fraction", "1")["left_out"]["not needed for the share of real steps"] > 0
    ran = phoneworld("export", "shop", *GOOD, "--see", "text", "--real-fraction", "0.5", "-o", "data", cwd=shop)
    assert ran.returncode == 3 and "none of real phones" in ran.stderr


def test_chosen_takes_by_names_not_by_order() -> None:
    def of(n: int, source: Any) -> Demonstration:
        look = Shown(Size(1, 1), lambda: b"", lambda: Hierarchy(()))
        return Demonstration(f"{source}/{n}", source, "", "", "", "", n, (Deed(look, Finish(), ""),) * (1 + n % 3), look)

    given = [of(n, "real") for n in range(40)] + [of(n, "mock") for n in range(90)]
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        taken = chosen(given, share)
        steps = Counter({source: sum(len(d.deeds) for d in taken if d.source == source) for source in ("real", "mock")})
        assert abs(steps["real"] / steps.total() - share) < 0.02
        assert {d.id for d in chosen(given[::-1], share)} == {d.id for d in taken}


def test_what_a_family_has_no_word_for_is_said_in_parts_or_not_at_all() -> None:
    screen, qwen = Screen(Size(360, 800)), dialect_named("qwen3")
    assert sayable(qwen, TypeText("a", 5, 6), screen) == (Tap(5, 6), TypeText("a"))
    assert sayable(qwen, TypeText("a", 5, 6, "replace"), screen) == (Tap(5, 6), Clear(), TypeText("a"))
    assert sayable(qwen, TypeText("a", 5, 6, "replace"), screen, field_is_empty=True) == (Tap(5, 6), TypeText("a"))
    assert sayable(dialect_named("autoglm"), TypeText("a", mode="replace"), screen) == (TypeText("a", mode="replace"),)
    assert list(ways_to_say(Finish())) == [(Finish(),)]
    with pytest.raises(ActionError, match="no word for pinch"):
        sayable(qwen, Pinch(5, 5, 2.0), screen)


def test_typing_at_a_place_is_a_tap_and_a_text_with_what_is_seen_between(shop: Path) -> None:
    """On a mock it is played so; of a recording it was not seen, and is left out."""
    (shop / "shop" / "tasks" / "shop.yaml").write_text("""
names: {tables: {goods: {is: products}}}
tasks:
- {id: shop/memo-v1, say: {en: Note something.}, start: {at: browsing}, check: {any: [{state: {variables.cheap: true}}]}, unchanged: false}
""")
    x, y = _field(shop)
    back = {"kind": "press_key", "key": "back"}
    deeds = [{"kind": "tap", "x": 150, "y": 180}, {"kind": "type", "text": "soon", "x": x, "y": y}, back, back, {"kind": "tap", "x": 300, "y": 20}, {"kind": "finish"}]
    (shop / "agent.py").write_text(f"""
class Policy:
    def begin(self, task, seed):
        self.left = {deeds[::-1]}
        return self
    def act(self, observation, info):
        return self.left.pop()
""")
    assert phoneworld("eval", "shop", "--policy", "agent.py", "--seeds", "1", "--out", "runs", cwd=shop).returncode == 0
    told = export(shop, "runs")
    said = [s["messages"][2]["content"] for s in samples(shop)]
    assert told["demonstrations"] == 1, told
    actions = [dialect_named("qwen3").parse(text, Screen(Size(360, 800))).actions[0] for text in said]
    assert TypeText("soon") in actions and isinstance(actions[actions.index(TypeText("soon")) - 1], Tap)
    assert "focused" in samples(shop)[actions.index(TypeText("soon"))]["messages"][1]["content"]


def _screen(*boxes: tuple[str, int]) -> Hierarchy:
    """Buttons with these words at these heights."""
    buttons = tuple(Node("android.widget.Button", text=words, resource_id="b", clickable=True, bounds=Bounds(0, y, 100, y + 50)) for words, y in boxes)
    return Hierarchy((Node("android.widget.FrameLayout", bounds=Bounds(0, 0, 360, 800), children=buttons),))


def test_a_touch_goes_to_the_widget_it_went_to_where_it_lies_now() -> None:
    size = Size(360, 800)
    hit = hit_of(_screen(("Save", 600), ("Drop", 660)), Point(50, 620), "tap", size)
    assert hit is not None and hit.words == "Save"
    tap = Tap(50, 620)
    assert touching(tap, hit, _screen(("Save", 600), ("Drop", 660)), size) == tap
    assert touching(tap, hit, _screen(("Drop", 600), ("Save", 300)), size) == Tap(50, 325)
    assert touching(tap, hit, _screen(("Save", 200), ("Save", 500)), size) == Tap(50, 525), "the nearest of several"
    assert touching(tap, hit, _screen(("Drop", 600)), size) is None
    assert touching(Finish(), hit, _screen(), size) == Finish()


def _field(shop: Path) -> tuple[int, int]:
    from phoneworld.env.phone_env import PhoneEnv

    with PhoneEnv(shop / "shop" / "bundle") as env:
        env.reset(start="browsing")
        observation = env.step(action_from_json({"kind": "tap", "x": 150, "y": 180}))[0]
        return next((e.point.x, e.point.y) for e in observation.elements if e.role == "field")


def test_only_a_dataset_of_ours_is_replaced(shop: Path) -> None:
    (shop / "data").mkdir()
    (shop / "data" / "thesis.txt").write_text("mine")
    ran = phoneworld("export", "shop", *GOOD, "--see", "text", "-o", "data", cwd=shop)
    assert ran.returncode == 10 and (shop / "data" / "thesis.txt").read_text() == "mine"
    assert phoneworld("export", "README.md", "-o", "d2", cwd=shop).returncode == 2
    assert phoneworld("export", "shop", "--dialect", "qwen33", "-o", "d2", cwd=shop).returncode == 2
    assert phoneworld("export", "shop", "-o", "no/where", cwd=shop).returncode == 10
    assert not list(shop.glob(".d2*")) and not list(shop.glob(".data*"))


def test_nothing_to_take_is_told_by_the_exit_code(shop: Path) -> None:
    assert export(shop, "shop", "--only", "nothing", code=1)["samples"] == 0


def test_every_file_lies_in_the_folder(shop: Path) -> None:
    export(shop, "shop", *GOOD)
    assert {p.name for p in (shop / "data").iterdir()} == {"train.jsonl", "images", "dataset_info.json", "phoneworld.json"}
    text = "".join(p.read_text() for p in (shop / "data").rglob("*.json*"))
    assert str(shop) not in text and "../" not in text


def test_an_episode_of_a_real_phone_without_what_was_seen_is_left_out(shop: Path) -> None:
    phoneworld("eval", "shop", "--policy", "oracle", "--only", "told", "--seeds", "1", "--out", "runs", cwd=shop)
    about = json.loads((shop / "runs" / "episodes.json").read_text())
    (shop / "runs" / "episodes.json").write_text(json.dumps(about | {"phone": "web:http://127.0.0.1"}))
    told = export(shop, "runs", code=1)
    assert "were not kept" in next(iter(told["left_out"]))
    with Supply(dialect_named("qwen3"), pictures=False) as supply, pytest.raises(FileFormatError):
        from phoneworld.episodes.folder import EpisodeFolder

        list(supply.of_folder(EpisodeFolder(shop / "nowhere"), "x"))
