import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { HubTransport } from "#hub/cluster/links/hub-transport.ts";
import type { MemberProgress } from "#hub/cluster/membership/member-record.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { type LinksWiring, makeLinks } from "./links.ts";

type Address = MemberProgress["linkAddress"];

/** The addresses that hubs announce, by id, and the bucket that they share. */
interface Shared {
  readonly bucket: MemoryBucket;
  readonly addresses: Map<string, () => Address>;
}

/** NATS that answers everything. */
const nats: HubTransport = {
  request: () => Promise.resolve(Buffer.from("by NATS")),
  serve: () => () => undefined,
};

/** Starts the links of a hub of `nats.servers`. */
async function startHub(t: TestContext, { bucket, addresses }: Shared, id: string, given: object = {}) {
  const settings = { "network.host": "127.0.0.1", "transport.host": "", "transport.port": 0, ...given };
  const record = (hub: string) => ({ state: "live", process: "1", linkAddress: addresses.get(hub)?.() });
  const wiring = {
    settings: { "nats.servers": ["nats://log"], "nats.token": "token", ...settings },
    journal: { core: nats, bucket: () => Promise.resolve(bucket) },
    cluster: {
      identity: { node: id },
      directory: { get: (hub: string) => ({ record: record(hub) }), onChange: () => () => undefined },
      useLinkAddress: (address: () => Address) => void addresses.set(id, address),
    },
    discovered: undefined,
    log: silentLogger(),
    metrics: new Metrics(),
  };
  const { links, part } = await makeLinks(wiring as unknown as LinksWiring);
  links.serve(`hub.${id}.hosts`, () => Promise.resolve(Buffer.from("by a link")));
  await part.start();
  t.after(() => part.stop());
  const ask = async (hub: string): Promise<string> => {
    const options = { timeoutMs: 5_000, repeatable: true };
    return Buffer.from(await links.request(`hub.${hub}.hosts`, Buffer.from(""), options)).toString();
  };
  const untilLinked = async (hub: string): Promise<void> => {
    while ((await ask(hub)) !== "by a link") await new Promise((resolve) => setImmediate(resolve));
  };
  return { ask, untilLinked, address: () => addresses.get(id)?.() };
}

const shared = (): Shared => ({ bucket: new MemoryBucket(), addresses: new Map() });

test("hubs that share a NATS link each other by what they keep there", async (t) => {
  const all = shared();
  const [a, b] = [await startHub(t, all, "a"), await startHub(t, all, "b")];
  await a.untilLinked("b");
  await b.untilLinked("a");
});

test("a hub whose port is taken starts, links others, and is reached by NATS", async (t) => {
  const all = shared();
  const a = await startHub(t, all, "a");
  const b = await startHub(t, all, "b", { "transport.port": a.address()?.port });
  assert.equal(b.address(), undefined);
  await b.untilLinked("a");
  assert.equal(await a.ask("b"), "by NATS");
});

test("a hub starts at an address that a certificate can't hold", async (t) => {
  await startHub(t, shared(), "a", { "transport.host": "fe80::1%none" });
});

test("a hub that announces this one's own address is reached by NATS", async (t) => {
  const all = shared();
  const a = await startHub(t, all, "a");
  all.addresses.set("b", a.address);
  assert.equal(await a.ask("b"), "by NATS");
  assert.equal(await a.ask("b"), "by NATS");
});
