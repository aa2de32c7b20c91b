import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogPort, ReceivedMessage } from "#hub/cluster/writes/log-port.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { AgentHello, AgentStatus, type tailrace, Watermark } from "#proto/messages.ts";
import { watermarkSubject } from "#proto/subjects.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { Fleet } from "./fleet.ts";
import { Watermarks } from "./watermarks.ts";

const ID = "6e7a0000-0000-4000-8000-000000000001";

/** A fleet without a journal, to which agents report by `hear`. */
async function fleetAt(clock: { nowMs: number }, bucket = new MemoryBucket()) {
  const handlers = new Map<string, (message: ReceivedMessage) => void>();
  const port = {
    subscribe(subject: string, handle: (message: ReceivedMessage) => void) {
      handlers.set(subject, handle);
      return () => handlers.delete(subject);
    },
  } as unknown as LogPort;
  let refused = (): void => undefined;
  const log = silentLogger();
  log.warn = (): void => refused();
  const fleet = new Fleet({
    log,
    port,
    raw: { incarnation: () => 1, restored: () => 0, message: () => Promise.resolve("missing") },
    watermarks: new Watermarks(new Metrics()),
    bucket,
    now: () => clock.nowMs,
  });
  await fleet.start();
  const hear = (status: tailrace.AgentStatus.$Properties, subject = `agent.${status.agentId}.status`): void =>
    handlers.get("agent.*.status")!({
      subject,
      data: AgentStatus.encode(status).finish(),
      respond: () => undefined,
    } as unknown as ReceivedMessage);
  const hello = (properties: tailrace.AgentHello.$Properties): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    refused = () => resolve("refused");
    handlers.get("agent.*.hello")!({
      subject: `agent.${properties.agentId}.hello`,
      data: AgentHello.encode(properties).finish(),
      respond: () => resolve("answered"),
    } as unknown as ReceivedMessage);
    return promise;
  };
  return { fleet, hear, hello };
}

test("an agent's files are returned with that agent only, not in the list", async () => {
  const { fleet, hear } = await fleetAt({ nowMs: 5_000 });
  const file = {
    input: "i",
    path: "/a",
    place: "open",
    sizeBytes: 9,
    sentBytes: 5,
    committedBytes: 3,
    unfinishedBytes: 4,
  };
  hear({ agentId: ID, agentName: "web-1", health: "ok", files: [{ ...file, lastError: "" }], filesMore: 7 });
  assert.deepEqual(
    fleet.agents().map(({ name, files }) => [name, files]),
    [["web-1", undefined]],
  );
  const { name, files, files_more: more } = fleet.agent(ID)!;
  assert.deepEqual(
    [name, files, more],
    [
      "web-1",
      [
        {
          input: "i",
          path: "/a",
          place: "open",
          size_bytes: 9,
          sent_bytes: 5,
          committed_bytes: 3,
          unfinished_bytes: 4,
          last_error: "",
        },
      ],
      7,
    ],
  );
  assert.equal(fleet.agent("another"), undefined);
  await fleet.stop();
});

test("a status on another agent's subject is ignored, and a silent agent is lost", async () => {
  const clock = { nowMs: 5_000 };
  const { fleet, hear } = await fleetAt(clock);
  hear({ agentId: ID, health: "ok" }, "agent.another.status");
  assert.deepEqual(fleet.agents(), []);
  hear({ agentId: ID, health: "ok" });
  clock.nowMs += 36_000;
  assert.equal(fleet.agent(ID)?.["health"], "lost");
  await fleet.stop();
});

test("after a restart the agents are known with the time of their last status", async () => {
  const clock = { nowMs: 5_000 };
  const bucket = new MemoryBucket();
  const before = await fleetAt(clock, bucket);
  before.hear({ agentId: ID, agentName: "web-1", health: "ok", linesRead: 7 });
  await before.fleet.stop();
  clock.nowMs += 180_000;
  const { fleet, hear } = await fleetAt(clock, bucket);
  const [known] = fleet.agents();
  assert.deepEqual(
    [known?.["name"], known?.["health"], known?.["last_seen"], known?.["lines_read"]],
    ["web-1", "lost", new Date(5_000).toISOString(), 7],
  );
  hear({ agentId: ID, agentName: "web-1", health: "ok" });
  assert.equal(fleet.agent(ID)?.["health"], "ok");
  await fleet.stop();
});

test("a damaged record leaves a hub without this agent, and no more", async () => {
  const bucket = new MemoryBucket();
  await bucket.put(ID, Buffer.from("{"));
  const { fleet } = await fleetAt({ nowMs: 5_000 }, bucket);
  assert.deepEqual(fleet.agents(), []);
  await fleet.stop();
});

test("an agent's rate is that between its last two reports, however often somebody looks", async () => {
  const clock = { nowMs: 50_000 };
  const { fleet, hear } = await fleetAt(clock);
  const report = (timeMs: number, linesRead: number, startedMs = 1_000): unknown => {
    hear({ agentId: ID, health: "ok", startedMs, timeMs, linesRead });
    return fleet.agent(ID)?.["lines_per_second"];
  };
  assert.equal(report(20_000, 1_000), null);
  assert.equal(report(30_000, 1_480), 48);
  clock.nowMs += 3_000;
  assert.equal(fleet.agent(ID)?.["lines_per_second"], 48);
  assert.equal(report(40_000, 1_480), 0);
  assert.equal(report(45_000, 7, 44_000), null, "another run");
  clock.nowMs += 36_000;
  assert.equal(fleet.agent(ID)?.["lines_per_second"], 0, "lost");
  await fleet.stop();
});

