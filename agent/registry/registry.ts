/**
 * The state that the agent keeps across restarts: per file how far it is sent and committed, the agent's identity, how
 * often it has started, and its position in the hub's log. All state is in memory; the database follows once a second.
 * A lost row means that a file is read again and the hub drops the repeats; a row is never ahead of the log's
 * acknowledgements.
 */

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { Checkpoints } from "./checkpoints.ts";
import {
  ContentHolders,
  type FileRow,
  newerRow,
  parseRow,
  type SourceId,
  type StreamPosition,
  sourceOf,
} from "./row.ts";
import {
  FORMAT_VERSION,
  nextEpoch,
  type OpenedStore,
  openStore,
  readSnapshot,
  writeMarker,
  writeSnapshot,
} from "./store.ts";

export interface RegistryOptions {
  /** `path.data`. */
  readonly folder: string;
  /** UUID the agent is to have; a registry that has another one is refused. */
  readonly agentId?: string | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

const SNAPSHOT_MS = 600_000;
/** Keys of the database: a file's row, a position of an input without files, and what there is once. */
const ROW = "f/";
const POSITION = "k/";
const STREAM = "m/stream";

export class Registry implements Component {
  readonly #options: RegistryOptions;
  readonly #rows = new Map<string, FileRow>();
  readonly #positions = new Map<string, string>();
  readonly #holders = new ContentHolders();
  readonly #owners = new Map<string, string>();
  readonly #failures: Counter;
  #stream: StreamPosition = { incarnation: 0, sequence: 0, messageId: "" };
  #checkpoints: Checkpoints | undefined;
  #agentId = "";
  #epoch = 0;
  #snapshotMs = 0;
  #firstRun = false;

  constructor(options: RegistryOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#failures = metrics.counter(
      "tailrace_agent_registry_failures_total",
      "Checkpoints that could not be written.",
    );
    metrics.gauge("tailrace_agent_registry_entries", "Files in the registry.", [], (gauge) =>
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

  /** Why the last checkpoint failed; empty if it did not. */
  get problem(): string {
    return this.#checkpoints?.problem ?? "";
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
    const opened = await openStore(folder, log);
    try {
      await this.#begin(opened);
    } catch (error) {
      await opened.database.close();
      throw error;
    }
    this.#snapshotMs = this.#options.clock.monotonic();
    this.#checkpoints = new Checkpoints(opened.database, {
      open: async () => (await openStore(folder, log)).database,
      valueOf: (key) => this.#valueOf(key),
      keys: () => this.#keys(),
      onWritten: () => this.#snapshotInTime(),
      folder,
      failures: this.#failures,
      log,
    });
    if (opened.repaired) for (const key of this.#keys()) this.#checkpoints.touch(key);
  }

