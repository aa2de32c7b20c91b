import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { loadSettings } from "#agent/settings/config.ts";
import { authProperties } from "#hub/auth/settings.ts";
import { hubSchema } from "#hub/node/settings/hub-settings.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Type } from "#proto/kit/schema.ts";
import { checkSettings, parseSettings } from "#proto/kit/settings/settings.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { parseManifests } from "./manifests.ts";
import { ROOT, run, text } from "./tools.ts";

const ENV = { HOSTNAME: "node-1", NODE_NAME: "node-1", TAILRACE_NATS_TOKEN: "secret-token" };
const AGENTS = {
  "deploy/examples/agent.yml": text("deploy/examples/agent.yml"),
  "deploy/images/agent.yml": text("deploy/images/agent.yml"),
  "the agent's ConfigMap": inConfigMap("agent-settings.yaml", "agent.yml"),
};
const HUBS = {
  "deploy/examples/hub.yml": text("deploy/examples/hub.yml"),
  "deploy/images/hub.yml": text("deploy/images/hub.yml"),
  "the hub's ConfigMap": inConfigMap("hub-settings.yaml", "hub.yml"),
};
/** What a hub listens with; its own schema has others. */
const HUB_SCHEMA = Type.Object(
  {
    ...authProperties,
    ...hubSchema.properties,
  },
  { additionalProperties: false },
);

for (const [name, settings] of Object.entries(AGENTS)) {
  test(`${name} holds settings that the agent takes`, (t) => {
    const { shutdownTimeoutMs, output } = agentSettings(t, settings);
    assert.deepEqual([shutdownTimeoutMs, output], [5_000, "pipeline"]);
    assert.throws(() => agentSettings(t, `${settings}\nshutdown_timout: 5s\n`), AppError);
  });
}

for (const [name, settings] of Object.entries(HUBS)) {
  test(`${name} holds settings that the hub takes`, () => {
    const checked = hubSettings(settings);
    const open = checked["network.host"] !== "127.0.0.1";
    assert.equal(checked["auth.mode"], open ? "required" : "off", "beyond loopback everybody signs in");
    assert.throws(() => hubSettings(`${settings}\nhttp.prot: 1\n`), AppError);
  });
}

test("a container's hub expects TLS in front of it only where that is configured", () => {
  const name = "deploy/images/hub.yml" as const;
  assert.equal(hubSettings(HUBS[name])["tls.terminated_upstream"], false);
  const upstream = hubSettings(HUBS[name], { ...ENV, TAILRACE_TLS_UPSTREAM: "true" });
  assert.equal(upstream["tls.terminated_upstream"], true);
});

test("preflight reports the settings that a hub would refuse, and accepts the others", () => {
  const preflight = (...args: string[]) => run(join(ROOT, "deploy/preflight"), args);
  const open = preflight("-E", "network.host=0.0.0.0", "-E", "node.store.allow_mmap=false");
  assert.equal(open.status, 1, open.said);
  assert.match(open.stdout, /^preflight: refused: network\.host is 0\.0\.0\.0.*auth\.mode is off/m);
  const loopback = preflight("-E", "node.store.allow_mmap=false");
  assert.equal(loopback.status, 0, loopback.said);
  assert.match(loopback.stdout, /the hub may start here/);
  const wrong = preflight("-E", "http.prot=1");
  assert.equal(wrong.status, 2);
  assert.match(wrong.said, /unknown setting "http\.prot"/);
  assert.match(preflight("--help").stdout, /^Usage: deploy\/preflight/);
});

function inConfigMap(file: string, key: string): string {
  const [map] = parseManifests(text(`deploy/kubernetes/base/${file}`));
  return map?.data?.[key] ?? assert.fail(`${file} has no ${key}`);
}

function agentSettings(t: TestContext, settings: string) {
  const path = new Workspace(t).path("agent.yml");
  writeFileSync(path, settings);
  return loadSettings({ path, overrides: [], env: ENV, strictPermissions: true });
}

function hubSettings(settings: string, env: NodeJS.ProcessEnv = ENV) {
  return checkSettings(HUB_SCHEMA, parseSettings(settings, "hub.yml", HUB_SCHEMA, env));
}
