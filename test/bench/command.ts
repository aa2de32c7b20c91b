/** The command line of the benchmarks: reads its words, measures one and prints the results. */

import { cpus, release, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { didYouMean } from "#proto/kit/nearest.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { access } from "./access.ts";
import { agent } from "./agent.ts";
import { barriers } from "./barriers.ts";
import { type Benchmark, keeps, type Result, UsageError } from "./benchmark.ts";
import { clients } from "./clients.ts";
import { cluster } from "./cluster.ts";
import { disk } from "./disk.ts";
import { e2e } from "./e2e.ts";
import { growth } from "./growth.ts";
import { ingest } from "./ingest.ts";
import { numbers } from "./numbers.ts";
import { page } from "./page.ts";
import { peers } from "./peers.ts";
import { pipeline } from "./pipeline.ts";
import { query } from "./query.ts";
import { tail } from "./tail.ts";
import { viewers } from "./viewers.ts";

const BENCHMARKS: readonly Benchmark[] = [
  access,
  agent,
  barriers,
  clients,
  cluster,
  disk,
  e2e,
  growth,
  ingest,
  numbers,
  page,
  peers,
  pipeline,
  query,
  tail,
  viewers,
];

const USAGE = `Usage: npm run bench -- NAME [OPTION …]

Measures one benchmark here, beside its reference where it has one. Let nothing else run meanwhile.

Benchmarks:
${BENCHMARKS.map((each) => `  ${each.name.padEnd(10)} ${each.about}`).join("\n")}

Options:
  --json         print one JSON document: name, machine, results
  --only TEXT    measure only the cases whose name contains TEXT, where the benchmark offers it
  --docs N       how many documents, where the benchmark has a corpus
  --scale X      this part of the usual work (0.1: a tenth)
  --keep FOLDER  keep what was made, where the benchmark offers it
  --with LIST    other programs that "peers" measures, each as KIND=ADDRESS or KIND=PROGRAM, by commas:
                 elasticsearch=http://127.0.0.1:9201, clickhouse=http://127.0.0.1:8123,
                 victorialogs=/usr/bin/victoria-logs, filebeat=/usr/bin/filebeat
  --help         print this
`;

/** Measures what `words` name, and sets the exit code where a case failed. Throws UsageError for what isn't known. */
export async function runBenchmark(words: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(words);
  const [name, ...others] = positionals;
  if (values.help || name === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  const names = BENCHMARKS.map((each) => each.name);
  const chosen = BENCHMARKS.find((each) => each.name === name);
  if (chosen === undefined) {
    throw new UsageError(
      `there is no benchmark "${name}"${didYouMean(name, names)}; there are ${names.join(", ")}`,
    );
  }
  if (others.length > 0) throw new UsageError(`one benchmark a run; ${others.join(" ")} is too much`);
  await measure(chosen, {
    json: values.json,
    scale: positive("scale", values.scale) ?? 1,
    docs: positive("docs", values.docs),
    keep: values.keep,
    only: values.only,
    with: values.with,
  });
}

function readArguments(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        json: { type: "boolean", default: false },
        scale: { type: "string" },
        docs: { type: "string" },
        keep: { type: "string" },
        only: { type: "string", default: "" },
        with: { type: "string", default: "" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split(". ")[0]}; see --help`);
  }
}

function positive(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value)))
    throw new UsageError(`--${option} takes a number above 0, not "${text}"`);
  return value;
}

interface Asked {
  json: boolean;
  scale: number;
  docs: number | undefined;
  keep: string | undefined;
  only: string;
  with: string;
}

async function measure(benchmark: Benchmark, { json, ...asked }: Asked): Promise<void> {
  const workspace = new Workspace();
  try {
    const results = await benchmark.run({
      workspace,
      ...asked,
      progress: (text) => process.stderr.write(`bench: ${text}\n`),
    });
    if (json) print(benchmark.name, asked.scale, results);
    else for (const result of results) process.stdout.write(`${readable(result)}\n`);
    if (results.some(({ failure }) => failure !== undefined)) process.exitCode = 1;
  } finally {
    await workspace.close();
  }
}

function print(benchmark: string, scale: number, results: readonly Result[]): void {
  const rows = results.map((result) => ({
    ...result,
    reference: result.reference === null ? null : result.reference.value,
    referenceName: result.reference?.name ?? null,
    ratio: ratio(result),
    ...(result.failure === undefined ? {} : { passed: false }),
    ...(result.target === undefined ? {} : { passed: keeps(result.value, result.target) }),
  }));
  const machine = {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
    kernel: release(),
    node: process.versions.node,
  };
  process.stdout.write(`${JSON.stringify({ name: benchmark, machine, scale, results: rows }, null, 2)}\n`);
}

function ratio({ value, reference }: Result): number | null {
  return reference === null ? null : value / reference.value;
}

function readable(result: Result): string {
  if (result.failure !== undefined) return `${result.case.padEnd(32)} FAIL: ${result.failure}`;
  const beside =
    result.reference === null
      ? ""
      : `  (${ratio(result)!.toFixed(2)} × ${result.reference.name}: ${figure(result.reference.value)})`;
  return `${result.case.padEnd(32)} ${figure(result.value).padStart(12)} ${result.unit}${beside}${judged(result)}`;
}

function judged({ value, target }: Result): string {
  if (target === undefined) return "";
  const bound =
    "atMost" in target ? `at most ${figure(target.atMost)}` : `at least ${figure(target.atLeast)}`;
  return `  ${keeps(value, target) ? "pass" : "FAIL"}: ${bound}`;
}

function figure(value: number): string {
  const digits = value < 1 ? 3 : value < 100 ? 1 : 0;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}
