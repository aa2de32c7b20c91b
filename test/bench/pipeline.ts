/** Pipelines: events through filters, from messages of the log in memory to documents, apart from engine and NATS. */

import { Pipeline } from "#hub/pipeline/runtime/pipeline.ts";
import type { DocumentSink, ProcessedDocument, SourceRange } from "#hub/pipeline/runtime/ports.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#proto/kit/memory-bucket.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { Position } from "#proto/position.ts";
import { MemoryRaw } from "#test/harness/pipeline-log.ts";
import { accessTime } from "#test/harness/sequence-log.ts";
import type { Benchmark, BenchmarkContext, Result } from "./benchmark.ts";

const EVENTS = 300_000;
/** Lines of one message: what an agent sends under load. */
const LINES_PER_MESSAGE = 900;
const WARM_UP_SHARE = 0.2;

const ACCESS = `filter {
  grok { match => { "message" => "^%{COMBINEDAPACHELOG}" } }
  date { match => ["timestamp", "dd/MMM/yyyy:HH:mm:ss Z"] }
  mutate { convert => { "bytes" => "integer" } remove_field => ["timestamp"] add_tag => ["access"] }
}`;

/** No line holds what it looks for, and it may begin anywhere. */
const FAILING = `filter { grok { match => { "message" => "%{IP:a} %{WORD:b} \\[%{HTTPDATE:c}\\] %{NUMBER:d} %{NUMBER:e} end" } } }`;

const AGENT =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36";

/** The same work by hand: what one core could do at best with V8's expressions. */
const BY_HAND =
  /^(\S+) (\S+) (\S+) \[([^\]]+)\] "(?:(\w+) (\S+)(?: HTTP\/(\S+))?|([^"]*))" (\d+) (?:(\d+)|-) "([^"]*)" "([^"]*)"/;

/** DOC: counts and forgets. */
class CountingSink implements DocumentSink {
  count = 0;
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  #sequence = 0;

  write(_: unknown, __: readonly SourceRange[], documents: readonly ProcessedDocument[]): Promise<Position> {
    this.count += documents.length;
    for (const { count, resolve } of this.#waiting) if (this.count >= count) resolve();
    return Promise.resolve({ incarnation: 1, sequence: ++this.#sequence });
  }

  reached(count: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }
}

interface Rate {
  readonly perCpuSecond: number;
  readonly perSecond: number;
}

export const pipeline: Benchmark = {
  name: "pipeline",
  about:
    "events through grok, date and mutate: per core, by two threads, failing, and the start of 50 plugins",
  async run(context) {
    const events = Math.round(EVENTS * context.scale);
    const raw = rawOf(events);
    context.progress(`${events} events through one thread`);
    const one = await through(raw, events, ACCESS, 1);
    context.progress("and two threads");
    const two = await through(raw, events, ACCESS, 2);
    context.progress("and an expression that nothing matches");
    const failing = await through(raw, events, FAILING, 1);
    const byHand = handWritten(Math.min(events, 100_000));
    return [
      {
        case: "grok, date, mutate",
        value: one.perCpuSecond,
        unit: "events per CPU-second",
        reference: { name: "an expression and JSON by hand", value: byHand },
      },
      {
        case: "grok, date, mutate by two threads",
        value: two.perSecond,
        unit: "events per second",
        reference: { name: "one thread", value: one.perSecond },
      },
      {
        case: "unanchored grok that fails",
        value: failing.perCpuSecond,
        unit: "events per CPU-second",
        reference: null,
      },
      await startOf50(context),
    ];
  },
};

function line(number: number): string {
  const time = accessTime(new Date(Date.UTC(2026, 0, 1) + number * 1_000));
  return `10.1.${number % 200}.7 - - [${time}] "GET /shop/item?id=${number} HTTP/1.1" 200 ${100 + (number % 9_000)} "https://example.net/start" "${AGENT}"\n`;
}

function rawOf(events: number): MemoryRaw {
  const raw = new MemoryRaw();
  let from = 0;
  for (let at = 0; at < events; at += LINES_PER_MESSAGE) {
    const text = Array.from({ length: Math.min(LINES_PER_MESSAGE, events - at) }, (_, n) =>
      line(at + n),
    ).join("");
    raw.append({ text, from, partition: (at / LINES_PER_MESSAGE) % 4 });
    from += text.length;
  }
  return raw;
}

function pipelineOver(raw: MemoryRaw, sink: DocumentSink, text: string, workers: number): Pipeline {
  return new Pipeline({
    settings: {
      id: "main",
      pipelines: [{ id: "main", files: [{ path: "bench.conf", text }] }],
      workers,
      batchSize: 125,
      batchDelayMs: 5,
    },
    source: raw,
    sink,
    deadLetters: { write: () => Promise.resolve() },
    cursors: new MemoryBucket(),
    hub: "bench",
    log: silentLogger(),
    metrics: new Metrics(),
  });
}

/** Measures behind a warm-up. */
async function through(raw: MemoryRaw, events: number, text: string, workers: number): Promise<Rate> {
  const sink = new CountingSink();
  const running = pipelineOver(raw, sink, text, workers);
  const warm = sink.reached(Math.round(events * WARM_UP_SHARE));
  const all = sink.reached(events);
  await running.start();
  await warm;
  const measured = events - sink.count;
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  await all;
  const seconds = (performance.now() - startMs) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  await running.stop();
  return { perCpuSecond: measured / ((user + system) / 1e6), perSecond: measured / seconds };
}

function handWritten(events: number): number {
  const lines = Array.from({ length: events }, (_, number) => Buffer.from(line(number).trimEnd()));
  let bytes = 0;
  const cpu = process.cpuUsage();
  for (const each of lines) {
    const [, clientip, ident, auth, timestamp, verb, request, version, , response, size, referrer, agent] =
      BY_HAND.exec(each.toString())!;
    const time = new Date(timestamp!.replace("/", " ").replace("/", " ").replace(":", " ")).toISOString();
    const fields = {
      clientip,
      ident,
      auth,
      verb,
      request,
      version,
      response,
      bytes: Number(size),
      referrer,
      agent,
    };
    bytes += JSON.stringify({ "@timestamp": time, message: each.toString(), ...fields }).length;
  }
  const { user, system } = process.cpuUsage(cpu);
  return bytes === 0 ? 0 : events / ((user + system) / 1e6);
}

/** From nothing to ready with a pipeline of 50 plugins, their expressions among them. */
async function startOf50({ progress }: BenchmarkContext): Promise<Result> {
  progress("start of 50 plugins");
  const filters = Array.from(
    { length: 24 },
    (_, n) => `if [kind] == "${n}" {
    grok { match => { "message" => "%{COMBINEDAPACHELOG} %{NUMBER:n${n}}" } }
    mutate { add_tag => "t${n}" }
  }`,
  );
  const text = `filter { ${filters.join("\n")} date { match => ["timestamp", "ISO8601"] } } output { elasticsearch { } }`;
  const startMs = performance.now();
  const running = pipelineOver(new MemoryRaw(), new CountingSink(), text, 2);
  await running.start();
  const value = performance.now() - startMs;
  await running.stop();
  return { case: "start of 50 plugins in two threads", value, unit: "ms", reference: null };
}
