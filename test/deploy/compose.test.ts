import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";
import { loadHubSettings } from "#hub/node/settings/hub-settings.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { ROOT, run, text, without } from "./tools.ts";

interface Service {
  readonly image: string;
  readonly user?: string;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly read_only?: boolean;
  readonly networks?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly ports?: readonly (string | { readonly target: number })[];
  readonly volumes?: readonly (string | Readonly<Record<string, unknown>>)[];
  readonly deploy?: {
    readonly mode?: string;
    readonly resources?: { readonly limits?: { readonly memory?: string } };
  };
}

interface Composition {
  readonly services: Readonly<Record<string, Service>>;
}

const FILES = ["compose.yaml", "stack.yaml"] as const;
const skip = without("docker-compose");
const TOKEN = { TAILRACE_NATS_TOKEN: "secret-token", TAILRACE_AGENT_TOKEN: "other-token" };

for (const file of FILES) {
  test(`${file} is accepted by the composition tool`, { skip }, (t) => {
    const { status, said } = config(t, file);
    assert.equal(status, 0, said);
  });

  const planted = [
    ["an unknown key", "mode: global", "mod: global"],
    ["a wrong type", "user: root", "user: [root]"],
    ["a volume that isn't there", "agent-state:/var", "agents-state:/var"],
  ] as const;
  for (const [what, from, to] of planted) {
    test(`the check finds ${what} in ${file}`, { skip }, (t) => {
      assert.notEqual(config(t, file, (composition) => composition.replace(new RegExp(from), to)).status, 0);
    });
  }

  test(`${file} refuses to start without one of the tokens`, { skip }, (t) => {
    for (const name of Object.keys(TOKEN)) {
      const { status, said } = config(t, file, undefined, { ...TOKEN, [name]: "" });
      assert.notEqual(status, 0);
      assert.match(said, new RegExp(`${name}.*set it`, "s"));
    }
  });

  test(`agents of ${file} have the agents' token only`, { skip }, (t) => {
    const { stdout } = config(t, file);
    const { agent, hub } = (parse(stdout) as Composition).services;
    const { TAILRACE_NATS_TOKEN: token, TAILRACE_NATS_USER: user } = agent?.environment ?? {};
    assert.deepEqual([user, token], ["agent", TOKEN.TAILRACE_AGENT_TOKEN]);
    assert.equal(hub?.environment?.["TAILRACE_NATS_TOKEN"], TOKEN.TAILRACE_NATS_TOKEN);
  });

  test(`one variable names the version of all images of ${file}`, { skip }, (t) => {
    const { stdout } = config(t, file, undefined, { ...TOKEN, TAILRACE_VERSION: "9.8.7" });
    const images = Object.values((parse(stdout) as Composition).services).map(({ image }) => image);
    assert.ok(images.length >= 4);
    for (const image of images) assert.match(image, /^tailrace-[a-z-]+:9\.8\.7$/);
  });

  test(`no service of ${file} has more rights than it needs`, () => {
    const { services } = parse(text(`deploy/compose/${file}`)) as Composition;
    for (const [name, { cap_drop: dropped, cap_add: added, read_only: fixed, networks }] of Object.entries(
      services,
    )) {
      assert.deepEqual(dropped, ["ALL"], name);
      assert.deepEqual(added, name === "agent" ? ["DAC_READ_SEARCH"] : undefined, name);
      assert.equal(fixed, true, name);
      assert.deepEqual(networks, name === "app" ? undefined : ["log"], name);
    }
  });

  test(`${file} has the values of the specification`, () => {
    const { app, agent } = (parse(text(`deploy/compose/${file}`)) as Composition).services;
    assert.ok(app !== undefined && agent !== undefined);
    assert.ok(app.ports?.includes("3001:3001"), "the application listens on 3001");
    assert.equal(agent.user, "root");
    assert.deepEqual(agent.command, ["--strict.perms=false"]);
    assert.equal(agent.deploy?.mode, "global");
    assert.equal(agent.deploy.resources?.limits?.memory, "128M");
    assert.equal(app.deploy?.resources?.limits?.memory, "512M");
    assert.equal(logDirectory(app), logDirectory(agent), "application and agent share a log directory");
  });
}

const TRIO = "three-hubs.yaml";
const SECRET = { TAILRACE_CLUSTER_SECRET: "0123456789abcdef0123456789abcdef" };

test(`${TRIO} is accepted by the composition tool, but not without the secret`, { skip }, (t) => {
  const { status, said } = config(t, TRIO, undefined, SECRET);
  assert.equal(status, 0, said);
  const without = config(t, TRIO, undefined, {});
  assert.notEqual(without.status, 0);
  assert.match(without.said, /TAILRACE_CLUSTER_SECRET.*set it/s);
  assert.notEqual(config(t, TRIO, (composition) => composition.replace("hub-2: {}", ""), SECRET).status, 0);
});

test(`the hubs of ${TRIO} are those that their settings name`, () => {
  const { services } = parse(text(`deploy/compose/${TRIO}`), { merge: true }) as Composition;
  const names = Object.keys(services);
  assert.equal(names.length, 3);
  for (const [name, service] of Object.entries(services)) {
    assert.equal(service.environment?.["TAILRACE_NODE_NAME"], name);
    assert.deepEqual([service.cap_drop, service.cap_add, service.read_only], [["ALL"], undefined, true]);
    assert.ok(service.volumes?.includes(`${name}:/var/lib/tailrace-hub`), "a volume of its own");
  }
  const env = { ...SECRET, TAILRACE_NODE_NAME: "hub-1", TAILRACE_PUBLIC_URL: "http://127.0.0.1:5601" };
  const file = join(ROOT, "deploy/compose/hub-of-three.yml");
  const settings = loadHubSettings({ file, overrides: [] }, env);
  assert.deepEqual(
    settings["discovery.seed_hosts"],
    names.map((name) => `${name}:9300`),
  );
  assert.deepEqual(
    settings["nats.advertise"],
    names.map((name) => `nats://${name}:4222`),
  );
});

test("the version in the examples is the project's", () => {
  const { version } = JSON.parse(text("package.json")) as { version: string };
  assert.match(text("deploy/compose/.env.example"), new RegExp(`^TAILRACE_VERSION=${version}$`, "m"));
  for (const file of [...FILES, TRIO]) {
    const defaults = [...text(`deploy/compose/${file}`).matchAll(/TAILRACE_VERSION:-([^}]*)/g)];
    for (const [, fallback] of defaults) assert.equal(fallback, version, file);
  }
});

/** What is mounted at /logs. */
function logDirectory(service: Service): string {
  for (const volume of service.volumes ?? []) {
    if (typeof volume === "string") {
      const [source = "", target] = volume.split(":");
      if (target === "/logs") return source;
    } else if (volume["target"] === "/logs") return String(volume["source"]);
  }
  return assert.fail("no volume at /logs");
}

function config(
  t: TestContext,
  file: string,
  change = (composition: string): string => composition,
  env: NodeJS.ProcessEnv = TOKEN,
) {
  const workspace = new Workspace(t);
  const folder = join(workspace.folder, "deploy/compose");
  cpSync(join(ROOT, "deploy/compose"), folder, { recursive: true });
  const original = text(`deploy/compose/${file}`);
  const changed = change(original);
  writeFileSync(join(folder, file), changed);
  const { PATH, HOME } = process.env;
  return run("docker-compose", ["-f", file, "config"], { cwd: folder, env: { PATH, HOME, ...env } });
}
