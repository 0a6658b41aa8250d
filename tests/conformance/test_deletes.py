"""Delete objects, collections and namespaces; finalizers and grace periods."""


async def test_deleting_answers_with_a_status_that_names_what_is_gone(api):
    created = await api.config_map("c1")
    answer = await api.delete(api.with_path("configmaps", "c1"))
    assert answer.status == 200
    assert answer.json == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "c1", "kind": "configmaps", "uid": created.json["metadata"]["uid"]},
    }
    again = await api.delete(api.with_path("configmaps", "c1"))
    assert (again.status, again.message) == (404, 'configmaps "c1" not found')


async def test_a_finalizer_keeps_an_object_until_it_is_taken_away(api):
    body = {"metadata": {"name": "c1", "finalizers": ["example.test/keep"]}}
    await api.create(api.with_path("configmaps"), body)
    path = api.with_path("configmaps", "c1")
    marked = await api.delete(path)
    assert marked.status == 200
    assert marked.json["metadata"]["deletionTimestamp"]
    assert marked.json["metadata"]["deletionGracePeriodSeconds"] == 0
    assert (await api.get(path)).status == 200
    last = await api.patch(path, {"metadata": {"finalizers": None}})
    assert last.status == 200
    assert (await api.get(path)).status == 404


async def test_a_collection_is_deleted_by_its_labels(api):
    for name, value in (("a", "1"), ("b", "1"), ("c", "2")):
        await api.config_map(name, n=value)
    answer = await api.delete(api.with_path("configmaps") + "?labelSelector=n=1")
    assert (answer.status, answer.json["kind"], answer.names) == (200, "ConfigMapList", ["a", "b"])
    left = await api.get(api.with_path("configmaps") + "?labelSelector=n")
    assert left.names == ["c"]


async def test_a_pod_on_a_node_is_given_time_to_stop_and_one_without_is_not(api):
    await api.until(
        api.with_path("serviceaccounts", "default"),
        lambda a: api.kind == "devcluster" or a.status == 200,
    )
    for name, node in (("running", {"nodeName": "n1"}), ("waiting", {})):
        spec = {"containers": [{"name": "c", "image": "i"}], **node}
        created = await api.create(
            api.with_path("pods"), {"metadata": {"name": name}, "spec": spec}
        )
        assert created.json["status"]["phase"] == "Pending"
    waiting = await api.delete(api.with_path("pods", "waiting"))
    running = await api.delete(api.with_path("pods", "running"))
    assert waiting.json["kind"] == running.json["kind"] == "Pod"
    assert running.json["metadata"]["deletionGracePeriodSeconds"] == 30
    assert (await api.get(api.with_path("pods", "waiting"))).status == 404
    assert (await api.get(api.with_path("pods", "running"))).status == 200
    await api.delete(api.with_path("pods", "running") + "?gracePeriodSeconds=0")
    assert (await api.get(api.with_path("pods", "running"))).status == 404


async def test_a_namespace_goes_with_all_that_is_in_it(api):
    name = f"{api.namespace}-b"
    created = await api.create("/api/v1/namespaces", {"metadata": {"name": name}})
    assert created.json["metadata"]["labels"] == {"kubernetes.io/metadata.name": name}
    assert created.json["status"] == {"phase": "Active"}
    inside = f"/api/v1/namespaces/{name}/configmaps"
    kept = {"metadata": {"name": "kept", "finalizers": ["example.test/keep"]}}
    await api.create(inside, kept)
    await api.create(inside, {"metadata": {"name": "c1"}})
    answer = await api.delete(f"/api/v1/namespaces/{name}")
    assert answer.json["status"]["phase"] == "Terminating"
    refused = await api.create(inside, {"metadata": {"name": "c2"}})
    assert (refused.status, refused.json["reason"]) == (403, "Forbidden")
    assert refused.json["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    assert refused.message == (
        f'configmaps "c2" is forbidden: unable to create new content in namespace {name} '
        "because it is being terminated"
    )
    await api.until(f"{inside}/c1", lambda a: a.status == 404)
    await api.patch(f"{inside}/kept", {"metadata": {"finalizers": None}})
    await api.until(f"/api/v1/namespaces/{name}", lambda a: a.status == 404)
