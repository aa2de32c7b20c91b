/**
 * Documents → searchable and durable: what the engine alone does per CPU-second, by the kernel and by its twin in
 * TypeScript, with SQLite's full-text index over the same texts beside it.
 */

import { writeFileSync } from "node:fs";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Kernel } from "#hub/engine/kernel/kernel.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { Shard } from "#hub/engine/shard.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { DocOperation } from "#proto/messages.ts";
import { randomFrom } from "#test/harness/random.ts";
import type { Benchmark, Result } from "./benchmark.ts";
import { fts5LinesPerCpuSecond } from "./reference.ts";

const DOCUMENTS = 400_000;
/** Documents per message of the log and per commit. */
const BATCH = 500;
const COMMIT_EVERY = 100_000;
const MEGABYTE = 1e6;
/** The first run warms the compilers. */
const RUNS = 3;

const PROPERTIES = {
  "@timestamp": { type: "date" },
  message: { type: "text" },
  host: { properties: { name: { type: "keyword" } } },
  log: { properties: { file: { properties: { path: { type: "keyword" } } }, offset: { type: "long" } } },
  http: {
    properties: {
      request: { properties: { method: { type: "keyword" } } },
      response: { properties: { status_code: { type: "long" }, bytes: { type: "long" } } },
    },
  },
  took: { type: "double" },
};

interface Corpus {
  readonly sources: readonly Uint8Array[];
  readonly ids: readonly string[];
  readonly sizeBytes: number;
}

export const ingest: Benchmark = {
  name: "ingest",
  about: "documents → searchable and durable: documents per CPU-second of the engine, kernel and twin",
  async run({ workspace, scale, progress }) {
    const count = Math.round(DOCUMENTS * scale);
    const messages = Array.from(accessLines(count));
    const corpus = corpusOf(messages);
    const file = workspace.path("messages.log");
    writeFileSync(file, `${messages.join("\n")}\n`);
    progress(`${count} documents, ${Math.round(corpus.sizeBytes / MEGABYTE)} MB`);
    const reference = {
      name: "FTS5 over the texts",
      value: fts5LinesPerCpuSecond(file, workspace.path("reference.db")),
    };
    const kernel = Kernel.load();
    if (kernel === null) progress("the kernel isn't built (npm run build): the twin alone is measured");
    const results: Result[] = [];
    for (const [name, which] of [
      ["kernel", kernel],
      ["TypeScript twin", null],
    ] as const) {
      if (name === "kernel" && which === null) continue;
      let seconds = Number.POSITIVE_INFINITY;
      let diskBytes = 0;
      for (let run = 0; run < RUNS; run++) {
        const measured = ingestAll(workspace.path(name, String(run), "shard"), corpus, which);
        seconds = Math.min(seconds, measured.seconds);
        diskBytes = measured.diskBytes;
      }
      results.push(
        { case: name, value: count / seconds, unit: "documents per CPU-second", reference },
        {
          case: `${name}, volume`,
          value: corpus.sizeBytes / MEGABYTE / seconds,
          unit: "MB per CPU-second",
          reference: null,
        },
        {
          case: `${name}, disk`,
          value: diskBytes / corpus.sizeBytes,
          unit: "bytes per byte",
          reference: null,
        },
      );
    }
    return results;
  },
};

/** Applies, refreshes and commits all documents into a new shard. */
function ingestAll(
  folder: string,
  { sources, ids }: Corpus,
  kernel: Kernel | null,
): { seconds: number; diskBytes: number } {
  const mapping = Mapping.parse({ properties: PROPERTIES }, { index: "bench", analysis: new Analysis() });
  const before = process.cpuUsage();
  const shard = Shard.open(folder, { index: "bench", mapping, log: silentLogger(), kernel });
  for (let from = 0; from < sources.length; from += BATCH) {
    const operations = sources.slice(from, from + BATCH).map((source, index) => ({
      kind: DocOperation.Kind.INDEX,
      id: ids[from + index]!,
      source,
      appendOnly: true,
    }));
    shard.apply({ operations, timeMs: 1, lenient: true }, { incarnation: 1, sequence: 1 + from / BATCH });
    if ((from + BATCH) % COMMIT_EVERY === 0) shard.commit();
  }
  shard.refresh();
  shard.commit();
  const { user, system } = process.cpuUsage(before);
  const diskBytes = shard.stats().bytes;
  shard.close();
  return { seconds: (user + system) / 1e6, diskBytes };
}

function corpusOf(messages: readonly string[]): Corpus {
  const random = randomFrom(2);
  let sizeBytes = 0;
  const sources = messages.map((message, number) => {
    const [, method = "", status = "", bytes = ""] = /"(\w+) .*" (\d+) (\d+) "/.exec(message) ?? [];
    const source = Buffer.from(
      JSON.stringify({
        "@timestamp": new Date(1_750_000_000_000 + number * 37).toISOString(),
        message,
        host: { name: `web-${number % 20}` },
        log: { file: { path: "/var/log/nginx/access.log" }, offset: number * 180 },
        http: { request: { method }, response: { status_code: Number(status), bytes: Number(bytes) } },
        took: Math.round(random() * 1e6) / 1000,
      }),
    );
    sizeBytes += source.length;
    return source;
  });
  const ids = messages.map((_, number) => {
    const id = Buffer.alloc(15, 7);
    id.writeUIntBE(number * 180, 8, 6);
    return id.toString("base64url");
  });
  return { sources, ids, sizeBytes };
}

const AGENTS = [
  "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
  "curl/8.5.0",
  "Googlebot/2.1 (+http://www.google.com/bot.html)",
];
const PAGES = [
  "index.html",
  "images/logo.png",
  "api/v1/orders",
  "products/search",
  "robots.txt",
  "account/login",
];

/** Lines of an access log with the variety that fills a dictionary: addresses, request ids, sizes. */
function* accessLines(count: number): Generator<string> {
  const random = randomFrom(1);
  const below = (limit: number): number => Math.floor(random() * limit);
  // Few clients ask for most pages.
  const skewed = (limit: number): number => Math.floor(limit * random() ** 3);
  for (let line = 0; line < count; line++) {
    const time = new Date(1_750_000_000_000 + line * 37).toISOString().slice(11, 19);
    const address = `${10 + skewed(200)}.${skewed(256)}.${below(256)}.${below(256)}`;
    const page = `/${PAGES[skewed(PAGES.length)]}?id=${below(1e6).toString(36)}`;
    const status = [200, 200, 200, 304, 404, 500][skewed(6)];
    yield `${address} - - [15/Jun/2025:${time} +0000] "GET ${page} HTTP/1.1" ${status} ${1000 + skewed(90_000)} "-" "${AGENTS[skewed(AGENTS.length)]}"`;
  }
}