test("a hub beside others sends what it knows of an agent's files although another hub may have answered first", async () => {
  const sent: string[] = [];
  const answered = Promise.withResolvers<void>();
  let hello: ((message: ReceivedMessage) => void) | undefined;
  const port = {
    subscribe(subject: string, handle: (message: ReceivedMessage) => void) {
      if (subject === "agent.*.hello") hello = handle;
      return () => undefined;
    },
    send: (subject: string, data: Uint8Array) => {
      const { committed } = Watermark.decode(data);
      sent.push(`${subject} ${committed[0]?.fileKey} ${committed[0]?.offset}`);
      answered.resolve();
    },
  } as unknown as LogPort;
  const watermarks = new Watermarks(new Metrics());
  const position = { incarnation: 1, sequence: 7 };
  watermarks.processed({
    partition: 1,
    docPosition: position,
    docIncarnation: 1,
    sources: [{ key: `${ID}/f/0`, from: 0, to: 9 }],
  });
  watermarks.committed(position);
  const fleet = new Fleet({
    log: silentLogger(),
    port,
    raw: { incarnation: () => 1, restored: () => 0, message: () => Promise.resolve("missing") },
    watermarks,
    hasOthers: () => true,
    bucket: new MemoryBucket(),
    now: () => 0,
  });
  await fleet.start();
  const data = AgentHello.encode({ agentId: ID, fileKeys: ["f/0"] }).finish();
  hello!({ subject: `agent.${ID}.hello`, data, respond: () => undefined });
  await answered.promise;
  assert.deepEqual(sent, [`${watermarkSubject(ID)} f 9`]);
  await fleet.stop();
});

test("an agent's clock is compared with the hub's by two statuses, as one may arrive late", async () => {
  const clock = { nowMs: 1_000_000 };
  const { fleet, hear } = await fleetAt(clock);
  const offsetAfter = (timeMs: number): number | undefined => {
    hear({ agentId: ID, agentName: "web-1", health: "ok", timeMs });
    return fleet.health()[0]?.clockOffsetMs;
  };
  assert.equal(offsetAfter(400_000), 0, "the first one");
  assert.equal(offsetAfter(999_000), -1_000);
  assert.equal(offsetAfter(400_000), -1_000);
  assert.equal(offsetAfter(401_000), -599_000);
  await fleet.stop();
});

test("an agent reports that the log has no space for its lines", async () => {
  const { fleet, hear } = await fleetAt({ nowMs: 1_000_000 });
  const isFullAfter = (status: { readonly logIsFull?: boolean }): boolean | undefined => {
    hear({ agentId: ID, agentName: "web-1", health: "ok", ...status });
    return fleet.health()[0]?.isLogFull;
  };
  assert.equal(isFullAfter({}), false, "an agent of an older version doesn't say");
  assert.equal(isFullAfter({ logIsFull: true }), true);
  assert.equal(isFullAfter({ logIsFull: false }), false);
  await fleet.stop();
});

test("an agent that was taken out of service is forgotten, also by the next start", async () => {
  const [clock, bucket] = [{ nowMs: 5_000 }, new MemoryBucket()];
  const { fleet, hear } = await fleetAt(clock, bucket);
  for (const end of ["1", "2"]) hear({ agentId: ID.slice(0, -1) + end, agentName: end, health: "ok" });
  assert.deepEqual([fleet.forget(ID), fleet.forget(ID)], [true, false]);
  const names = (of: Fleet): unknown[] => of.agents().map(({ name }) => name);
  assert.deepEqual(names(fleet), ["2"]);
  await fleet.stop();
  const { fleet: next } = await fleetAt(clock, bucket);
  assert.deepEqual(names(next), ["2"]);
  await next.stop();
});

test("an agent's status can neither spoil the list of agents nor what is stored of others", async () => {
  const [clock, bucket] = [{ nowMs: 5_000 }, new MemoryBucket()];
  const { fleet, hear } = await fleetAt(clock, bucket);
  hear({
    agentId: ID,
    agentName: "far",
    health: "ok",
    startedMs: 2 ** 60,
    timeMs: 2 ** 60,
    linesRead: 2 ** 60,
  });
  const inputs = Array.from({ length: 100_000 }, (_, n) => ({ id: `input ${n}`, type: "log" }));
  const other = `${ID.slice(0, -1)}2`;
  hear({ agentId: other, agentName: "long", health: "ok", inputs });
  assert.deepEqual(
    fleet.agents().map(({ name, started }) => [name, started]),
    [["far", "+275760-09-13T00:00:00.000Z"]],
  );
  await fleet.stop();
  assert.deepEqual(await bucket.keys(), [ID]);
});

test("a hello that names more files than it may is not answered", async () => {
  const clock = { nowMs: 5_000 };
  const { fleet, hello } = await fleetAt(clock);
  assert.equal(
    await hello({ agentId: ID, fileKeys: Array.from({ length: 10_000 }, () => "f/0") }),
    "answered",
  );
  assert.equal(
    await hello({ agentId: ID, fileKeys: Array.from({ length: 10_001 }, () => "f/0") }),
    "refused",
  );
  await fleet.stop();
});
