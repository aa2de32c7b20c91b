/**
 * A hub beside other stores, and an agent beside other shippers, that are installed on this machine: the same access logs,
 * the same questions, one store after the other in one run. The answers are compared with the generator's own counts.
 * Nothing is downloaded; `--with` says where each is.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Workspace } from "#test/harness/workspace.ts";
import { ExpectedAnswers } from "./access-cases.ts";
import { accessBlock } from "./access-corpus.ts";
import { agent } from "./agent.ts";
import type { Benchmark, BenchmarkContext, Result } from "./benchmark.ts";
import { bulkBodies } from "./bulk-bodies.ts";
import { BLOCK_DOCS } from "./log-corpus.ts";
import { measureStore, type StoreFigures } from "./peers/measure.ts";
import { pictureOf } from "./peers/picture.ts";
import { measureFilebeat, type ShipperFigures } from "./peers/shippers.ts";
import type { BodyFormat, Store } from "./peers/store.ts";
import { openStore, type Peer, parsePeers, startTailrace } from "./peers/stores.ts";
import { type Comparison, tablesOf } from "./peers/tables.ts";

const DOCUMENTS = 500_000;
const LINES = 750_000;
/** Blocks that stand in memory as bodies while they are made. */
const BLOCKS_AT_ONCE = 100;
const FOLDER = resolve(import.meta.dirname, "../artefacts/peers");
const PACKAGE = resolve(import.meta.dirname, "../../package.json");

export const peers: Benchmark = {
  name: "peers",
  about:
    "beside stores and shippers that are installed: --with elasticsearch=URL,victorialogs=PROGRAM,…; --docs N, --keep FOLDER",
  async run(context) {
    const named = parsePeers(context.with);
    const comparison = await compare(context, named);
    const folder = context.keep ?? FOLDER;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "peers.md"), tablesOf(comparison));
    writeFileSync(join(folder, "peers.svg"), pictureOf(comparison));
    context.progress(`tables: ${join(folder, "peers.md")}; picture: ${join(folder, "peers.svg")}`);
    return resultsOf(comparison);
  },
};

async function compare(context: BenchmarkContext, named: readonly Peer[]): Promise<Comparison> {
  const { workspace, scale, docs, progress } = context;
  const documents = docs ?? Math.round(DOCUMENTS * scale);
  progress(`${documents} documents`);
  const corpus = makeCorpus(workspace, documents);
  const { version } = JSON.parse(readFileSync(PACKAGE, "utf8")) as { version: string };
  const opened = [
    () => startTailrace(workspace, version),
    ...named.filter(({ kind }) => kind !== "filebeat").map((peer) => () => openStore(workspace, peer)),
  ];
  const stores: StoreFigures[] = [];
  for (const open of opened) {
    stores.push(await whileOpen(await open(), (store) => measure(store, documents, corpus, progress)));
  }
  const filebeat = named.find(({ kind }) => kind === "filebeat");
  return { documents, stores, shippers: filebeat === undefined ? [] : await ship(context, filebeat.at) };
}

/** One at a time: a store that rests still takes memory and caches. */
async function whileOpen<T>(store: Store, use: (store: Store) => Promise<T>): Promise<T> {
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function measure(
  store: Store,
  documents: number,
  { files, expected }: Corpus,
  progress: BenchmarkContext["progress"],
): Promise<StoreFigures> {
  progress(store.name);
  return await measureStore(store, documents, files[store.format], expected);
}

interface Corpus {
  /** Paths of bodies. */
  readonly files: Readonly<Record<BodyFormat, readonly string[]>>;
  readonly expected: readonly unknown[];
}

/** Writes the bodies before anything is measured, and counts what the answers have to be. */
function makeCorpus(workspace: Workspace, documents: number): Corpus {
  const expected = new ExpectedAnswers();
  const files: Record<BodyFormat, string[]> = { bulk: [], ndjson: [] };
  const blocks = Math.ceil(documents / BLOCK_DOCS);
  const counted = (block: number) => {
    const made = accessBlock(block, documents);
    for (const document of made) expected.add(document);
    return made;
  };
  for (let from = 0; from < blocks; from += BLOCKS_AT_ONCE) {
    for (const bulk of bulkBodies(from, Math.min(blocks, from + BLOCKS_AT_ONCE), counted)) {
      const ndjson = bulk.split("\n").filter((_, line) => line % 2 === 1);
      for (const [format, text] of [
        ["bulk", bulk],
        ["ndjson", ndjson.join("\n")],
      ] as const) {
        const path = workspace.path("bodies", `${files[format].length}.${format}`);
        writeFileSync(path, text);
        files[format].push(path);
      }
    }
  }
  return { files, expected: expected.all() };
}

async function ship(context: BenchmarkContext, filebeat: string): Promise<ShipperFigures[]> {
  const own = await agent.run({ ...context, only: "search", scale: context.scale / 2 });
  const ownFigure = (name: string): number => own.find((result) => result.case === name)!.value;
  context.progress("Filebeat");
  return [
    { name: "Tailrace", perCpuSecond: ownFigure("search"), memoryMib: ownFigure("search: peak memory") },
    await measureFilebeat(context.workspace, filebeat, Math.round(LINES * context.scale)),
  ];
}

/** Ours beside each other one. */
function resultsOf({
  stores: [own, ...others],
  shippers: [shipper, ...otherShippers],
}: Comparison): Result[] {
  const results: Result[] = own === undefined ? [] : alone(own);
  for (const other of others) {
    if (own === undefined) break;
    results.push(
      row(
        "ingest",
        own.ingest.perCpuSecond,
        "documents per CPU-second",
        other.name,
        other.ingest.perCpuSecond,
      ),
    );
    results.push(
      row("memory", own.ingest.memoryBytes, "bytes at most", other.name, other.ingest.memoryBytes),
    );
    results.push(row("disk", own.ingest.diskBytes, "bytes at rest", other.name, other.ingest.diskBytes));
    for (const [number, { name, cpuMs, medianMs }] of own.questions.entries()) {
      const theirs = other.questions[number]!;
      results.push(row(name, cpuMs, "CPU-ms", other.name, theirs.cpuMs));
      results.push(row(`${name}, median`, medianMs, "ms", other.name, theirs.medianMs));
    }
  }
  for (const other of otherShippers) {
    results.push(
      row("shipper", shipper!.perCpuSecond, "lines per CPU-second", other.name, other.perCpuSecond),
    );
    results.push(row("shipper, memory", shipper!.memoryMib, "MiB at most", other.name, other.memoryMib));
  }
  return results;
}

/** An answer of our own that isn't right fails the run; another store's stands below the tables. */
function alone({ name, questions }: StoreFigures): Result[] {
  return questions
    .filter(({ differs }) => differs !== undefined)
    .map((each) => ({
      case: `${name}: ${each.name}`,
      value: Number.NaN,
      unit: "",
      reference: null,
      failure: `answered ${each.differs}, which is not what was sent`,
    }));
}

function row(
  name: string,
  value: number | undefined,
  unit: string,
  other: string,
  theirs: number | undefined,
): Result {
  const reference = theirs === undefined ? null : { name: other, value: theirs };
  return { case: `${name}, beside ${other}`, value: value ?? Number.NaN, unit, reference };
}
