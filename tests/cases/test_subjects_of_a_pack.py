"""
Subjects as data: which objects make them, in which namespaces, and by which labels they are found.
"""

from pathlib import Path
from typing import Any

import yaml

from reporter.stories.story_replay import StoryReplay


PACK = """
kinds:
  - { kind: ModelServer, group: example.com, version: v1, resource: modelservers }
  - { kind: Tenant, group: example.com, version: v1, resource: tenants }
subjects:
  - layer: modelharness
    kind: Tenant
    about: one tenant
    namespaces: labelled
    namespace-labels: { llm: "yes" }
  - layer: modeldeployment
    kind: ModelServer
    about: one model
    prefix: model
    labels: { tier: gold }
    namespaces: labelled
    namespace-labels: { llm: "yes" }
    name-label: model
    namespace-label: team
reasons:
  - reason: tenantBlocked
    layer: modelharness
    type: Warning
    owner: user
    rank: 10
    probe: cel
    parameters: { kind: Tenant, current: "!object.spec.blocked", failed: "true" }
    grace: false
    message: "Tenant {namespace}/{tenant} is blocked."
    remedy: { default: Unblock it. }
  - { reason: tenantReady, layer: modelharness, type: Normal, owner: user, message: "{namespace} {tenant}." }
  - reason: modelDown
    layer: modeldeployment
    type: Warning
    owner: user
    rank: 10
    probe: cel
    parameters: { kind: ModelServer, current: object.status.phase == "Up", failed: "true" }
    grace: false
    message: "Model {namespace}/{modelserver} is down."
    remedy: { default: Restart it. }
  - { reason: modelReady, layer: modeldeployment, type: Normal, owner: user, message: "{namespace} {modelserver}." }
"""

STORY = """
given:
  change:
    Namespace platform: {}
    Namespace team-a: { metadata: { labels: { llm: "yes" } } }
    Namespace team-b: {}
    Tenant team-a/acme: { spec: { blocked: false } }
    Tenant team-b/acme: { spec: { blocked: true } }
    ModelServer platform/a: &up { metadata: { labels: { tier: gold, model: chat, team: team-a } }, status: { phase: Up } }
    ModelServer platform/b: { metadata: { labels: { tier: gold, model: chat, team: team-b } }, status: { phase: Down } }
    ModelServer platform/c: { metadata: { labels: { model: other, team: team-a } }, status: { phase: Down } }
    ModelServer platform/d: { metadata: { labels: { tier: gold, team: team-a } }, status: { phase: Down } }
story:
  - at: 1m
    what: the model of the team is down
    change: { ModelServer platform/a: { status: { phase: Down } } }
  - at: 5m
    what: it is up
    change: { ModelServer platform/a: *up }
  - at: 10m
    what: the tenant is blocked
    change: { Tenant team-a/acme: { spec: { blocked: true } } }
  - at: 15m
    what: the other namespace becomes one for models
    change: { Namespace team-b: { metadata: { labels: { llm: "yes" } } } }
announced: {}
status:
  3m: { team-a/ModelServer/chat: "", team-a/ModelServer/other: "", team-b/ModelServer/chat: "" }
"""


def announced_of(folder: Path) -> tuple[list[str], Any]:
    pack = folder / "platform"
    pack.mkdir()
    (pack / "pack.yaml").write_text(PACK)
    replay = StoryReplay({"packs": [str(pack)], **yaml.safe_load(STORY)})
    replay.run()
    return replay.announced, replay.statuses


def test_subjects_are_found_by_the_labels_and_in_the_namespaces_that_a_pack_names(tmp_path: Path):
    announced, statuses = announced_of(tmp_path)
    assert announced == [
        "1m15s Warning modelDown Namespace/team-a: Model team-a/chat is down. User: Restart it.",
        "5m30s Normal modelReady Namespace/team-a: team-a chat.",
        "10m15s Warning tenantBlocked Namespace/team-a: Tenant team-a/acme is blocked. User: Unblock it.",
        "15m15s Warning tenantBlocked Namespace/team-b: Tenant team-b/acme is blocked. User: Unblock it.",
        "15m15s Warning modelDown Namespace/team-b: Model team-b/chat is down. User: Restart it.",
    ]
    models = [name for name in statuses["3m"] if "ModelServer" in name]
    assert [each for each in models if not each.endswith(" not judged")] == [
        "team-a/ModelServer/chat"
    ]
