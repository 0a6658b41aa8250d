"""
Any input of an operator or a shell gives a configuration, or an error that states the remedy.
"""

# ruff: noqa: PT017 (either outcome is right, and nothing else is)
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reporter.cli.command_line import run_command
from reporter.cli.configuration import load_shipped_catalogue
from reporter.kube.exec_plugin import (
    _ExecCredential,
    parse_exec_config,
    parse_exec_credential,
)
from reporter.kube.http_proxy import proxy_for
from reporter.kube.rest_config import load_kubeconfig, read_token
from reporter.settings import FLAGS, SettingsError, load_settings
from reporter.settings.errors import ConfigurationError
from tests.fuzz.json_strategies import corrupted, json_of, mutated
from tests.fuzz.odd_values import ODD_STRINGS, SECRET, TIMES, encoded


pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

values = st.one_of(
    st.sampled_from([*ODD_STRINGS, *TIMES, "0", "-1", "1e9", "true", ":8080", "a,b", "²", "٣"]),
    st.sampled_from([flag.default for flag in FLAGS]),
    st.text(max_size=20),
    st.integers().map(str),
).filter(lambda text: "\0" not in text)
flags = st.sampled_from(FLAGS)
arguments = st.lists(
    st.one_of(
        st.builds(lambda flag, value: f"--{flag.name}={value}", flags, values),
        st.builds(lambda flag: f"-{flag.name}", flags),
        values,
    ),
    max_size=4,
)
environments = st.dictionaries(
    flags.map(lambda flag: flag.variable)
    | st.sampled_from(["POD_NAME", "POD_NAMESPACE", "DEPLOYMENT_NAME", "STATUS_REPORTER_EMISION"]),
    values,
    max_size=3,
)


@given(arguments, environments)
def test_any_flags_are_settings_or_refused(given_, environ):
    try:
        found = load_settings(given_, environ, hostname="x", namespace_file=Path("/nowhere"))
    except SettingsError as err:
        assert str(err)
    else:
        assert found.flag_texts.keys() == {flag.name for flag in FLAGS}


