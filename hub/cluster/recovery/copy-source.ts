/** Serves the committed shards of this hub to hubs that copy them, while it runs. */

import { randomBytes } from "node:crypto";
import { existsSync, rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { HubTransport } from "#hub/cluster/links/hub-transport.ts";
import { committedPosition } from "#hub/cluster/shards/position-files.ts";
import { markedShards } from "#hub/cluster/shards/shard-folders.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import {
  CHUNK_BYTES,
  type CopiedFile,
  type CopyRequest,
  decodeRequest,
  encodeAnswer,
  encodeFailure,
  type HeldCopy,
  type HeldShard,
  shardsSubject,
} from "./copy-messages.ts";
import { filesBelow, holdShards } from "./held-shards.ts";

/** Hubs that copy at the same time; others are refused and try again. */
const MAX_COPIES = 2;
/** A copy that isn't read from for this long is released: its reader died, or has everything and joins the cluster. */
const IDLE_MS = 60_000;
const LOOK_MS = 5_000;
/** Files of a page: some 100 bytes each. */
const PAGE = 4_000;

export interface CopySourceOptions {
  readonly transport: HubTransport;
  /** Id of this hub. */
  readonly node: string;
  /** Folder of the shards. */
  readonly engine: string;
  /** Folder of held files, on the same file system; removed at the start. */
  readonly held: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

interface Held {
  readonly folder: string;
  /** The log must keep what follows this position: the copy lacks it. */
  readonly position: Position;
  files: readonly CopiedFile[];
  usedMs: number;
}

export class CopySource implements Component {
  readonly #options: CopySourceOptions;
  readonly #copies = new Map<string, Held>();
  readonly #abort = new AbortController();
  readonly #sent: Counter;
  #unserve: (() => void) | undefined;
  #watching: Promise<void> = Promise.resolve();

  constructor(options: CopySourceOptions) {
    this.#options = options;
    const { metrics } = options;
    metrics.gauge(
      "tailrace_cluster_copies_held",
      "copies of this hub's shards that others read",
      [],
      (gauge) => gauge.set(this.#copies.size),
    );
    this.#sent = metrics.counter(
      "tailrace_cluster_copies_sent_bytes_total",
      "bytes of shards that other hubs copied from this one",
    );
  }

  async start(): Promise<void> {
    const { transport, node, held } = this.#options;
    rmSync(held, { recursive: true, force: true });
    this.#unserve = transport.serve(shardsSubject(node), async ({ data }) => {
      try {
        return encodeAnswer(await this.#answer(decodeRequest(data)));
      } catch (error) {
        return encodeFailure(error);
      }
    });
    this.#watching = this.#releaseIdle();
  }

  async stop(): Promise<void> {
    this.#unserve?.();
    this.#abort.abort();
    await this.#watching;
    for (const copy of this.#copies.keys()) this.#release(copy);
  }

  /** Returns the position in DOC below which the log isn't needed: `committed`, or a lower one while others copy. */
  needed(committed: Position): Position {
    const positions = [...this.#copies.values()].map(({ position }) => position);
    return [committed, ...positions].sort(comparePositions)[0]!;
  }

  async #answer(request: CopyRequest): Promise<unknown> {
    switch (request.operation) {
      case "hold":
        return this.#hold(request.shards);
      case "list":
        return this.#copy(request.copy).files.slice(request.from, request.from + PAGE);
      case "read":
        return this.#read(this.#copy(request.copy), request.file, request.offset);
      case "release":
        this.#release(request.copy);
        return {};
    }
  }

  async #hold(shards: readonly HeldShard[] | undefined): Promise<HeldCopy> {
    const { engine, held, log, clock } = this.#options;
    if (this.#copies.size >= MAX_COPIES)
      throw new AppError("unavailable", `${MAX_COPIES} hubs are copying from this one; try again`);
    const copy = randomBytes(9).toString("base64url");
    const folder = join(held, copy);
    // Taken first: this position is lower than those of the shards, and the log keeps what follows it from now on.
    const position = committedPosition(engine, log);
    const made: Held = { folder, position, files: [], usedMs: Number.POSITIVE_INFINITY };
    this.#copies.set(copy, made);
    try {
      await holdShards(engine, folder, shards);
      // Checked last: a shard that leaves is marked before any of its files is removed.
      checkWhole(engine, shards);
      made.files = filesBelow(folder).map((path) => [path, statSync(join(folder, path)).size] as const);
    } catch (error) {
      this.#release(copy);
      throw error;
    }
    made.usedMs = clock.monotonic();
    const bytes = made.files.reduce((sum, [, size]) => sum + size, 0);
    log.info({ files: made.files.length, bytes, position }, "another hub copies the shards of this one");
    return { copy, files: made.files.length, bytes, position };
  }

  async #read({ folder, files }: Held, number: number, offset: number): Promise<Uint8Array> {
    const file = files[number];
    if (file === undefined) throw new AppError("not_found", `the copy has no file ${number}`);
    const length = Math.max(0, Math.min(CHUNK_BYTES, file[1] - offset));
    const handle = await open(join(folder, file[0]), "r");
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, offset);
      this.#sent.inc(bytesRead);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  }

  #copy(copy: string): Held {
    const held = this.#copies.get(copy);
    if (held === undefined)
      throw new AppError("not_found", "the copy was released because it was not read for a minute");
    held.usedMs = this.#options.clock.monotonic();
    return held;
  }

  #release(copy: string): void {
    const held = this.#copies.get(copy);
    this.#copies.delete(copy);
    if (held !== undefined) rmSync(held.folder, { recursive: true, force: true });
  }

  async #releaseIdle(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#abort;
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      for (const [copy, { usedMs }] of this.#copies) {
        if (clock.monotonic() - usedMs < IDLE_MS) continue;
        log.info("a copy of this hub's shards is released: it was not read for a minute");
        this.#release(copy);
      }
    }
  }
}

/** Throws unavailable if one of the listed shards, or of all shards without a list, isn't complete here. */
function checkWhole(engine: string, shards: readonly HeldShard[] | undefined): void {
  for (const marker of ["taking", "incomplete", "gone"] as const)
    for (const marked of markedShards(engine, marker)) {
      const isWanted = shards?.some(({ uuid, shard }) => uuid === marked.uuid && shard === marked.shard);
      if (isWanted ?? true)
        throw new AppError(
          "unavailable",
          `this hub has no whole copy of the shard ${marked.uuid}/${marked.shard}`,
        );
    }
  for (const { uuid, shard } of shards ?? [])
    if (!existsSync(join(engine, uuid, String(shard))))
      throw new AppError("unavailable", `this hub has no copy of the shard ${uuid}/${shard}`);
}
