/**
 * What the agent remembers over restarts: per file how far it is sent and committed, who it is, how often it
 * has started, and its place in the hub's log. All state is in memory; the database follows once a second.
 * A lost row means that a file is read again and the hub drops the repeats; a row never runs ahead of what
 * the log has acknowledged.
 */

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { ContentHolders } from "./content-holders.ts";
import { nextEpoch } from "./epoch.ts";
import { type FileRow, newerRow, parseRow, type SourceId, type StreamPosition, sourceOf } from "./row.ts";
import { readSnapshot, writeSnapshot } from "./snapshot.ts";
import { type Database, FORMAT_VERSION, openStore, writeMarker } from "./store.ts";

export interface RegistryOptions {
  /** `path.data`. */
  readonly folder: string;
  /** UUID the agent is to have; a registry that has another one is refused. */
  readonly agentId?: string | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** Loss of this much is repeated after a crash of the machine; more often would cost more than it saves. */
const CHECKPOINT_MS = 1_000;
const SNAPSHOT_MS = 600_000;
const ROWS_PER_BATCH = 500;

export class Registry implements Component {
  readonly #options: RegistryOptions;
  readonly #rows = new Map<string, FileRow>();
  readonly #dirty = new Set<string>();
  readonly #positions = new Map<string, string>();
  readonly #dirtyPositions = new Set<string>();
  readonly #holders = new ContentHolders();
  readonly #owners = new Map<string, string>();
  readonly #failures: Counter;
  #stream: StreamPosition = { incarnation: 0, sequence: 0, messageId: "" };
  #streamDirty = false;
  #database: Database | undefined;
  #agentId = "";
  #epoch = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #queued: Promise<void> | undefined;
  #problem = "";
  #snapshotMs = 0;
  #firstRun = false;

  constructor(options: RegistryOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#failures = metrics.counter(
      "tailrace_agent_registry_failures_total",
      "Checkpoints that could not be written.",
    );
    metrics.gauge("tailrace_agent_registry_entries", "Files the registry knows.", [], (gauge) =>
      gauge.set(this.#rows.size),
    );
  }

  /** UUID of this agent; the same for all its life. */
  get agentId(): string {
    return this.#agentId;
  }

  /** Counts starts, from 1; never the same twice. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Why the last checkpoint failed; empty where it did not. */
  get problem(): string {
    return this.#problem;
  }

  /** True where no agent has used the folder before. */
  get firstRun(): boolean {
    return this.#firstRun;
  }

  get stream(): Readonly<StreamPosition> {
    return this.#stream;
  }

