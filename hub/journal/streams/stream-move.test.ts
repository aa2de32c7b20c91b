import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type JetStreamManager, jetstream, jetstreamManager, type PubAck } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { headers, nanos } from "@nats-io/transport-node";
import { Connection } from "#hub/journal/connection/connection.ts";
import { EmbeddedServer, ownTarget } from "#hub/journal/server/embedded-server.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import { clusteredNats, NO_CLUSTERED_NATS } from "#test/harness/clustered-nats.ts";
import { until } from "#test/harness/until.ts";
import { finishMove, isMoved, moveStreams, untilMoved } from "./stream-move.ts";

const program = clusteredNats();
const options = { skip: program === undefined && NO_CLUSTERED_NATS };
/** Shortest that nats-server allows. */
const DUPLICATES_MS = 100;
const USUAL_DUPLICATES_MS = 600_000;

interface Stores {
  readonly from: Connection;
  readonly to: Connection;
}

/** Starts the nats-servers of two stores; the second one is of a version that may be one of a cluster. */
async function openStores(t: TestContext): Promise<Stores> {
  const root = mkdtempSync(join(tmpdir(), "tailrace-move-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const open = async (name: string, env: NodeJS.ProcessEnv): Promise<Connection> => {
    const place = { dataDir: join(root, name), host: "127.0.0.1", port: 0 };
    const server = new EmbeddedServer({ ...place, log: silentLogger(), env });
    await server.start();
    const target = (): ReturnType<typeof ownTarget> => ownTarget(server, undefined);
    const connection = new Connection({ name, log: silentLogger(), target });
    await connection.start();
    t.after(async () => {
      await connection.stop();
      await server.stop();
    });
    return connection;
  };
  const [from, to] = [await open("from", process.env), await open("to", { TAILRACE_NATS_SERVER: program })];
  return { from, to };
}

function store({ nats }: Connection, subject: string, text: string, id = ""): Promise<PubAck> {
  const head = headers();
  if (id !== "") head.set("Nats-Msg-Id", id);
  return jetstream(nats).publish(subject, text, { headers: head });
}

const manager = ({ nats }: Connection): Promise<JetStreamManager> => jetstreamManager(nats);

/** A log as a hub has it after a while: purged in front, with a gap, an id twice, and keys that were changed and deleted. */
async function fill(from: Connection): Promise<void> {
  const { streams } = await manager(from);
  const usual = { duplicate_window: nanos(DUPLICATES_MS), description: "Tailrace's log, identity" };
  await streams.add({ ...usual, name: RAW_STREAM, subjects: ["raw.>"] });
  await streams.add({ ...usual, name: DOC_STREAM, subjects: ["doc.>"] });
  await streams.add({ ...usual, name: "DEAD", subjects: ["dead.>"] });
  for (let at = 1; at <= 9; at++) await store(from, `raw.${at % 2}.agent`, `line ${at}`, `id ${at}`);
  await until(
    "the id to be forgotten",
    async () => !(await store(from, "raw.1.agent", "again", "id 8")).duplicate,
  );
  await store(from, "raw.1.agent", "last", "id last");
  await streams.purge(RAW_STREAM, { seq: 4 });
  await streams.update(RAW_STREAM, { duplicate_window: nanos(USUAL_DUPLICATES_MS) });
  for (let at = 1; at <= 200; at++) await store(from, "doc.0.uuid.0", `document ${at}`);
  for (const seq of [70, 71, 200]) await streams.deleteMessage(DOC_STREAM, seq);
  await store(from, "dead.letter", "letter");
  await streams.purge("DEAD");
  const bucket = await new Kvm(jetstream(from.nats)).create("state", { history: 1 });
  for (const value of ["1", "2", "3"]) await bucket.put("a", value);
  await bucket.put("b", "gone");
  await bucket.delete("b");
}

/** Returns what each sequence of a stream holds. */
async function contents(connection: Connection, name: string): Promise<unknown[]> {
  const { streams } = await manager(connection);
  const { config, state } = await streams.info(name);
  const found: unknown[] = [config.description, state.first_seq, state.last_seq, state.messages];
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await streams.getMessage(name, { seq }).catch(() => null);
    if (message !== null) found.push([seq, message.subject, message.string()]);
  }
  return found;
}

function move({ from, to }: Stores, signal = new AbortController().signal, progress = (): void => undefined) {
  return moveStreams({ from, to, replicas: 1, signal, progress });
}

test("each message of the log is found at its sequence, and buckets have their keys", options, async (t) => {
  const stores = await openStores(t);
  const { from, to } = stores;
  await fill(from);
  await move(stores);
  for (const name of [DOC_STREAM, RAW_STREAM, "DEAD"])
    assert.deepEqual(await contents(to, name), await contents(from, name), name);
  const { streams } = await manager(to);
  const id = (await streams.getMessage(RAW_STREAM, { seq: 5 }))?.header.get("Nats-Msg-Id");
  assert.equal(id, "id 5");
  const bucket = await new Kvm(jetstream(to.nats)).open("state");
  assert.equal((await bucket.get("a"))?.string(), "3");
  assert.ok((await bucket.get("a"))!.revision > 5, "revisions only grow");
  assert.notEqual((await bucket.get("b"))?.operation ?? "DEL", "PUT");
});

test("agents can't write to the log before everything is there, and then at its end", options, async (t) => {
  const stores = await openStores(t);
  const { from, to } = stores;
  await fill(from);
  await move(stores);
  assert.equal(await isMoved(to), false);
  await assert.rejects(store(to, "raw.1.agent", "early"));
  const waiting = untilMoved(to, {
    clock: systemClock,
    signal: new AbortController().signal,
    stalledMs: 60_000,
  });
  await finishMove(to, 1);
  await waiting;
  assert.equal(await isMoved(to), true);
  const { state } = await (await manager(from)).streams.info(RAW_STREAM);
  assert.equal((await store(to, "raw.1.agent", "line 9", "id 9")).duplicate, true, "ids are still known");
  assert.equal((await store(to, "raw.1.agent", "next")).seq, state.last_seq + 1);
});

test("a move that was interrupted begins anew", options, async (t) => {
  const stores = await openStores(t);
  const { from, to } = stores;
  await fill(from);
  const killed = new AbortController();
  await assert.rejects(move(stores, killed.signal, () => killed.abort()));
  await move(stores);
  for (const name of [DOC_STREAM, RAW_STREAM])
    assert.deepEqual(await contents(to, name), await contents(from, name), name);
});

test("a hub doesn't wait for ever for the one that moves its log", options, async (t) => {
  const { to } = await openStores(t);
  let nowMs = 0;
  const clock = { ...systemClock, monotonic: () => nowMs, sleep: async () => void (nowMs += 500) };
  const waiting = untilMoved(to, { clock, signal: new AbortController().signal, stalledMs: 2_000 });
  await assert.rejects(waiting, { code: "unavailable", message: /stored nothing for some time: start it/ });
});

test("a store without a log becomes one that takes messages", options, async (t) => {
  const stores = await openStores(t);
  await move(stores);
  await finishMove(stores.to, 1);
  assert.equal((await store(stores.to, "raw.1.agent", "first")).seq, 1);
});
