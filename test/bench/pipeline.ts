/** Pipelines: events through filters, from messages of the log to documents, apart from the engine. */

import { writeFileSync } from "node:fs";
import { Pipeline } from "#hub/pipeline/runtime/pipeline.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { TestHub } from "#test/harness/hub.ts";
import { MemoryRaw } from "#test/harness/pipeline-log.ts";
import { accessTime } from "#test/harness/sequence-log.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { MemoryBucket } from "../support/kit/memory-bucket.ts";
import type { Benchmark, BenchmarkContext, Result } from "./benchmark.ts";
import { pipelineCommand } from "./pipeline-command.ts";
import { grokAlone } from "./pipeline-grok.ts";
import { CountingSink, type Ends, inMemory, onJetStream } from "./pipeline-log.ts";

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

/** What its expression does with a text of many "a" and another letter takes longer than anybody lives. */
const TIMEOUT_MS = 1_000;
const ASTRAY = `filter { grok { match => { "message" => "^(?:a+)+$" } timeout_millis => ${TIMEOUT_MS} } }`;
/** What finding the expression and doing the batch again may add. */
const MARGIN_MS = 300;

/** Lines for grok alone: they stand in memory as texts. */
const GROK_LINES = 100_000;

const HUB_STARTS = 3;

/** Whatever else the machine does only slows a run down: the best of some is the pipeline's own. */
const ROUNDS = 3;
const LOG_ROUNDS = 2;

const AGENT =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36";

/** The same work by hand: what one core could do at best with V8's expressions. */
const BY_HAND =
  /^(\S+) (\S+) (\S+) \[([^\]]+)\] "(?:(\w+) (\S+)(?: HTTP\/(\S+))?|([^"]*))" (\d+) (?:(\d+)|-) "([^"]*)" "([^"]*)"/;

interface Rate {
  readonly perCpuSecond: number;
  readonly perSecond: number;
}

export const pipeline: Benchmark = {
  name: "pipeline",
  about:
    "events through grok, date and mutate: from JetStream per core, by two threads, failing, astray, by pipeline run (--only run), grok alone (--only grok), and starts with 50 plugins",
  async run(context) {
    const { progress, only } = context;
    const events = Math.round(EVENTS * context.scale);
    const sample = Array.from({ length: Math.min(events, GROK_LINES) }, (_, nth) => line(nth).trimEnd());
    if (only === "grok") return [await grokAlone(sample)];
    const command = await pipelineCommand(context, { pipeline: ACCESS, lines: events, line });
    if (only === "run") return [command];
    const raw = rawOf(events, 4);
    progress(`${events} events from JetStream through one thread`);
    const log = await best(LOG_ROUNDS, () => throughLog(raw, events));
    progress("from memory through one thread and through two, by turns");
    const [one, two] = await byTurns(ROUNDS, (workers) => through(inMemory(raw), events, ACCESS, workers));
    progress("and an expression that nothing matches");
    const failing = await best(ROUNDS, () => through(inMemory(raw), events, FAILING, 1));
    const byHand = handWritten(Math.min(events, 100_000));
    const perCpu = "events per CPU-second";
    const figure = (name: string, value: number, unit: string, atLeast: number): Result => ({
      case: name,
      value,
      unit,
      reference: null,
      target: { atLeast },
    });
    return [
      figure("grok, date, mutate, JetStream to DOC", log.perCpuSecond, perCpu, 60_000),
      {
        ...figure("grok, date, mutate, memory to memory", one.perCpuSecond, perCpu, 60_000),
        reference: { name: "an expression and JSON by hand", value: byHand },
      },
      command,
      await grokAlone(sample),
      figure("two threads", two.perSecond / one.perSecond, "times one thread", 1.7),
      figure("unanchored grok that fails", failing.perCpuSecond, perCpu, 50_000),
      await beside(context),
      await startOf50(context),
      await hubOf50(context),
    ];
  },
};

function line(number: number): string {
  const time = accessTime(new Date(Date.UTC(2026, 0, 1) + number * 1_000));
  return `10.1.${number % 200}.7 - - [${time}] "GET /shop/item?id=${number} HTTP/1.1" 200 ${100 + (number % 9_000)} "https://example.net/start" "${AGENT}"\n`;
}

function rawOf(events: number, partitions: number): MemoryRaw {
  const raw = new MemoryRaw();
  let from = 0;
  for (let at = 0; at < events; at += LINES_PER_MESSAGE) {
    const text = Array.from({ length: Math.min(LINES_PER_MESSAGE, events - at) }, (_, n) =>
      line(at + n),
    ).join("");
    raw.append({ text, from, partition: (at / LINES_PER_MESSAGE) % partitions });
    from += text.length;
  }
  return raw;
}

function pipelineOver({ source, sink }: Omit<Ends, "cpuSeconds">, text: string, workers: number): Pipeline {
  return new Pipeline({
    settings: {
      id: "main",
      pipelines: [{ id: "main", files: [{ path: "bench.conf", text }] }],
      workers,
      batchSize: 125,
      batchDelayMs: 5,
    },
    source,
    sink,
    deadLetters: { write: () => Promise.resolve() },
    cursors: new MemoryBucket(),
    hub: "bench",
    log: silentLogger(),
    metrics: new Metrics(),
  });
}

