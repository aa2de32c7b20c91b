/** A thousand viewers of one hub: how soon it brings them their lines, and what those who don't read cost it. */

import { once } from "node:events";
import { WebSocket } from "ws";
import { MIB } from "#proto/kit/units.ts";
import { type HubMessage, LIVE_PATH, LIVE_PROTOCOL, START_CREDIT_ROWS, UsedCredit } from "#proto/live.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import { percentile, type Result, type Target } from "./benchmark.ts";
import { TailHub } from "./tail-hub-process.ts";

export const VIEWED_RATE = 5_000;
export const SLOW_VIEWERS = 50;
/** Viewers are waited for until they have this share of their lines, */
const NEARLY_ALL = 0.99;
/** at most so long. */
const LAST_ROWS_MS = 5_000;
const P99_MS: Target = { atMost: 150 };
const SLOW_VIEWER_MIB: Target = { atMost: 4 };

/** Measures `count` viewers, whose filters each match one line in a hundred. */
export async function measureViewers(workspace: Workspace, count: number, forMs: number): Promise<Result[]> {
  const hub = await TailHub.start(workspace);
  const delaysMs: number[] = [];
  let skipped = 0;
  let expected = Number.POSITIVE_INFINITY;
  const arrived = Promise.withResolvers<void>();
  const look = (): void => {
    if (delaysMs.length + skipped >= expected) arrived.resolve();
  };
  const sockets: WebSocket[] = [];
  for (let number = 0; number < count; number++) {
    const credit = new UsedCredit();
    const socket = await view(hub.url, `f${Math.floor(number / 100)}:g${number % 100}x`, (message, send) => {
      if (message.t === "tail.gap") {
        skipped += message.n;
        look();
      }
      if (message.t !== "tail.rows") return;
      const nowMs = Date.now();
      for (const row of message.rows) delaysMs.push(nowMs - row[1]);
      look();
      const add = credit.take(message.rows.length);
      if (add > 0) send({ t: "tail.credit", sub: 1, add });
    });
    sockets.push(socket);
  }
  const offered = await hub.offer(VIEWED_RATE, forMs);
  expected = (offered / 100) * count * NEARLY_ALL;
  look();
  await Promise.race([arrived.promise, once(AbortSignal.timeout(LAST_ROWS_MS), "abort")]);
  for (const socket of sockets) socket.terminate();
  hub.stop();
  const result = (name: string, value: number, unit: string, target?: Target): Result => ({
    case: `${count} viewers: ${name}`,
    value,
    unit,
    reference: null,
    ...(target === undefined ? {} : { target }),
  });
  return [
    result("event → socket, p50", percentile(delaysMs, 0.5), "ms"),
    result("event → socket, p99", percentile(delaysMs, 0.99), "ms", P99_MS),
    result("rows brought", delaysMs.length, "rows"),
    result("rows skipped and counted", skipped, "rows"),
  ];
}

/** Measures viewers of everything who read nothing: what each costs the hub. */
export async function measureSlowViewers(workspace: Workspace, forMs: number): Promise<Result> {
  const hub = await TailHub.start(workspace);
  await hub.offer(VIEWED_RATE, 1_000);
  const reader = await view(hub.url, "", () => undefined);
  await hub.offer(VIEWED_RATE, 2_000);
  const beforeBytes = await hub.rssBytes();
  const sockets: WebSocket[] = [];
  for (let number = 0; number < SLOW_VIEWERS; number++) {
    const socket = await view(hub.url, `NOT viewer${number}`, () => undefined);
    socket.pause();
    sockets.push(socket);
  }
  await hub.offer(VIEWED_RATE, forMs);
  const grownBytes = (await hub.rssBytes()) - beforeBytes;
  for (const socket of [reader, ...sockets]) socket.terminate();
  hub.stop();
  return {
    case: "memory per slow viewer",
    value: grownBytes / SLOW_VIEWERS / MIB,
    unit: "MiB",
    reference: null,
    target: SLOW_VIEWER_MIB,
  };
}

/** Opens a tail and resolves when the hub has opened it. */
async function view(
  url: string,
  query: string,
  onMessage: (message: HubMessage, send: (message: unknown) => void) => void,
): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}${LIVE_PATH}`, LIVE_PROTOCOL, { origin: url });
  const send = (message: unknown): void => socket.send(JSON.stringify(message));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.on("open", () =>
    send({ t: "tail.open", sub: 1, index: [], q: query, credit: START_CREDIT_ROWS, maxRate: 20_000 }),
  );
  socket.on("error", reject);
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString()) as HubMessage;
    if (message.t === "tail.opened") resolve();
    onMessage(message, send);
  });
  await promise;
  return socket;
}
