import pytest
import yaml

from reporter.kube.kubeconfig import load_current_context
from reporter.kube.rest_config import choose_kubeconfig
from reporter.settings.errors import ConfigurationError


def a_kubeconfig(path, *, user, cluster=None, **more):
    content = {
        "clusters": [{"name": "c", "cluster": cluster or {"server": "https://api:6443"}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(yaml.safe_dump(content | more))
    return str(path)


def test_names_of_files_are_resolved_against_the_kubeconfig(tmp_path):
    cluster = {"server": "https://api", "certificate-authority": "pki/ca.crt"}
    user = {"client-certificate": "/abs/tls.crt", "tokenFile": "token"}
    context = load_current_context(a_kubeconfig(tmp_path / "config", user=user, cluster=cluster))
    assert context.cluster["certificate-authority"] == str(tmp_path / "pki/ca.crt")
    assert context.user["client-certificate"] == "/abs/tls.crt"
    assert context.user["tokenFile"] == str(tmp_path / "token")


def test_several_files_are_merged(tmp_path):
    (tmp_path / "b").mkdir()
    first = tmp_path / "a"
    first.write_text("current-context: x\n")
    second = a_kubeconfig(tmp_path / "b" / "config", user={"token": "t"})
    context = load_current_context(f"{first}:{second}")
    assert context.user["token"] == "t"
    assert context.folder == tmp_path / "b"


@pytest.mark.parametrize("user", [None, {}])
def test_a_user_without_content_is_anonymous(tmp_path, user):
    assert load_current_context(a_kubeconfig(tmp_path / "config", user=user)).user == {}


def test_a_user_without_an_entry_is_anonymous(tmp_path):
    path = a_kubeconfig(tmp_path / "config", user={}, users=[])
    assert load_current_context(path).user == {}


@pytest.mark.parametrize(
    "user",
    [
        {"as": "admin"},
        {"as-groups": ["system:masters"]},
        {"as-uid": "1"},
        {"as-user-extra": {"a": ["b"]}},
    ],
)
def test_impersonation_is_refused_instead_of_ignored(tmp_path, user):
    path = a_kubeconfig(tmp_path / "config", user=user | {"token": "t"})
    with pytest.raises(ConfigurationError, match="user u impersonates"):
        load_current_context(path)


def test_a_removed_auth_provider_is_refused(tmp_path):
    path = a_kubeconfig(tmp_path / "config", user={"auth-provider": {"name": "gcp"}})
    with pytest.raises(ConfigurationError, match="use an exec section"):
        load_current_context(path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not a kubeconfig"),
        ("[]", "not a kubeconfig"),
        ("a: [", "kubeconfig .*: "),
        ("current-context: gone\nclusters: []\nusers: []\ncontexts: []\n", "gone"),
        ("clusters: []\nusers: []\ncontexts: []\n", "current-context"),
    ],
)
def test_a_broken_kubeconfig_is_named(tmp_path, text, complaint):
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        load_current_context(str(path))
    assert str(path) in str(caught.value)


def test_a_missing_kubeconfig_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="there is no such file"):
        load_current_context(str(tmp_path / "nothing"))


def test_the_kubeconfig_named_by_hand_comes_first(tmp_path):
    environ = {"KUBECONFIG": "b", "KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    assert choose_kubeconfig("a", environ, tmp_path) == "a"
    assert choose_kubeconfig(None, environ, tmp_path) == "b"
    assert choose_kubeconfig(None, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, tmp_path) is None


def test_the_users_own_kubeconfig_comes_last(tmp_path):
    with pytest.raises(ConfigurationError, match="set --kubeconfig or KUBECONFIG"):
        choose_kubeconfig(None, {}, tmp_path)
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").touch()
    assert choose_kubeconfig(None, {}, tmp_path) == str(tmp_path / ".kube" / "config")


def test_of_several_current_contexts_the_first_one_is_taken(tmp_path):
    first = tmp_path / "a"
    first.write_text("current-context: y\n")
    contexts = [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in ("x", "y")]
    second = a_kubeconfig(tmp_path / "b", user={}, contexts=contexts)
    assert load_current_context(f"{first}:{second}").name == "y"


def test_of_several_parts_with_one_name_the_first_one_is_taken(tmp_path):
    first = a_kubeconfig(tmp_path / "a", user={"token": "first"})
    second = a_kubeconfig(tmp_path / "b", user={"token": "second"})
    assert load_current_context(f"{first}:{second}").user["token"] == "first"


def test_a_context_whose_cluster_is_not_there_is_named(tmp_path):
    path = a_kubeconfig(tmp_path / "config", user={}, clusters=[])
    with pytest.raises(ConfigurationError, match="it has no cluster c; there is none"):
        load_current_context(path)


def test_what_is_no_yaml_is_not_quoted(tmp_path):
    path = tmp_path / "config"
    path.write_text("users: [\n  {token: s3cret, : }, ]]")
    with pytest.raises(ConfigurationError, match="it is no YAML in line 2") as caught:
        load_current_context(str(path))
    assert "s3cret" not in str(caught.value)


def test_a_kubeconfig_with_very_many_levels_is_refused(tmp_path):
    path = tmp_path / "config"
    path.write_text("[" * 100_000)
    with pytest.raises(ConfigurationError, match="nested deeper"):
        load_current_context(str(path))