/** Measures after a warm-up. */
async function through(ends: Ends, events: number, text: string, workers: number): Promise<Rate> {
  const { sink } = ends;
  const running = pipelineOver(ends, text, workers);
  const warm = sink.reached(Math.round(events * WARM_UP_SHARE));
  const all = sink.reached(events);
  await running.start();
  await warm;
  const measured = events - sink.count;
  const cpuBefore = ends.cpuSeconds();
  const startMs = performance.now();
  await all;
  const seconds = (performance.now() - startMs) / 1_000;
  const spent = ends.cpuSeconds() - cpuBefore;
  await running.stop();
  return { perCpuSecond: measured / spent, perSecond: measured / seconds };
}

/** From JetStream; the server is gone before anything else is measured. */
async function throughLog(raw: MemoryRaw, events: number): Promise<Rate> {
  const workspace = new Workspace();
  try {
    return await through(await onJetStream(workspace, raw), events, ACCESS, 1);
  } finally {
    await workspace.close();
  }
}

/** The best rates of some runs. */
async function best(rounds: number, run: () => Promise<Rate>): Promise<Rate> {
  let found: Rate = { perCpuSecond: 0, perSecond: 0 };
  for (let round = 0; round < rounds; round++) found = better(found, await run());
  return found;
}

/** The same of one and of two threads, so that a slow minute is both's. */
async function byTurns(
  rounds: number,
  run: (workers: number) => Promise<Rate>,
): Promise<readonly [one: Rate, two: Rate]> {
  let one = await run(1);
  let two = await run(2);
  for (let round = 1; round < rounds; round++) {
    one = better(one, await run(1));
    two = better(two, await run(2));
  }
  return [one, two];
}

function better(a: Rate, b: Rate): Rate {
  return {
    perCpuSecond: Math.max(a.perCpuSecond, b.perCpuSecond),
    perSecond: Math.max(a.perSecond, b.perSecond),
  };
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

/** How long an event waits behind one whose expression would run for years, in the same message. */
async function beside({ progress }: BenchmarkContext): Promise<Result> {
  progress("an expression that goes astray");
  const raw = new MemoryRaw();
  const sink = new CountingSink();
  raw.append({ text: "warm\n" });
  const running = pipelineOver({ source: raw, sink }, ASTRAY, 1);
  await running.start();
  await sink.reached(1);
  const startMs = performance.now();
  raw.append({ text: `fine\n${"a".repeat(60)}!\nfine\n`, from: 100 });
  await sink.reached(4);
  const value = performance.now() - startMs;
  await running.stop();
  return {
    case: "events beside one that runs into the time-out of 1 s",
    value,
    unit: "ms",
    reference: { name: "the limit of the expression", value: TIMEOUT_MS },
    target: { atMost: TIMEOUT_MS + MARGIN_MS },
  };
}

/** A pipeline of 50 plugins, their expressions among them. */
function fiftyPlugins(): string {
  const filters = Array.from(
    { length: 24 },
    (_, n) => `if [kind] == "${n}" {
    grok { match => { "message" => "%{COMBINEDAPACHELOG} %{NUMBER:n${n}}" } }
    mutate { add_tag => "t${n}" }
  }`,
  );
  return `filter { ${filters.join("\n")} date { match => ["timestamp", "ISO8601"] } } output { elasticsearch { } }`;
}

/** From nothing to ready. */
async function startOf50({ progress }: BenchmarkContext): Promise<Result> {
  progress("start of 50 plugins");
  const startMs = performance.now();
  const running = pipelineOver({ source: new MemoryRaw(), sink: new CountingSink() }, fiftyPlugins(), 2);
  await running.start();
  const value = performance.now() - startMs;
  await running.stop();
  return {
    case: "start of 50 plugins in two threads",
    value,
    unit: "ms",
    reference: null,
    target: { atMost: 1_000 },
  };
}

/** From a process that is started to one that is ready; the quickest of some starts. */
async function hubOf50({ progress, workspace }: BenchmarkContext): Promise<Result> {
  progress("starts of a hub with 50 plugins");
  const conf = workspace.path("pipelines", "fifty.conf");
  const startOf = async (name: string): Promise<number> => {
    let best = Number.POSITIVE_INFINITY;
    for (let run = 0; run < HUB_STARTS; run++) {
      const hub = new TestHub({ dataDir: workspace.path(`${name}-${run}`) });
      workspace.defer(() => hub.destroy());
      const startMs = performance.now();
      await hub.start();
      best = Math.min(best, performance.now() - startMs);
      await hub.stop();
    }
    return best;
  };
  const plain = await startOf("plain");
  writeFileSync(conf, fiftyPlugins());
  const value = await startOf("fifty");
  return {
    case: "start of a hub with 50 plugins",
    value,
    unit: "ms",
    reference: { name: "a hub without pipelines", value: plain },
    target: { atMost: 1_000 },
  };
}
