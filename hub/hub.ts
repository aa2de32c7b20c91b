/** A hub: makes its parts, gives each its neighbours, starts them in order and stops them in reverse. */

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkAuthSettings } from "#hub/auth/settings.ts";
import { DocumentSink } from "#hub/cluster/document-sink.ts";
import { Documents } from "#hub/cluster/documents.ts";
import { Fleet } from "#hub/cluster/fleet.ts";
import { IndexCatalog } from "#hub/cluster/index-catalog.ts";
import { Janitor } from "#hub/cluster/janitor.ts";
import { LogFollower } from "#hub/cluster/log-follower.ts";
import { ShardHost } from "#hub/cluster/shard-host.ts";
import { Watermarks } from "#hub/cluster/watermarks.ts";
import { Journal } from "#hub/journal/journal.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { FolderLock } from "#proto/kit/folder-lock.ts";
import { type Component, Lifecycle } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { MemoryWatch } from "#proto/kit/memory-watch.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { comparePositions, START } from "#proto/position.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import { requireBootstrap } from "./bootstrap-checks.ts";
import { CertificateWatch } from "./certificate-watch.ts";
import { checkedSettings } from "./checked-settings.ts";
import type { HubSettings } from "./config.ts";
import { watchEngine, wireRetention } from "./engine-wiring.ts";
import { journalOptions } from "./journal-options.ts";
import * as routes from "./log-routes.ts";
import { readMachineFacts } from "./machine-facts.ts";
import { AUTH_BUCKET, type OpenedAccess, openAccess } from "./open-access.ts";
import { Pipelines } from "./pipelines.ts";
import { ProcessedFloor } from "./processed-floor.ts";
import { Servers } from "./servers.ts";
import { checkRestored } from "./snapshot/restore.ts";
import { readTlsFiles } from "./tls-files.ts";

export interface HubOptions {
  readonly settings: HubSettings;
  readonly log: Logger;
  readonly version: string;
}

/** Where a running hub is found; `token_file` holds what agents on this machine sign in to NATS with. */
export interface HubAddresses {
  readonly http: string;
  readonly dashboard: string;
  readonly nats: string;
  readonly token_file: string;
}

/** Time to index what arrived, to commit and to end nats-server. */
const STOP_DEADLINE_MS = 20_000;