@settings(max_examples=settings.default.max_examples // 10)
@given(arguments.map(lambda rest: ["check-config", *rest]), environments)
def test_any_command_line_has_an_exit_code(given_, environ):
    assert run_command(given_, environ) in {0, 2}


OVERLAY = {
    "reasons": {
        "clusterBBRNotReady": {
            "enabled": True,
            "rank": 15,
            "hold": {"lost": "1m", "starting": "grace"},
            "settle": "5m",
            "parameters": {"name-flag": "bbr-deployment"},
        },
        "inferencesetRouteNotReady": {"remedy": {"default": "look."}, "message": "{namespace}"},
    },
    "add": [
        {
            "reason": "clusterMineNotReady",
            "layer": "cluster",
            "type": "Warning",
            "owner": "user",
            "rank": 77,
            "probe": "deployments",
            "parameters": {"namespace-flag": "bbr-namespace", "name-flag": "bbr-deployment"},
            "message": "{object} {state}.",
            "remedy": {"default": "look at it."},
            "suppresses": [{"reason": "clusterReady", "scope": "cluster", "why": "so"}],
        }
    ],
}
ODD_YAML = (
    "a: &a [*a]",
    "&a {x: *a}",
    "? [1, 2]\n: 3",
    "!!python/object/apply:os.system [true]",
    "!!binary x",
    "!!timestamp 9999-99-99",
    "2026-99-99",
    "0x" + "f" * 5_000,
    "1" * 5_000,
    "1:" * 3_000 + "1",
    "- " * 3_000 + "x",
    "[" * 3_000,
    "{a: " * 2_000 + "1" + "}" * 2_000,
    "a: 1\na: 2",
    "<<: {a: 1}",
    "--- 1\n--- 2",
    "\ufeffreasons: {}",
    "reasons: {x: {hold: 99999999999999999999h}}",
    "reasons: {clusterBBRNotReady: {hold: {lost: 99999999999999999999h}}}",
    "reasons: {clusterBBRNotReady: {settle: 999999999h}}",
    "reasons: {clusterBBRNotReady: {rank: 1" + "0" * 400 + "}}",
    "reasons: {clusterBBRNotReady: {message: '{0.__class__} {object!r:>{width}}'}}",
)
plain = mutated(OVERLAY).map(encoded).flatmap(lambda raw: st.just(raw) | corrupted(raw))
overlays = plain | st.sampled_from(ODD_YAML).map(str.encode) | st.binary(max_size=60)


@pytest.mark.parametrize("text", ODD_YAML)
def test_odd_yaml_is_a_catalogue_or_refused(text, tmp_path):
    catalogue_of(tmp_path, text.encode())


@settings(max_examples=settings.default.max_examples // 4)
@given(raw=overlays)
def test_any_overlay_is_a_catalogue_or_refused(raw, tmp_path_factory):
    catalogue_of(tmp_path_factory.getbasetemp(), raw)


def catalogue_of(folder: Path, raw: bytes) -> None:
    file = folder / "overlay.yaml"
    file.write_bytes(raw)
    try:
        catalogue = load_shipped_catalogue(file)
    except SettingsError as err:
        assert str(file) in str(err)
    else:
        assert catalogue.entries


KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "it",
    "clusters": [{"name": "it", "cluster": {"server": "https://10.0.0.1:6443", "proxy-url": ""}}],
    "users": [{"name": "it", "user": {"token": SECRET, "username": "u", "password": SECRET}}],
    "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
}
PLUGIN = {"apiVersion": "client.authentication.k8s.io/v1", "command": "/nowhere/to/be/found"}
SLOW = 4_000
"""Bytes of YAML that a parser takes seconds for."""
configs = mutated(KUBECONFIG).map(encoded).flatmap(lambda raw: st.just(raw) | corrupted(raw))


@pytest.mark.parametrize("text", ODD_YAML)
async def test_odd_yaml_is_no_kubeconfig(text, tmp_path):
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(ConfigurationError):
        await load_kubeconfig(str(file), {})


@settings(max_examples=settings.default.max_examples // 4)
@given(raw=configs.map(lambda raw: raw[:SLOW]) | st.binary(max_size=60))
async def test_any_kubeconfig_is_a_login_or_refused(raw, tmp_path_factory):
    file = tmp_path_factory.getbasetemp() / "config"
    file.write_bytes(raw)
    try:
        login = await load_kubeconfig(str(file), {})
    except ConfigurationError as err:
        assert SECRET not in str(err)
    else:
        assert login.host


@given(mutated(PLUGIN | {"args": ["a"], "env": [{"name": "A", "value": "b"}], "installHint": "x"}))
def test_any_exec_section_is_a_plugin_or_refused(spec):
    spec = yaml.safe_load(encoded(spec)) if is_yaml(encoded(spec)) else PLUGIN
    try:
        plugin = parse_exec_config(spec, folder=Path("/"), cluster={}, environ={})
    except ConfigurationError as err:
        assert str(err)
    else:
        assert plugin.argv


def is_yaml(raw: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(raw), dict)
    except (ValueError, RecursionError):
        return False


@given(json_of(_ExecCredential, names=("ExecCredential", PLUGIN["apiVersion"])))
def test_any_output_of_a_plugin_is_a_credential_or_refused(out):
    plugin = parse_exec_config(PLUGIN, folder=Path("/"), cluster={}, environ={})
    try:
        credential = parse_exec_credential(plugin, out)
    except ConfigurationError as err:
        assert str(err)
    else:
        assert credential.token or credential.client_certificate_data


urls = st.sampled_from(["http", "https", "socks5", ""]).flatmap(
    lambda scheme: values.map(lambda text: f"{scheme}://{text}")
)


@given(urls | values, urls | values, values)
def test_any_proxy_is_one_or_refused(url, proxy, excluded):
    environ = {"HTTPS_PROXY": proxy, "HTTP_PROXY": proxy, "NO_PROXY": excluded}
    try:
        found = proxy_for(url, environ)
    except ConfigurationError as err:
        assert str(err)
    else:
        assert found is None or "://" in found


@given(raw=st.binary(max_size=80))
def test_any_token_file_is_a_token_or_none(raw, tmp_path_factory):
    file = tmp_path_factory.getbasetemp() / "token"
    file.write_bytes(raw)
    token = read_token(file)
    assert token is None or token.isprintable()
