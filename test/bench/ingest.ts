/**
 * Documents → searchable and durable: what the engine does per CPU-second, by the kernel and by its twin in TypeScript,
 * what a second core adds, and the whole way of a bulk request. SQLite with the same documents beside it.
 */

import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { MIB } from "#proto/kit/units.ts";
import { ask } from "#test/harness/http.ts";
import { startHub } from "#test/harness/hub.ts";
import { cpuSeconds, peakResidentBytes } from "#test/harness/processes.ts";
import type { Benchmark, BenchmarkContext, Result, Target } from "./benchmark.ts";
import { bulkBodies, sendAll } from "./bulk-bodies.ts";
import type { IngestFigures, IngestPart } from "./ingest-run.ts";
import { BLOCK_DOCS, CORPUS_MAPPING, corpusBlock } from "./log-corpus.ts";
import { MessageFileWriter } from "./message-file.ts";
import { DocumentDatabase, fts5LinesPerCpuSecond } from "./reference.ts";

const DOCUMENTS = 1_000_000;
/** Share of the documents that go by HTTP: they stand in memory as bodies. */
const HTTP_SHARE = 0.2;
/**
 * Bodies that warm the hub: the runtime compiles what is hot for its first tens of thousands of documents, and a hub
 * runs for months.
 */
const WARM_BODIES = 8;
/** Times that the bodies are sent: their documents get ids of their own each time. */
const HTTP_ROUNDS = 3;
/** The corpus is that of two processes, each of which indexes as much. */
const PARTS = 2;
/** One process and two by turns, so often: other work on the machine or its disk slows two processes more than one. */
const SECOND_CORE_ROUNDS = 3;
/** The twin is slow: this share of the documents says enough. */
const TWIN_SHARE = 0.2;
const MEGABYTE = 1e6;

/** What was promised of an idle machine. */
const ENGINE: Target = { atLeast: 180_000 };
const BESIDE_SQLITE: Target = { atLeast: 1.8 };
const SECOND_CORE: Target = { atLeast: 1.7 };
const MEMORY_MIB: Target = { atMost: 450 };
const FRESH: Target = { atMost: 0.6 };
const MERGED: Target = { atMost: 0.45 };
const WHOLE_WAY: Target = { atLeast: 100_000 };

const SCRIPT = fileURLToPath(new URL("./ingest-run.ts", import.meta.url));

export const ingest: Benchmark = {
  name: "ingest",
  about:
    "documents → searchable and durable: documents per CPU-second of the engine and through HTTP and the log; disk, memory",
  async run(context) {
    const blocks = Math.max(2, Math.round((DOCUMENTS * context.scale) / BLOCK_DOCS));
    const { reference, texts, messages } = referencesOf(context, blocks);
    const results = await engineResults(context, blocks, reference, messages);
    const http = await httpResults(context, Math.ceil(blocks * HTTP_SHARE), blocks, reference);
    return [...results, ...http, row("SQLite, FTS5 of the text alone", texts, "texts per CPU-second")];
  },
};

type Reference = NonNullable<Result["reference"]>;

interface References {
  readonly reference: Reference;
  /** Texts per CPU-second of the full-text index alone. */
  readonly texts: number;
  /** The same documents as messages of the log. */
  readonly messages: MessageFileWriter;
}

/** Puts the same documents into SQLite, all they hold and the texts alone, and into messages. */
function referencesOf({ workspace, progress }: BenchmarkContext, blocks: number): References {
  const file = workspace.path("messages.log");
  const database = new DocumentDatabase(workspace.path("documents.db"));
  const messages = new MessageFileWriter(workspace.path("messages"));
  for (let block = 0; block < blocks; block++) {
    const documents = corpusBlock(block, PARTS * blocks * BLOCK_DOCS);
    database.add(documents);
    messages.add(documents);
    const texts = documents.map(({ message }) => message.replaceAll("\n", " "));
    writeFileSync(file, `${texts.join("\n")}\n`, { flag: "a" });
  }
  database.close();
  messages.close();
  const value = (blocks * BLOCK_DOCS) / database.cpuSeconds;
  const texts = fts5LinesPerCpuSecond(file, workspace.path("texts.db"));
  progress(
    `${blocks * BLOCK_DOCS} documents; SQLite ${Math.round(value)} per CPU-second, ${Math.round(texts)} of their texts`,
  );
  return { reference: { name: "SQLite: FTS5 of the text, a table of the values", value }, texts, messages };
}