export class Hub implements Component {
  readonly #options: HubOptions;
  readonly #metrics = new Metrics();
  readonly #lifecycle: Lifecycle;
  readonly #startedMs = systemClock.now();
  #journal: Journal | undefined;
  #servers: Servers | undefined;
  #opened: OpenedAccess | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#lifecycle = new Lifecycle((part, error) =>
      options.log.error({ err: error, part }, "a part did not stop cleanly"),
    );
  }

  /** Resolves when everything works. Throws settings_invalid, data_locked, port_taken … with nothing left running. */
  async start(): Promise<void> {
    const folder = checkSurroundings(this.#options);
    try {
      await this.#startAll(folder);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop(STOP_DEADLINE_MS);
  }

  /** Valid after `start`. */
  addresses(): HubAddresses {
    const { url, tokenFile } = this.#journal!.address;
    return { ...this.#servers!.addresses, nats: url, token_file: tokenFile };
  }

  /** Returns the one-time address that makes the first administrator, or null where nobody needs it. Valid after `start`. */
  async setupLink(): Promise<string | null> {
    return (await this.#opened?.setupLink()) ?? null;
  }

  async #startAll(folder: string): Promise<void> {
    mkdirSync(folder, { recursive: true, mode: 0o750 });
    await this.#run("lock", folderLock(folder));
    checkRestored(folder);
    const { log } = this.#options;
    await this.#run("memory", new MemoryWatch({ log, metrics: this.#metrics, part: "hub" }));
    watchEngine(log, this.#metrics);
    const journal = new Journal(journalOptions({ ...this.#options, folder, metrics: this.#metrics }));
    this.#journal = journal;
    await this.#run("journal", journal);
    const catalog = new IndexCatalog({
      bucket: await journal.bucket("indices"),
      log: this.#options.log,
      now: () => systemClock.now(),
    });
    await this.#run("catalog", catalog);
    const host = new ShardHost({ folder: join(folder, "engine"), catalog, log: this.#options.log });
    await this.#run("shards", { start: () => host.open(), stop: async () => host.close() });
    await this.#startFlow(journal, catalog, host);
  }

  /** Everything between the log and the listeners. */
  async #startFlow(journal: Journal, catalog: IndexCatalog, host: ShardHost): Promise<void> {
    const { settings, log, version } = this.#options;
    const metrics = this.#metrics;
    const clock = systemClock;
    const findings = await reconcile(journal, host);
    const port = routes.logPort(journal);
    const watermarks = new Watermarks(metrics);
    const floor = new ProcessedFloor();
    const documents = new Documents({ log: port, catalog, shards: host, now: () => clock.now() });
    const opened = await openAccess({
      ...this.#options,
      metrics,
      folder: resolve(settings["path.data"]),
      bucket: await journal.bucket(AUTH_BUCKET),
      documents,
      dashboardUrl: () => servers.addresses.dashboard,
      journal,
    });
    this.#opened = opened;
    const servers = new Servers({
      settings,
      log,
      metrics,
      version,
      catalog,
      documents,
      host,
      journal,
      access: opened.access,
      startedMs: this.#startedMs,
    });
    const sink = new DocumentSink({
      log: port,
      catalog,
      metrics,
      now: () => clock.now(),
      positionOf: (sequence) => journal.positionOf(DOC_STREAM, sequence),
      last: findings.survived,
      refuse: (refused) => routes.keepRefusedDocument(journal, refused),
    });
    const pipelines = await Pipelines.open({
      settings,
      journal,
      version,
      folder: resolve(settings["path.data"]),
      bearer: (...asked) => opened.bearer(...asked),
      source: routes.rawSource(journal),
      sink,
      deadLetters: { write: (letter) => routes.keepPipelineLetter(journal, letter) },
      cursors: await journal.bucket("cursors"),
      log,
      metrics,
      clock,
      listener: servers.tail,
      events: { onCursor: (event) => watermarks.processed(event) },
      resume: (cursor) => routes.resumption(cursor, findings),
    });
    servers.pipelines = pipelines;
    const follower = new LogFollower({
      host,
      log,
      metrics,
      clock,
      read: (after, signal) => routes.readDocs(journal, after, signal),
      oldest: () => routes.oldestDoc(journal),
      reply: (...message) => port.send(...message),
      deadLetter: (message, reason) => routes.keepDocMessage(journal, message, reason),
      onCommitted: (position) => {
        watermarks.committed(position);
        floor.committed(position);
      },
    });
    const fleet = new Fleet({ log, port, raw: routes.rawPort(journal), watermarks, now: () => clock.now() });
    servers.fleet = fleet;
    const janitor = new Janitor({
      clock,
      log,
      streams: [
        { name: RAW_STREAM, done: () => floor.advance(pipelines.pipeline.floor, sink.last) },
        { name: DOC_STREAM, done: () => floor.position },
      ],
      state: (stream) => journal.state(stream),
      purge: (stream, { incarnation, sequence }) =>
        journal.purge(stream, { incarnation, sequence: sequence + 1 }),
    });
    await this.#run("shard feeding", follower);
    await this.#run("documents", {
      start: async () => documents.start(),
      stop: async () => documents.stop(),
    });
    await this.#run("access", opened);
    await this.#run("pipeline", pipelines);
    await this.#run("fleet", fleet);
    await this.#run("janitor", janitor);
    await this.#run("retention", wireRetention({ settings, catalog, host, log, metrics }));
    await this.#run("listeners", servers);
    const certificates = new CertificateWatch({
      settings,
      clock,
      log,
      onChange: (tls) => {
        servers.useCertificate(tls);
        journal.reloadServer();
      },
    });
    await this.#run("certificates", certificates);
    this.#servers = servers;
  }

  #run(name: string, component: Component): Promise<void> {
    return this.#lifecycle.start(name, component);
  }
}

/** Compares the log with what the shards remember; begins new incarnations where it was lost or rolled back. */
async function reconcile(journal: Journal, host: ShardHost): Promise<routes.LogFindings> {
  const known = host.known();
  const before = await journal.state(DOC_STREAM);
  const end = before.lastSequence === 0 ? START : journal.positionOf(DOC_STREAM, before.lastSequence);
  const doc = await journal.reconcile(DOC_STREAM, known.doc);
  await journal.reconcile(RAW_STREAM, known.raw);
  const survived = comparePositions(end, host.position) > 0 ? end : host.position;
  return { docLost: doc.raised, survived };
}

/** Returns the data folder. Throws settings_invalid where the hub must not start with these settings on this machine. */
function checkSurroundings({ settings, log }: HubOptions): string {
  checkAuthSettings(settings);
  readTlsFiles(settings);
  const checked = checkedSettings(settings);
  const findings = requireBootstrap(checked, readMachineFacts(checked.dataFolder));
  for (const { check, message } of findings) log.warn({ check }, message);
  return checked.dataFolder;
}

function folderLock(folder: string): Component {
  let lock: FolderLock | undefined;
  return {
    start: async () => {
      lock = FolderLock.acquire(folder, "hub");
    },
    stop: async () => lock?.release(),
  };
}
