import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { loadHubSettings } from "#hub/node/settings/hub-settings.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { openDiscovery } from "./discovery.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const SEEDS = "discovery.seed_hosts=[hub-1:9300, hub-2, '[2001:db8::3]:9301']";
const GOOD = [SEEDS, `cluster.secret=${SECRET}`] as const;

/** Opens the discovery of a hub in a new folder, where nats-server is of this version. */
async function open(
  t: TestContext,
  overrides: readonly string[],
  version = "2.10.23",
  folders: string[] = [],
) {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-wiring-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of folders) mkdirSync(join(folder, name), { recursive: true });
  const program = join(folder, "nats-server");
  writeFileSync(program, `#!/bin/sh\necho "nats-server: v${version}"\n`);
  chmodSync(program, 0o755);
  const settings = loadHubSettings({ file: undefined, overrides }, {});
  const env = { TAILRACE_NATS_SERVER: program };
  const found = await openDiscovery({ settings, folder, version: "1.0.0", log: silentLogger(), env });
  return { folder, found };
}

test("the hubs' addresses become routes, and what they share is written for its owner alone", async (t) => {
  const { folder, found } = await open(t, [...GOOD, "nats.route_port=6300", "cluster.name=my logs"]);
  const { member, discovery } = found!;
  // Until the others have answered, their port is taken to be this hub's.
  assert.deepEqual(discovery.routes().slice(0, 3), ["hub-1:6300", "hub-2:6300", "[2001:db8::3]:6300"]);
  assert.equal(member.serverName, "hub-1");
  assert.match(member.clusterName, /^tailrace-[0-9a-f]{16}$/);
  for (const path of [...Object.values(member.tls), join(folder, "vault.keys")])
    assert.equal(statSync(path).mode & 0o777, 0o600, path);
  const second = await open(t, GOOD);
  const keys = (at: string): string => readFileSync(join(at, "vault.keys"), "utf8");
  assert.equal(keys(folder), keys(second.folder));
  assert.equal(member.token, second.found!.member.token);
});

test("without discovery.seed_hosts nothing is opened or written", async (t) => {
  const { folder, found } = await open(t, []);
  assert.equal(found, undefined);
  assert.ok(!existsSync(join(folder, "nats")) && !existsSync(join(folder, "vault.keys")));
});

for (const [name, overrides, code, message, version, folders] of [
  ["both kinds of cluster", [...GOOD, "nats.servers=[nats://log:4222]"], "settings_invalid", /both set/],
  ["one hub", ["discovery.seed_hosts=[hub-1]", GOOD[1]], "settings_invalid", /at least three hubs/],
  [
    "a hub that is named twice",
    ["discovery.seed_hosts=[hub-1:9300, hub-2, hub-1]", GOOD[1]],
    "settings_invalid",
    /hub-1:9300 occurs twice/,
  ],
  ["a short secret", [SEEDS, "cluster.secret=short"], "settings_invalid", /openssl rand -base64 32/],
  ["no secret", [SEEDS], "settings_invalid", /openssl rand -base64 32/],
  ["a name with a blank", [...GOOD, "node.name=my hub"], "settings_invalid", /node\.name is "my hub"/],
  [
    "a user in an address",
    ["discovery.seed_hosts=[me@hub-1, hub-2]", GOOD[1]],
    "settings_invalid",
    /"me@hub-1"/,
  ],
  [
    "a port out of range",
    ["discovery.seed_hosts=[hub-1:99999, hub-2]", GOOD[1]],
    "settings_invalid",
    /host:9300/,
  ],
  [
    "an old nats-server",
    GOOD,
    "nats_refused",
    /2\.10\.22; several servers need 2\.10\.23 or newer/,
    "2.10.22",
  ],
  ["Debian 12's nats-server", GOOD, "nats_refused", /2\.9\.10; several servers need/, "2.9.10"],
  [
    "a cluster's store without the others",
    [],
    "settings_invalid",
    /set it to the hubs/,
    "2.10.23",
    ["nats/cluster"],
  ],
] as const satisfies readonly (readonly [string, readonly string[], string, RegExp, string?, string[]?])[]) {
  test(`${name}: refused, with the remedy`, (t) =>
    assert.rejects(open(t, overrides, version, folders), (error: Error & { code: string }) => {
      assert.equal(error.code, code);
      assert.match(error.message, message);
      assert.ok(!error.message.includes(SECRET));
      return true;
    }));
}