  /** Opens the database and reads everything. Throws data_locked, data_corrupt, file_unreadable or settings_invalid. */
  async start(): Promise<void> {
    const { folder, log } = this.#options;
    const { database, marker, entries, repaired } = await openStore(folder, log);
    this.#database = database;
    this.#load(entries);
    const snapshot = repaired ? readSnapshot(folder) : null;
    for (const [key, row] of snapshot?.rows ?? []) {
      const known = this.#rows.get(key);
      this.put(key, known === undefined ? row : newerRow(known, row));
    }
    if (repaired)
      log.warn({ files: this.#rows.size }, "the registry is repaired; files it has forgotten are read again");
    const known = marker?.agentId ?? entries.get("m/agent") ?? snapshot?.agentId;
    const { agentId = known } = this.#options;
    if (agentId !== known && known !== undefined) {
      await database.close();
      throw otherIdentity(folder, known);
    }
    this.#agentId = agentId ?? randomUUID();
    this.#firstRun = marker === null && entries.size === 0;
    const unsure = repaired || (marker === null && entries.size > 0);
    this.#epoch = this.#nextEpoch(Number(entries.get("m/epoch") ?? 0), unsure);
    await database.batch(
      [
        { type: "put", key: "m/format", value: String(FORMAT_VERSION) },
        { type: "put", key: "m/agent", value: this.#agentId },
        { type: "put", key: "m/epoch", value: String(this.#epoch) },
        { type: "del", key: "m/clean" },
      ],
      { sync: true } as object,
    );
    if (marker === null)
      writeMarker(folder, { format: FORMAT_VERSION, agentId: this.#agentId, createdMs: Date.now() });
    writeFileAtomic(join(folder, "agent.pid"), `${process.pid}\n`);
    if (!entries.has("m/clean") && !this.#firstRun)
      log.info("the agent's last run did not end in order; reading on from its registry");
    this.#snapshotMs = this.#options.clock.monotonic();
    this.#timer = setInterval(() => void this.checkpoint(), CHECKPOINT_MS);
  }

  /** Writes the last state and closes the database. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const database = this.#database;
    if (database === undefined) return;
    await this.checkpoint();
    this.#database = undefined;
    if (this.#problem === "") {
      this.#writeSnapshot();
      await database.put("m/clean", JSON.stringify({ atMs: Date.now(), files: this.#rows.size }));
    }
    await database.close();
  }

  get(key: string): FileRow | undefined {
    return this.#rows.get(key);
  }

  /** Returns all rows by file key. */
  rows(): IterableIterator<[key: string, row: FileRow]> {
    return this.#rows.entries();
  }

  /** Returns the files with content that the hub knows under a name: its own and copies. */
  *rowsOf({ fileKey, generation }: SourceId): Generator<[key: string, row: FileRow]> {
    for (const key of this.#holders.of(fileKey)) {
      const row = this.#rows.get(key);
      if (row === undefined) continue;
      const source = sourceOf(key, row);
      if (source.fileKey === fileKey && source.generation === generation) yield [key, row];
    }
  }

  put(key: string, row: FileRow): void {
    this.#take(key, row);
    this.#dirty.add(key);
  }

  /** Notes that the row of `key` was changed in place. */
  touch(key: string): void {
    if (this.#rows.has(key)) this.#dirty.add(key);
  }

  delete(key: string): void {
    this.#holders.remove(key, this.#rows.get(key));
    if (this.#rows.delete(key)) this.#dirty.add(key);
  }

  /** Returns what an input without files has remembered under `name`, or undefined. */
  position(name: string): string | undefined {
    return this.#positions.get(name);
  }

  /** Remembers a place of an input without files: a cursor, an id. Must only be what the receiver has. */
  setPosition(name: string, value: string): void {
    this.#positions.set(name, value);
    this.#dirtyPositions.add(name);
  }

  setStream(stream: StreamPosition): void {
    this.#stream = stream;
    this.#streamDirty = true;
  }

  /** Returns the input that reads the file, after making it `inputId` where nobody does. */
  claim(key: string, inputId: string): string {
    const owner = this.#owners.get(key) ?? inputId;
    this.#owners.set(key, owner);
    return owner;
  }

  /** Lets another input have the file. */
  release(key: string): void {
    this.#owners.delete(key);
  }

  /** Returns a new epoch and remembers it. Throws where it can't be written. */
  renewEpoch(): number {
    this.#epoch = this.#nextEpoch(this.#epoch, true);
    return this.#epoch;
  }

  /**
   * Writes what has changed, durably. Never rejects: on a full disk the agent ships on and tries again. Who asks
   * while a write is under way shares the next one.
   */
  checkpoint(): Promise<void> {
    this.#queued ??= this.#writing.then(() => {
      this.#queued = undefined;
      this.#writing = this.#write();
      return this.#writing;
    });
    return this.#queued;
  }

  #take(key: string, row: FileRow): void {
    this.#rows.set(key, row);
    this.#holders.add(key, row);
  }

  async #write(): Promise<void> {
    const database = this.#database;
    if (
      database === undefined ||
      (this.#dirty.size === 0 && this.#dirtyPositions.size === 0 && !this.#streamDirty)
    )
      return;
    const keys = [...this.#dirty];
    this.#dirty.clear();
    const streamDirty = this.#streamDirty;
    this.#streamDirty = false;
    const names = [...this.#dirtyPositions];
    this.#dirtyPositions.clear();
    const positions = names.map((name) => ({
      type: "put" as const,
      key: `k/${name}`,
      value: this.#positions.get(name) ?? "",
    }));
    const stream = { type: "put" as const, key: "m/stream", value: JSON.stringify(this.#stream) };
    try {
      // In parts: the text of ten thousand rows would take the memory that the agent has.
      for (let at = 0; at + ROWS_PER_BATCH < keys.length; at += ROWS_PER_BATCH)
        await database.batch(this.#operationsOf(keys.slice(at, at + ROWS_PER_BATCH)), {} as object);
      const last = keys.slice(keys.length - (keys.length % ROWS_PER_BATCH || ROWS_PER_BATCH));
      const all = [...this.#operationsOf(last), ...positions, ...(streamDirty ? [stream] : [])];
      await database.batch(all, { sync: true } as object);
      if (this.#problem !== "") this.#options.log.info("the registry can be written again");
      this.#problem = "";
    } catch (error) {
      for (const key of keys) this.#dirty.add(key);
      for (const name of names) this.#dirtyPositions.add(name);
      this.#streamDirty ||= streamDirty;
      this.#failures.inc();
      const problem = `the registry in ${this.#options.folder} can't be written: ${(error as Error).message}`;
      if (this.#problem === "")
        this.#options.log.error({ error }, `${problem}; shipping goes on, a restart would repeat data`);
      this.#problem = problem;
      return;
    }
    if (this.#options.clock.monotonic() - this.#snapshotMs > SNAPSHOT_MS) this.#writeSnapshot();
  }

  #operationsOf(keys: readonly string[]) {
    return keys.map((key) => {
      const row = this.#rows.get(key);
      if (row === undefined) return { type: "del" as const, key: `f/${key}` };
      return { type: "put" as const, key: `f/${key}`, value: JSON.stringify(row) };
    });
  }

  #nextEpoch(known: number, unsure: boolean): number {
    return nextEpoch(this.#options.folder, known, unsure ? this.#options.clock.now() : null);
  }

  #writeSnapshot(): void {
    this.#snapshotMs = this.#options.clock.monotonic();
    try {
      writeSnapshot(this.#options.folder, this.#agentId, this.#rows);
    } catch (error) {
      this.#options.log.warn({ error }, "the registry's snapshot can't be written");
    }
  }

  #load(entries: Map<string, string>): void {
    for (const [key, value] of entries) {
      if (key.startsWith("f/")) {
        const row = parseRow(value);
        if (row !== null) this.#take(key.slice(2), row);
        else
          this.#options.log.error(
            { key, value },
            "a row of the registry can't be read; its file is read again",
          );
      } else if (key.startsWith("k/")) {
        this.#positions.set(key.slice(2), value);
      } else if (key === "m/stream") {
        this.#stream = { ...this.#stream, ...(JSON.parse(value) as StreamPosition) };
      }
    }
  }
}

/** Lines are told apart by the agent's id: under another one, all files would be sent once more. */
function otherIdentity(folder: string, known: string): AppError {
  return new AppError(
    "settings_invalid",
    `id: the registry in ${folder} belongs to the agent ${known}; set id to that, or path.data to an empty folder`,
  );
}