  /** Writes the last state and closes the database. */
  async stop(): Promise<void> {
    const checkpoints = this.#checkpoints;
    this.#checkpoints = undefined;
    if (checkpoints === undefined) return;
    await checkpoints.write();
    if (checkpoints.problem === "") this.#writeSnapshot();
    await checkpoints.close(["m/clean", JSON.stringify({ atMs: Date.now(), files: this.#rows.size })]);
  }

  /** Takes over the content of the database, completed from the snapshot if it was damaged, and records this run. */
  async #begin({ database, marker, entries, repaired }: OpenedStore): Promise<void> {
    const { folder, log } = this.#options;
    this.#load(entries);
    const snapshot = repaired ? readSnapshot(folder) : null;
    for (const [key, row] of snapshot?.rows ?? []) {
      const known = this.#rows.get(key);
      this.#take(key, known === undefined ? row : newerRow(known, row));
    }
    for (const [name, value] of snapshot?.positions ?? [])
      if (!this.#positions.has(name)) this.#positions.set(name, value);
    if (repaired)
      log.warn({ files: this.#rows.size }, "the registry is repaired; files it has forgotten are read again");
    // Of these only the database has checksums.
    this.#agentId = this.#identify(entries.get("m/agent") ?? marker?.agentId ?? snapshot?.agentId);
    this.#firstRun = marker === null && entries.size === 0;
    const unsure = repaired || (marker === null && entries.size > 0);
    this.#epoch = this.#nextEpoch(Number(entries.get("m/epoch") ?? 0), unsure);
    const once = ["m/format", "m/agent", "m/epoch"];
    await database.batch(
      [
        ...once.map((key) => ({ type: "put" as const, key, value: this.#valueOf(key) ?? "" })),
        { type: "del", key: "m/clean" },
      ],
      { sync: true } as object,
    );
    if (marker?.agentId !== this.#agentId) {
      const createdMs = marker?.createdMs ?? Date.now();
      writeMarker(folder, { format: FORMAT_VERSION, agentId: this.#agentId, createdMs });
    }
    writeFileAtomic(join(folder, "agent.pid"), `${process.pid}\n`, 0o600);
    // Without both, an import made the rows and no agent has run on them.
    const hasRun = marker !== null || entries.has("m/epoch");
    if (hasRun && !entries.has("m/clean"))
      log.info("the agent did not shut down cleanly; continuing from its registry");
  }

  /** Returns the agent's id: the known one, the one of the settings, or a new one. Throws where the two differ. */
  #identify(known: string | undefined): string {
    const { folder, agentId = known } = this.#options;
    if (agentId !== known && known !== undefined) throw otherIdentity(folder, known);
    return agentId ?? randomUUID();
  }

  get(key: string): FileRow | undefined {
    return this.#rows.get(key);
  }

  /** Returns all rows by file key. */
  rows(): IterableIterator<[key: string, row: FileRow]> {
    return this.#rows.entries();
  }

  /** Returns the files with content that has this name at the hub: its own and copies. */
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
    this.#checkpoints?.touch(ROW + key);
  }

  /** Records that the row of `key` was changed in place. */
  touch(key: string): void {
    if (this.#rows.has(key)) this.#checkpoints?.touch(ROW + key);
  }

  delete(key: string): void {
    this.#holders.remove(key, this.#rows.get(key));
    if (this.#rows.delete(key)) this.#checkpoints?.touch(ROW + key);
  }

  /** Returns what an input without files has remembered under `name`, or undefined. */
  position(name: string): string | undefined {
    return this.#positions.get(name);
  }

  /** Moves the one position whose name `isFree`, if there is just one, to `name`, unless `name` has a position. */
  inheritPosition(name: string, isFree: (name: string) => boolean): void {
    const [free, ...others] = [...this.#positions.keys()].filter(isFree);
    if (free === undefined || others.length > 0 || this.#positions.has(name)) return;
    this.setPosition(name, this.#positions.get(free)!);
    this.#positions.delete(free);
    this.#checkpoints?.touch(POSITION + free);
  }

  /** Remembers a position of an input without files: a cursor, an id. Must only be what the receiver has. */
  setPosition(name: string, value: string): void {
    this.#positions.set(name, value);
    this.#checkpoints?.touch(POSITION + name);
  }

  setStream(stream: StreamPosition): void {
    this.#stream = stream;
    this.#checkpoints?.touch(STREAM);
  }

  /** Returns the input that reads the file; makes it `inputId` if there is none. */
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

  /** Resolves when what has changed is on disk, or can't be written; see `Checkpoints`. */
  async checkpoint(): Promise<void> {
    await this.#checkpoints?.write();
  }

  #take(key: string, row: FileRow): void {
    this.#rows.set(key, row);
    this.#holders.add(key, row);
  }

  /** Returns the value to store under a key of the database. */
  #valueOf(key: string): string | undefined {
    if (key.startsWith(ROW)) {
      const row = this.#rows.get(key.slice(ROW.length));
      return row === undefined ? undefined : JSON.stringify(row);
    }
    if (key.startsWith(POSITION)) return this.#positions.get(key.slice(POSITION.length));
    if (key === STREAM) return JSON.stringify(this.#stream);
    return { "m/format": String(FORMAT_VERSION), "m/agent": this.#agentId, "m/epoch": String(this.#epoch) }[
      key
    ];
  }

  *#keys(): Generator<string> {
    yield* ["m/format", "m/agent", "m/epoch", STREAM];
    for (const key of this.#rows.keys()) yield ROW + key;
    for (const name of this.#positions.keys()) yield POSITION + name;
  }

  #nextEpoch(known: number, unsure: boolean): number {
    return nextEpoch(this.#options.folder, known, unsure ? this.#options.clock.now() : null);
  }

  #snapshotInTime(): void {
    if (this.#options.clock.monotonic() - this.#snapshotMs > SNAPSHOT_MS) this.#writeSnapshot();
  }

  #writeSnapshot(): void {
    this.#snapshotMs = this.#options.clock.monotonic();
    try {
      writeSnapshot(this.#options.folder, {
        agentId: this.#agentId,
        rows: this.#rows,
        positions: this.#positions,
      });
    } catch (error) {
      this.#options.log.warn({ error }, "the registry's snapshot can't be written");
    }
  }

  #load(entries: Map<string, string>): void {
    for (const [key, value] of entries) {
      if (key.startsWith(ROW)) {
        const row = parseRow(value);
        if (row !== null) this.#take(key.slice(2), row);
        else
          this.#options.log.error(
            { key, value },
            "a row of the registry can't be read; its file is read again",
          );
      } else if (key.startsWith(POSITION)) {
        this.#positions.set(key.slice(2), value);
      } else if (key === STREAM) {
        this.#stream = { ...this.#stream, ...(JSON.parse(value) as StreamPosition) };
      }
    }
  }
}

/** Lines are identified by the agent's id: under another id all files would be sent again. */
function otherIdentity(folder: string, known: string): AppError {
  return new AppError(
    "settings_invalid",
    `id: the registry in ${folder} belongs to the agent ${known}; set id to that, or path.data to an empty folder`,
  );
}
