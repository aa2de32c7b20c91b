import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { freePorts } from "#test/harness/free-ports.ts";
import { randomCredentials } from "./cluster-credentials.ts";
import { Discovery, type DiscoveryOptions } from "./discovery.ts";
import { CLUSTER_STORE, OWN_STORE, readFormation, writeFormation } from "./formation-file.ts";
import { callHub } from "./hello-call.ts";

const credentials = randomCredentials("0123456789abcdef0123456789abcdef");
const certificate = credentials.issue(["127.0.0.1"]);

interface Trio {
  readonly folders: readonly string[];
  readonly ports: readonly number[];
  /** Makes the hub at this index, listening. */
  readonly open: (at: number, given?: Partial<DiscoveryOptions>) => Promise<Discovery>;
}

async function makeTrio(t: TestContext): Promise<Trio> {
  const base = mkdtempSync(join(tmpdir(), "tailrace-discovery-"));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const ports = await freePorts(3);
  const folders = ports.map((_, at) => join(base, `hub-${at}`));
  const open = async (at: number, given: Partial<DiscoveryOptions> = {}): Promise<Discovery> => {
    const discovery = new Discovery({
      seeds: ports.map((port) => ({ host: "127.0.0.1", port })),
      host: "127.0.0.1",
      port: ports[at]!,
      routePort: 7_000 + at,
      node: `hub-${at}`,
      cluster: "tailrace",
      id: () => "",
      grows: "",
      release: "1.0.0",
      certificate,
      folder: folders[at]!,
      clock: systemClock,
      log: silentLogger(),
      ...given,
    });
    await discovery.start();
    t.after(() => discovery.stop());
    return discovery;
  };
  return { folders, ports, open };
}

const ROUTES = ["127.0.0.1:7000", "127.0.0.1:7001", "127.0.0.1:7002"];

test("three hubs without a store find each other, and learn the ports of their routes", async (t) => {
  const { folders, open } = await makeTrio(t);
  const hubs = [await open(0), await open(1), await open(2)];
  await Promise.all(hubs.map((hub) => hub.untilFormed()));
  for (const hub of hubs) assert.deepEqual([hub.routes(), hub.size], [ROUTES, 3]);
  assert.equal(readFormation(folders[0]!).store, "founding");
  hubs[0]!.formed(() => undefined);
  mkdirSync(join(folders[0]!, CLUSTER_STORE), { recursive: true });
  assert.equal(readFormation(folders[0]!).store, "formed");
});

test("a hub that has a store starts alone, and knows the routes from before", async (t) => {
  const { folders, ports, open } = await makeTrio(t);
  mkdirSync(join(folders[0]!, CLUSTER_STORE), { recursive: true });
  const routePorts = { [`127.0.0.1:${ports[1]}`]: 7_001, [`127.0.0.1:${ports[2]}`]: 7_002 };
  writeFormation(folders[0]!, { store: "formed", routePorts, grows: "" });
  const hub = await open(0);
  await hub.untilFormed();
  assert.deepEqual(hub.routes(), ROUTES);
});

test("a hub whose store is gone joins the others once the store works on both", async (t) => {
  const { folders, open } = await makeTrio(t);
  for (const at of [0, 1]) mkdirSync(join(folders[at]!, CLUSTER_STORE), { recursive: true });
  writeFormation(folders[2]!, { store: "formed", routePorts: {}, grows: "" });
  const hub = await open(2);
  let joined = false;
  const joining = hub.untilFormed().then(() => (joined = true));
  let questions = 0;
  const askedAgain = Promise.withResolvers<void>();
  const id = (): string => {
    if (++questions === 2) askedAgain.resolve();
    return "";
  };
  (await open(0)).formed(() => undefined);
  const second = await open(1, { id });
  await askedAgain.promise;
  assert.equal(joined, false, "the server of the second one doesn't run yet");
  second.formed(() => undefined);
  await joining;
  assert.ok(joined);
});

test("the data of a single hub is awaited by all that found the store with it, also after they were killed", async (t) => {
  const { folders, open } = await makeTrio(t);
  const own = join(folders[0]!, OWN_STORE);
  mkdirSync(own, { recursive: true });
  const hubs = [await open(0, { grows: "uuid" }), await open(1), await open(2)];
  await Promise.all(hubs.map((hub) => hub.untilFormed()));
  for (const hub of hubs) assert.equal(hub.isGrowing, true);
  await hubs[1]!.stop();
  const again = await open(1);
  await again.untilFormed();
  assert.equal(again.isGrowing, true);
  for (const [at, hub] of [hubs[0]!, again, hubs[2]!].entries()) {
    assert.equal(existsSync(own), at === 0);
    mkdirSync(join(folders[at]!, CLUSTER_STORE), { recursive: true });
    hub.formed(() => undefined);
    assert.equal(hub.isGrowing, false);
    assert.equal(existsSync(own), false, "its content is in the store of all");
  }
});

