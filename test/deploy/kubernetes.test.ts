import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { Workspace } from "#test/harness/workspace.ts";
import { type Container, type Manifest, manifestFaults, parseManifests } from "./manifests.ts";
import { ROOT, run, text, without } from "./tools.ts";

const FOLDER = "deploy/kubernetes";
const skip = without("kubectl");
const OVERLAYS = readdirSync(join(ROOT, FOLDER, "overlays"));

interface Kustomization {
  readonly resources: readonly string[];
  readonly images: readonly { readonly name: string; readonly newTag: string }[];
}

const kustomization = parse(text(`${FOLDER}/base/kustomization.yaml`)) as Kustomization;
const base = kustomization.resources.map((file) => text(`${FOLDER}/base/${file}`)).join("\n---\n");

test("the base lists all of its files", () => {
  const files = readdirSync(join(ROOT, FOLDER, "base")).filter((file) => file !== "kustomization.yaml");
  assert.deepEqual([...kustomization.resources].sort(), files.sort());
});

test("the base's objects are right", () => {
  assert.deepEqual(manifestFaults(versioned(base)), []);
});

for (const overlay of OVERLAYS) {
  test(`overlay ${overlay} can be built, and its objects are right`, { skip }, () => {
    const { status, stdout, said } = run("kubectl", ["kustomize", join(ROOT, FOLDER, "overlays", overlay)]);
    assert.equal(status, 0, said);
    assert.deepEqual(manifestFaults(parseManifests(stdout)), []);
  });
}

