#!/usr/bin/env python3
"""What `run --launch manifest:k8s` prints: as the golden file, as Kubernetes' documented fields are, and as kubectl reads it.

manifest.py TRAINWIRE [--write]. Fields, types and what must be there are those of the API reference (v1 and batch/v1), for the part that
manifests of ours use: anything else is refused. Where kubectl is installed it reads the Job into its own types, none of whose fields may be lost, and
`apply --dry-run=client` accepts all objects; that asks a server which kinds there are, so one that knows four stands in.
"""
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from cluster_hosts import EXPERIMENT, PROGRAM

try:
    import yaml
except ImportError:
    print("skipped: no YAML for Python (python3-yaml)")
    sys.exit(77)

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden" / "four-k8s.yaml"
TEXTS = {str: str}
META = {"name!": str, "labels": TEXTS}
CONTAINER = {
    "name!": str, "image!": str, "command": [str], "args": [str],
    "env": [{"name!": str, "valueFrom!": {"secretKeyRef!": {"name!": str, "key!": str}}}],
    "securityContext": {"capabilities": {"add": [str], "drop": [str]}},
    "volumeMounts": [{"name!": str, "mountPath!": str}]}
POD = {
    "containers!": [CONTAINER], "restartPolicy!": ("Never", "OnFailure"), "subdomain": str,
    "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector!": {"matchLabels!": TEXTS}, "topologyKey!": str}]}},
    "volumes": [{"name!": str, "configMap!": {"name!": str}}]}
KINDS = {
    "Secret": {"apiVersion!": ("v1",), "kind!": str, "metadata!": META, "stringData": TEXTS},
    "ConfigMap": {"apiVersion!": ("v1",), "kind!": str, "metadata!": META, "data": TEXTS},
    "Service": {"apiVersion!": ("v1",), "kind!": str, "metadata!": META,
                "spec!": {"clusterIP!": ("None",), "publishNotReadyAddresses": bool, "selector!": TEXTS}},
    "Job": {"apiVersion!": ("batch/v1",), "kind!": str, "metadata!": META,
            "spec!": {"completionMode": ("Indexed",), "completions!": int, "parallelism": int, "backoffLimit": int,
                      "template!": {"metadata": {"labels": TEXTS}, "spec!": POD}}}}


def fits(value, schema, where):
    if isinstance(schema, tuple):
        assert value in schema, (where, value)
    elif isinstance(schema, list):
        assert isinstance(value, list), where
        for i, one in enumerate(value):
            fits(one, schema[0], f"{where}[{i}]")
    elif isinstance(schema, dict) and str in schema:
        assert isinstance(value, dict), where
        for key, one in value.items():
            assert isinstance(key, str) and isinstance(one, schema[str]), (where, key, one)
    elif isinstance(schema, dict):
        assert isinstance(value, dict), where
        known = {key.rstrip("!"): one for key, one in schema.items()}
        assert value.keys() <= known.keys(), (where, "unknown", value.keys() - known.keys())
        assert all(key[:-1] in value for key in schema if key.endswith("!")), (where, "missing")
        for key, one in value.items():
            fits(one, known[key], f"{where}.{key}")
    else:
        assert type(value) is schema, (where, value)