/** Writes the messages that a second process indexes beside the first. */
function secondMessages({ workspace }: BenchmarkContext, blocks: number): string {
  const messages = new MessageFileWriter(workspace.path("messages-right"));
  for (let block = blocks; block < PARTS * blocks; block++)
    messages.add(corpusBlock(block, PARTS * blocks * BLOCK_DOCS));
  messages.close();
  return messages.path;
}

async function engineResults(
  context: BenchmarkContext,
  blocks: number,
  reference: Reference,
  { path, sourceBytes }: MessageFileWriter,
): Promise<Result[]> {
  const total = blocks * BLOCK_DOCS;
  const part = (name: string, more: Partial<IngestPart> = {}): Promise<IngestFigures> => {
    const folder = context.workspace.path(name, "");
    return indexPart({ folder, messages: path, count: blocks, kernel: true, merges: false, ...more });
  };
  const right = secondMessages(context, blocks);
  const one = await part("one");
  context.progress(`one core ${one.wallSeconds.toFixed(1)} s`);
  const alone = [one];
  const beside: IngestFigures[] = [];
  // Files stay until the end: memory that those of one case have just left is faster than new memory.
  for (let round = 1; round <= SECOND_CORE_ROUNDS; round++) {
    if (round > 1) alone.push(await part(`one-${round}`));
    // Each of two processes does as much as the one did.
    const two = await Promise.all([part(`left-${round}`), part(`right-${round}`, { messages: right })]);
    beside.push(two[0].wallSeconds > two[1].wallSeconds ? two[0] : two[1]);
  }
  const speedUp = (PARTS * medianSeconds(alone)) / medianSeconds(beside);
  const merging = await part("merging", { merges: true });
  const twinBlocks = Math.ceil(blocks * TWIN_SHARE);
  const twin = await part("twin", { count: twinBlocks, kernel: false });
  const perSecond = { unit: "documents per CPU-second", reference };
  const perByte = "bytes per byte of JSON";
  const value = total / one.cpuSeconds;
  return [
    { case: "engine", value, ...perSecond, target: ENGINE },
    row("engine, beside SQLite", value / reference.value, "times its documents", BESIDE_SQLITE),
    { case: "engine, merges as they come due", value: total / merging.cpuSeconds, ...perSecond },
    { case: "engine, twin of the kernel", value: (twinBlocks * BLOCK_DOCS) / twin.cpuSeconds, ...perSecond },
    row("engine, volume", sourceBytes / MEGABYTE / one.cpuSeconds, "MB per CPU-second"),
    row("engine, second core", speedUp, "times the documents of one", SECOND_CORE),
    row("engine, memory", one.residentBytes / MIB, "MiB at most", MEMORY_MIB),
    row("disk, fresh", one.diskBytes / sourceBytes, perByte, FRESH),
    row("disk, merged", one.mergedBytes / sourceBytes, perByte, MERGED),
    row("merge into one segment", total / one.mergeSeconds, "documents per CPU-second"),
    row("merge into one segment, memory", one.mergingBytes / MIB, "MiB at most", MEMORY_MIB),
  ];
}

function row(name: string, value: number, unit: string, target?: Target): Result {
  return { case: name, value, unit, reference: null, ...(target === undefined ? {} : { target }) };
}

