/**
 * `npm run bench -- NAME [--json] [--scale 0.1] [--docs N] [--keep FOLDER] [--only TEXT]`: measures and prints
 * `{name, machine, results: [{case, value, unit, reference, ratio}]}`, and where a case has a target whether it
 * `passed`; a case that couldn't be measured has its `failure`, and the exit status is 1. Without a name it lists the
 * benchmarks.
 */

import { cpus, release, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { didYouMean } from "#proto/kit/nearest.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { access } from "./access.ts";
import { agent } from "./agent.ts";
import { barriers } from "./barriers.ts";
import { type Benchmark, keeps, type Result } from "./benchmark.ts";
import { clients } from "./clients.ts";
import { cluster } from "./cluster.ts";
import { disk } from "./disk.ts";
import { e2e } from "./e2e.ts";
import { ingest } from "./ingest.ts";
import { numbers } from "./numbers.ts";
import { page } from "./page.ts";
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
  ingest,
  numbers,
  page,
  pipeline,
  query,
  tail,
  viewers,
];
const EXIT_USAGE = 2;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    scale: { type: "string", default: "1" },
    docs: { type: "string" },
    keep: { type: "string" },
    only: { type: "string", default: "" },
  },
});

const [name] = positionals;
const chosen = BENCHMARKS.find((each) => each.name === name);
if (name === undefined) {
  for (const each of BENCHMARKS) process.stdout.write(`${each.name.padEnd(10)} ${each.about}\n`);
} else if (chosen === undefined) {
  const names = BENCHMARKS.map((each) => each.name);
  process.stderr.write(
    `bench: there is no benchmark "${name}"${didYouMean(name, names)}; there are ${names.join(", ")}\n`,
  );
  process.exitCode = EXIT_USAGE;
} else {
  await measure(chosen);
}

async function measure(benchmark: Benchmark): Promise<void> {
  const workspace = new Workspace();
  try {
    const results = await benchmark.run({
      workspace,
      scale: Number(values.scale),
      docs: values.docs === undefined ? undefined : Number(values.docs),
      keep: values.keep,
      only: values.only,
      progress: (text) => process.stderr.write(`bench: ${text}\n`),
    });
    if (values.json) print(benchmark.name, results);
    else for (const result of results) process.stdout.write(`${readable(result)}\n`);
    if (results.some(({ failure }) => failure !== undefined)) process.exitCode = 1;
  } finally {
    await workspace.close();
  }
}

function print(benchmark: string, results: readonly Result[]): void {
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
  process.stdout.write(
    `${JSON.stringify({ name: benchmark, machine, scale: Number(values.scale), results: rows }, null, 2)}\n`,
  );
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