test("of three hubs and three servers of the log each is on a node of its own, and one may be drained", {
  skip,
}, () => {
  const { stdout } = run("kubectl", ["kustomize", join(ROOT, FOLDER, "overlays/three-hubs")]);
  const manifests = parseManifests(stdout);
  for (const name of ["tailrace-hub", "tailrace-log"]) {
    const of = (kind: string): Manifest["spec"] =>
      manifests.find((each) => each.kind === kind && each.metadata.name === name)?.spec;
    const set = of("StatefulSet");
    assert.equal(set?.replicas, 3);
    const [rule] =
      set.template!.spec.affinity!.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    assert.equal(rule?.topologyKey, "kubernetes.io/hostname");
    assert.deepEqual(rule.labelSelector.matchLabels, set.template!.metadata.labels);
    assert.equal(of("PodDisruptionBudget")?.maxUnavailable, 1);
  }
  const hub = manifests.find(
    ({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "tailrace-hub",
  );
  for (const number of [0, 1, 2])
    assert.match(hub!.data!["hub.yml"]!, new RegExp(`tailrace-log-${number}\\.tailrace-log-nodes:4222`));
});

test("all images have the project's version", () => {
  const { version } = JSON.parse(text("package.json")) as { version: string };
  const named = kustomization.images.map(({ name, newTag }) => [name, newTag]);
  assert.deepEqual(
    named,
    ["tailrace-agent", "tailrace-hub", "tailrace-nats"].map((name) => [name, version]),
  );
});

test("the agent runs on every node as specified", () => {
  const set = find("DaemonSet", "tailrace-agent");
  const pod = set.spec!.template!.spec;
  const [agent] = pod.containers;
  assert.equal(agent?.resources.limits?.["memory"], "128Mi");
  assert.deepEqual(agent.args, ["--strict.perms=false"]);
  assert.equal(agent.securityContext["runAsUser"], 0);
  assert.ok(pod.terminationGracePeriodSeconds > 5 + 2, "longer than shutdown_timeout");
  const state = pod.volumes?.find(({ name }) => name === "state");
  assert.ok(state?.hostPath, "its state outlives the pod");
  assert.match(text(`${FOLDER}/base/agent.yaml`), /tolerations:\n\s+- operator: Exists/);
});

test("the hub has its log beside it, its ports, and vm.max_map_count raised before it starts", () => {
  const { initContainers = [], containers } = find("StatefulSet", "tailrace-hub").spec!.template!.spec;
  assert.deepEqual(
    initContainers.map(({ name }) => name),
    ["max-map-count", "nats"],
  );
  assert.equal(initContainers[1]?.restartPolicy, "Always", "a sidecar");
  assert.match(text(`${FOLDER}/base/hub.yaml`), /echo 262144 > \/proc\/sys\/vm\/max_map_count/);
  const ports = (containers[0] as Container).ports?.map(({ containerPort }) => containerPort);
  assert.deepEqual(ports, [9200, 9300, 5601]);
});

test("with labels of pods the agent may read pods and nothing else, and its settings ask for them", {
  skip,
}, (t) => {
  const workspace = new Workspace(t);
  const place = (path: string): string => relative(workspace.folder, join(ROOT, FOLDER, path));
  const overlay = { resources: [place("base")], components: [place("components/pod-labels")] };
  writeFileSync(workspace.path("kustomization.yaml"), JSON.stringify(overlay));
  const { status, stdout, said } = run("kubectl", ["kustomize", workspace.folder]);
  assert.equal(status, 0, said);
  const objects = parseManifests(stdout);
  assert.deepEqual(manifestFaults(objects), []);
  const of = (kind: string): Record<string, unknown> =>
    objects.find((each) => each.kind === kind) as unknown as Record<string, unknown>;
  assert.deepEqual(of("ClusterRole")["rules"], [
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
  ]);
  assert.deepEqual(of("ClusterRoleBinding")["subjects"], [
    { kind: "ServiceAccount", name: "tailrace-agent", namespace: "tailrace" },
  ]);
  const pod = (of("DaemonSet") as unknown as Manifest).spec!.template!.spec;
  const { automountServiceAccountToken: token, containers } = pod as unknown as Record<string, unknown>;
  assert.equal(token, true);
  assert.match(JSON.stringify(containers), /\{"name":"POD_LABELS","value":"true"\}/);
  assert.match(text(`${FOLDER}/base/agent-settings.yaml`), /kubernetes\.api: \$\{POD_LABELS:false\}/);
});

test("a hub can be moved for a drain, and other traffic is refused", () => {
  assert.match(text(`${FOLDER}/base/disruption.yaml`), /maxUnavailable: 1/);
  const deny = find("NetworkPolicy", "tailrace-deny");
  assert.deepEqual(deny.spec, { podSelector: {}, policyTypes: ["Ingress"] });
});

const PLANTED: readonly (readonly [what: string, from: string | RegExp, to: string, fault: RegExp])[] = [
  [
    "an unknown field",
    "readOnlyRootFilesystem",
    "readonlyRootFilesystem",
    /unknown field readonlyRootFilesystem/,
  ],
  ["a wrong type", "replicas: 1", 'replicas: "1"', /StatefulSet tailrace-hub\/spec\/replicas/],
  ["a wrong quantity", "memory: 128Mi", "memory: 128MB", /DaemonSet tailrace-agent\/spec\/template/],
  ["an unknown kind", "kind: DaemonSet", "kind: DeamonSet", /no schema for apps\/v1 DeamonSet/],
  [
    "a missing volume",
    "- name: node-logs\n              mountPath",
    "- name: logs\n              mountPath",
    /no volume logs/,
  ],
  [
    "a service for no pod",
    /(name: tailrace-log\nspec:\n {2}selector:\n {4}app.kubernetes.io\/name: )tailrace-hub/,
    "$1tailrace",
    /Service tailrace-log: its selector meets no pod/,
  ],
  [
    "a service for no port",
    "targetPort: dashboard",
    "targetPort: dashbord",
    /no container has port dashbord/,
  ],
  [
    "a probe of no port",
    "port: status\n            periodSeconds: 15",
    "port: state\n            periodSeconds: 15",
    /readinessProbe asks port state/,
  ],
  [
    "a container that may gain privileges",
    "allowPrivilegeEscalation: false",
    "allowPrivilegeEscalation: true",
    /may gain privileges/,
  ],
  [
    "a missing account",
    "serviceAccountName: tailrace-hub",
    "serviceAccountName: hub",
    /no ServiceAccount hub/,
  ],
  [
    "a set whose selector misses its pods",
    /(matchLabels:\n {6}app.kubernetes.io\/name: )tailrace-agent\n {2}updateStrategy/,
    "$1agent\n  updateStrategy",
    /misses its own pods/,
  ],
];

for (const [what, from, to, fault] of PLANTED) {
  test(`the check finds ${what}`, () => {
    const planted = base.replace(from, to);
    assert.notEqual(planted, base);
    assert.match(manifestFaults(versioned(planted)).join("\n"), fault);
  });
}

/** The base as kustomize would give it, as far as images go. */
function versioned(yaml: string): Manifest[] {
  return parseManifests(yaml.replace(/^( *image: \S+)$/gm, "$1:0.0.0"));
}

function find(kind: string, name: string): Manifest {
  const found = versioned(base).find((each) => each.kind === kind && each.metadata.name === name);
  assert.ok(found, `${kind} ${name}`);
  return found;
}