function medianSeconds(rounds: readonly IngestFigures[]): number {
  const sorted = rounds.map(({ wallSeconds }) => wallSeconds).sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

/** Indexes messages in a process of its own and returns what that took. */
export async function indexPart(part: IngestPart): Promise<IngestFigures> {
  mkdirSync(part.folder, { recursive: true });
  // The options of this process are those that a hub runs under: how memory is collected is part of what is measured.
  const args = [...process.execArgv, SCRIPT, JSON.stringify(part)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as IngestFigures;
}

/** Sends bulk requests of 5 MB to hubs of one and of two shard hosts, one after the other. */
async function httpResults(
  context: BenchmarkContext,
  blocks: number,
  allBlocks: number,
  reference: Reference,
): Promise<Result[]> {
  const bodies = bulkBodies(0, blocks, (block) => corpusBlock(block, allBlocks * BLOCK_DOCS));
  const documents = HTTP_ROUNDS * blocks * BLOCK_DOCS;
  const one = await overHttp(context, { hosts: 1, bodies, documents });
  const two = await overHttp(context, { hosts: 2, bodies, documents });
  const value = documents / one.cpuSeconds;
  const speedUp = one.wallSeconds / two.wallSeconds;
  return [
    {
      case: "HTTP and the log",
      value,
      unit: "documents per CPU-second",
      reference,
      target: WHOLE_WAY,
    },
    row("HTTP and the log, wall", documents / one.wallSeconds, "documents per second"),
    row("HTTP and the log, memory", one.residentBytes / MIB, "MiB of the hub at most"),
    row("HTTP and the log, busy with one host", one.busyCores, "cores, the sender's included"),
    // No target: a second host can use only what the first leaves idle of the machine.
    row("HTTP and the log, second host", speedUp, "times the documents of one"),
  ];
}

interface HttpFigures {
  /** From the first request until all documents are found. */
  readonly wallSeconds: number;
  /** Of hub and nats-server. */
  readonly cpuSeconds: number;
  /** Cores that were busy on average with hub, nats-server and the sender, which is this process. */
  readonly busyCores: number;
  /** Of the hub, at most. */
  readonly residentBytes: number;
}

/** Starts a hub whose index has a shard for each host, sends it the bodies and waits until all documents are found. */
async function overHttp(
  { workspace, progress }: BenchmarkContext,
  { hosts, bodies, documents }: { hosts: number; bodies: readonly string[]; documents: number },
): Promise<HttpFigures> {
  const hub = await startHub({
    dataDir: workspace.path(`hub-${hosts}`),
    settings: { "hub.threads": String(hosts) },
  });
  workspace.defer(() => hub.destroy());
  const settings = { number_of_shards: hosts };
  for (const index of ["bench", "warm"])
    await ask("PUT", `${hub.searchUrl}/${index}`, { settings, mappings: { _doc: CORPUS_MAPPING } });
  await sendAll(`${hub.searchUrl}/warm/_doc/_bulk`, bodies.slice(0, WARM_BODIES));
  const pids = [hub.pid, ...hub.natsPids()];
  const before = pids.map(cpuSeconds);
  const ownBefore = process.cpuUsage();
  const start = performance.now();
  for (let round = 0; round < HTTP_ROUNDS; round++)
    await sendAll(`${hub.searchUrl}/bench/_doc/_bulk`, bodies);
  await ask("POST", `${hub.searchUrl}/bench/_refresh`);
  const wallSeconds = (performance.now() - start) / 1000;
  const cpu = pids.map((pid, at) => cpuSeconds(pid) - before[at]!);
  const own = process.cpuUsage(ownBefore);
  const { count } = await ask<{ count: number }>("GET", `${hub.searchUrl}/bench/_count`);
  if (count !== documents) throw new Error(`${count} of ${documents} documents are found`);
  progress(`hosts ${hosts}: ${wallSeconds.toFixed(1)} s, CPU-seconds hub ${cpu[0]}, nats ${cpu[1]}`);
  const residentBytes = peakResidentBytes(hub.pid);
  await hub.destroy();
  const total = cpu.reduce((sum, each) => sum + each, 0);
  const busyCores = (total + (own.user + own.system) / 1e6) / wallSeconds;
  return { wallSeconds, cpuSeconds: total, busyCores, residentBytes };
}