class Strict(yaml.SafeLoader):
    """A key that stands twice is refused."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key) for key, _ in node.value]
        assert len(keys) == len(set(keys)), keys
        return super().construct_mapping(node, deep)


def manifest_of(name, hosts, *more):
    experiment = EXPERIMENT.replace('"four"', json.dumps(name)).replace("hosts = 4", f"hosts = {hosts}").replace("ranks = 4", f"ranks = {hosts}")
    done = subprocess.run([PROGRAM, "run", "-", "--launch", "manifest:k8s", "--image", "registry/trainwire:1", *more], input=experiment,
                          capture_output=True, text=True, timeout=60, env=dict(os.environ, TRAINWIRE_TOKEN="00112233445566778899aabbccddeeff"))
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(text, hosts):
    objects = list(yaml.load_all(text, Strict))
    assert [one["kind"] for one in objects] == ["Secret", "ConfigMap", "Service", "Job"]
    for one in objects:
        fits(one, KINDS[one["kind"]], one["kind"])
        # DNS-1035, which Services ask for; a pod's name adds its number and five letters to the Job's, of 63.
        assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", one["metadata"]["name"]) and len(one["metadata"]["name"]) <= 52
    secret, files, service, job = objects
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    container = pod["containers"][0]
    name = job["metadata"]["name"]
    assert spec["completions"] == spec["parallelism"] == hosts
    # What one object says of another is true.
    assert pod["subdomain"] == service["metadata"]["name"] and service["spec"]["selector"] == {"job-name": name}
    assert f"--join {name}-0.{pod['subdomain']}:" in container["args"][0]
    reference = container["env"][0]["valueFrom"]["secretKeyRef"]
    assert reference["name"] == secret["metadata"]["name"] and reference["key"] in secret["stringData"]
    assert pod["volumes"][0]["configMap"]["name"] == files["metadata"]["name"]
    assert container["volumeMounts"][0]["name"] == pod["volumes"][0]["name"]
    assert f"{container['volumeMounts'][0]['mountPath']}/{next(iter(files['data']))} " in container["args"][0]
    apart = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
    assert apart["labelSelector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    # The script is one, and the experiment in it is the one that was asked for.
    subprocess.run(["sh", "-n", "-c", container["args"][0]], check=True)
    shown = subprocess.run([PROGRAM, "show", "-"], input=files["data"]["experiment.toml"], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    return objects


class Kinds(http.server.BaseHTTPRequestHandler):
    """A server of Kubernetes' that knows which kinds there are, and has none of them."""

    LISTS = {
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
            {"name": "batch", "versions": [{"groupVersion": "batch/v1", "version": "v1"}],
             "preferredVersion": {"groupVersion": "batch/v1", "version": "v1"}}]},
        "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
            {"name": name, "singularName": "", "namespaced": True, "kind": kind, "verbs": ["get", "create", "patch"]}
            for name, kind in (("secrets", "Secret"), ("configmaps", "ConfigMap"), ("services", "Service"))]},
        "/apis/batch/v1": {"kind": "APIResourceList", "groupVersion": "batch/v1", "resources": [
            {"name": "jobs", "singularName": "", "namespaced": True, "kind": "Job", "verbs": ["get", "create", "patch"]}]}}

    def do_GET(self):
        found = self.LISTS.get(self.path.split("?")[0])
        text = json.dumps(found or {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def lost(given, kept, where=""):
    """Fields that are not in what was read of them."""
    if isinstance(given, dict):
        return [path for key, one in given.items() for path in
                (lost(one, kept[key], f"{where}.{key}") if isinstance(kept, dict) and key in kept else [f"{where}.{key}"])]
    if isinstance(given, list):
        return [path for i, one in enumerate(given) for path in lost(one, kept[i], f"{where}[{i}]")]
    return [] if given == kept else [where]


def by_kubectl(text, objects):
    if not shutil.which("kubectl"):
        return print("no kubectl: the documented fields alone were checked")
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, HOME=folder, KUBECONFIG="/dev/null")

        def kubectl(*words, given):
            return subprocess.run(["kubectl", *words, "-f", "-"], input=given, capture_output=True, text=True, timeout=60, env=environment)

        # It prints what it has changed, as it has read it: all but the image is to be there; a field that it does not know is not.
        job = yaml.safe_dump(objects[3])
        for text_of_job, expected in ((job, [".spec.template.spec.containers[0].image"]),
                                      (job.replace("subdomain", "subdomian"), [".spec.template.spec.containers[0].image", ".spec.template.spec.subdomian"])):
            read = kubectl("set", "image", "--local", "host=another", "-o", "json", given=text_of_job)
            assert read.returncode == 0, read.stderr
            missing = lost(yaml.safe_load(text_of_job), json.loads(read.stdout))
            assert missing == expected, missing
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Kinds)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        told = kubectl("apply", "--dry-run=client", "--validate=false", f"--server=http://127.0.0.1:{server.server_port}", given=text)
        server.shutdown()
        assert told.returncode == 0 and told.stdout.count("created (dry run)") == 4, (told.stderr, told.stdout)
    print("kubectl reads the Job without loss, and applies four objects (dry run)")


def main():
    text = manifest_of("four", 4)
    if "--write" in sys.argv:
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text(), "the manifest is another: look at it, then manifest.py TRAINWIRE --write"
    objects = check(text, 4)
    for name, hosts in (("On", 4), ("4 hosts!", 4), ("x" * 90, 8), ("a: b # \"c\"", 4), ("", 4)):
        check(manifest_of(name, hosts), hosts)
    shaped = check(manifest_of("four", 4, "--shape"), 4)[3]["spec"]["template"]["spec"]["containers"][0]
    assert "NET_ADMIN" in shaped["securityContext"]["capabilities"]["add"] and " --shape " in shaped["args"][0]
    by_kubectl(text, objects)
    return 0


sys.exit(main())
