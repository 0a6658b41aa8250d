"""A reason in CEL about ConfigMaps, for tests of reloads."""

SETTING = "clusterSettingWrong"


def setting_overlay(current: str, *, hold: str) -> str:
    """
    Return an overlay with the reason. *hold*: of trouble that starts or is lost, such as ``1s``.
    """
    return f"""\
kinds:
  - {{ kind: ConfigMap, resource: configmaps, label-selector: checked=reload }}
add:
  - reason: {SETTING}
    layer: cluster
    type: Warning
    owner: user
    rank: 90
    probe: cel
    hold: {{ starting: {hold}, lost: {hold} }}
    parameters: {{ kind: ConfigMap, current: '{current}' }}
    message: "{{object}} {{state}} ({{count}})."
    remedy: {{ default: Correct it. }}
"""