test("a single hub with data doesn't start beside a cluster, which goes on", async (t) => {
  const { folders, open } = await makeTrio(t);
  for (const at of [1, 2]) {
    mkdirSync(join(folders[at]!, CLUSTER_STORE), { recursive: true });
    await (await open(at)).untilFormed();
  }
  const hub = await open(0, { grows: "uuid" });
  await assert.rejects(hub.untilFormed(), { code: "settings_invalid", message: /can't be merged/ });
});

test("two single hubs with data don't start beside each other", async (t) => {
  const { open } = await makeTrio(t);
  const hubs = [await open(0, { grows: "one" }), await open(1, { grows: "two" })];
  for (const hub of hubs)
    await assert.rejects(hub.untilFormed(), { code: "settings_invalid", message: /only one's can become/ });
});

test("a hub that is stopped waits no longer for the others", async (t) => {
  const { open } = await makeTrio(t);
  const hub = await open(0);
  const stopping = new AbortController();
  const waiting = hub.untilFormed(stopping.signal);
  stopping.abort(new AppError("cancelled", "stopped"));
  await assert.rejects(waiting, { code: "cancelled" });
});

test("a round that fails is repeated, and the change of a port is told afterwards", async (t) => {
  const { folders, ports, open } = await makeTrio(t);
  mkdirSync(join(folders[0]!, CLUSTER_STORE), { recursive: true });
  writeFormation(folders[0]!, {
    store: "formed",
    grows: "",
    routePorts: { [`127.0.0.1:${ports[1]}`]: 7_009 },
  });
  const clock: Clock = { ...systemClock, sleep: (_, signal) => systemClock.sleep(10, signal) };
  const hub = await open(0, { clock });
  await open(1);
  let calls = 0;
  const told = Promise.withResolvers<void>();
  hub.formed(() => {
    if (++calls < 3) throw new Error("the disk is full");
    told.resolve();
  });
  await told.promise;
  assert.deepEqual(hub.routes().slice(0, 2), ROUTES.slice(0, 2));
});

test("a hub that can't say what it is ends the connection and goes on", async (t) => {
  const { ports, open } = await makeTrio(t);
  let fails = true;
  const id = (): string => {
    if (fails) throw new Error("cluster.json can't be read");
    return "uuid";
  };
  await open(0, { id });
  const call = () =>
    callHub({ host: "127.0.0.1", port: ports[0]! }, certificate, AbortSignal.timeout(30_000));
  assert.equal((await call()).kind, "away");
  fails = false;
  assert.equal((await call()).kind, "hub");
});

for (const [name, given, message] of [
  ["another cluster.name", { cluster: "other" }, /set the same cluster\.name/],
  ["the same node.name", { node: "hub-0" }, /node\.name/],
  [
    "another cluster.secret",
    { certificate: randomCredentials("another secret, of 32 characters").issue(["127.0.0.1"]) },
    /another cluster\.secret .*: set the same one/,
  ],
] as const) {
  test(`a hub doesn't start beside one with ${name}`, async (t) => {
    const { open } = await makeTrio(t);
    await open(0);
    const hub = await open(1, given);
    await assert.rejects(hub.untilFormed(), { code: "settings_invalid", message });
  });
}

test("two addresses of one hub are refused", async (t) => {
  const { ports, open } = await makeTrio(t);
  await open(0);
  const seeds = [ports[0]!, ports[1]!].map((port) => ({ host: "127.0.0.1", port }));
  const hub = await open(1, { seeds: [...seeds, { host: "localhost", port: ports[0]! }] });
  await assert.rejects(hub.untilFormed(), { code: "settings_invalid", message: /are the same hub/ });
});

test("two hubs are too few", async (t) => {
  const { ports, open } = await makeTrio(t);
  const hub = await open(1, { seeds: ports.slice(0, 2).map((port) => ({ host: "127.0.0.1", port })) });
  await assert.rejects(hub.untilFormed(), { code: "settings_invalid", message: /at least 3/ });
});

test("a port that is taken is named with the remedy", async (t) => {
  const { open } = await makeTrio(t);
  await open(0);
  await assert.rejects(open(0), { code: "port_taken", message: /set transport\.port to a free port/ });
});
