/**
 * More and more agents at one hub. They are simulated: one process has the connections of all, each with the messages of a
 * real agent, so that reading files isn't measured, and what the hub has to do is.
 */

import { MIB } from "#proto/kit/units.ts";
import { ask } from "#test/harness/http.ts";
import { residentBytes } from "#test/harness/processes.ts";
import { until } from "#test/harness/until.ts";
import { accessBlock } from "../access-corpus.ts";
import type { BenchmarkContext, Result } from "../benchmark.ts";
import { GrowingHub } from "./growing-hub.ts";
import { LEVEL, LINEAR, type Sample, Series, sizesUpTo } from "./series.ts";
import { SimulatedAgent } from "./simulated-agent.ts";

const AGENTS = 1000;
const SIZES = 3;
const FACTOR = 10;
const FILES_EACH = 4;
/** The same lines at each size, in the same number of batches. */
const BATCHES = 4000;
const BATCH_LINES = 50;
/** Agents that connect or send at a time. */
const AT_ONCE = 32;
const COMMITTED_MS = 300_000;

export async function growAgents(context: BenchmarkContext): Promise<Result[]> {
  const { workspace, scale, progress } = context;
  const growing = await GrowingHub.start(workspace, "agents");
  const lines = Array.from({ length: 10 }, (_, block) => accessBlock(block, 10_000)).flatMap((documents) =>
    documents.map(({ message }) => message),
  );
  const series = new Series("agents");
  const agents: SimulatedAgent[] = [];
  workspace.defer(async () => {
    await Promise.all(agents.map((agent) => agent.close()));
  });
  let [cpuSeconds, sent] = [0, 0];
  for (const size of sizesUpTo(Math.max(1, Math.round(AGENTS * scale)), SIZES, FACTOR)) {
    const added = Array.from({ length: size - agents.length }, (_, at) => agents.length + at);
    cpuSeconds += await growing.cpuOf(() =>
      inParts(added, async (number) => agents.push(await SimulatedAgent.connect(growing.hub, number))),
    );
    sent += BATCHES * BATCH_LINES;
    series.add(size, [
      { measure: "connections and hellos", unit: "CPU-s", value: cpuSeconds, growth: LINEAR },
      ...(await samplesOf(growing, agents, lines, sent)),
    ]);
    progress(`${size} agents\n${series.table()}`);
  }
  return series.results();
}

/** Sends as many lines at each size, `total` with those of the sizes before, until all are committed. */
async function sendLines(
  growing: GrowingHub,
  agents: readonly SimulatedAgent[],
  lines: readonly string[],
  total: number,
): Promise<void> {
  const batches = Array.from({ length: BATCHES }, (_, number) => number);
  await inParts(batches, async (number) => {
    const agent = agents[number % agents.length]!;
    const from = (number * BATCH_LINES) % lines.length;
    const file = `app-${Math.floor(number / agents.length) % FILES_EACH}`;
    await agent.send(file, lines.slice(from, from + BATCH_LINES));
  });
  const deadline = { deadlineMs: COMMITTED_MS, everyMs: 500 };
  await until("all lines are committed", () => agents.every((agent) => agent.allCommitted), deadline);
  await growing.ask("POST", "/_refresh");
  const { count } = await growing.ask<{ count: number }>("GET", "/logs-*/_count");
  if (count !== total) throw new Error(`${count} of ${total} lines are found`);
}

async function samplesOf(
  growing: GrowingHub,
  agents: readonly SimulatedAgent[],
  lines: readonly string[],
  total: number,
): Promise<Sample[]> {
  const sending = await growing.cpuOf(() => sendLines(growing, agents, lines, total));
  await growing.untilAtRest();
  const known = await ask<readonly unknown[]>("GET", `${growing.hub.dashboardUrl}/api/agents`);
  if (known.length !== agents.length) throw new Error(`${known.length} of ${agents.length} agents are known`);
  const [nats] = growing.hub.natsPids();
  const samples: Sample[] = [
    {
      measure: `${(BATCHES * BATCH_LINES).toLocaleString("en")} lines in ${BATCHES.toLocaleString("en")} batches`,
      unit: "CPU-s",
      value: sending,
      growth: LEVEL,
    },
    {
      measure: "at rest, statuses",
      unit: "CPU-ms a second",
      value: await growing.idleCpuMs(),
      growth: LINEAR,
    },
    growing.memory(),
    { measure: "memory of nats-server", unit: "MiB", value: residentBytes(nats!) / MIB, growth: LINEAR },
  ];
  for (const path of ["/api/agents", `/api/agents/${agents[0]!.id}`, "/health", "/metrics"])
    samples.push({
      measure: path.replace(agents[0]!.id, "ID"),
      unit: "CPU-ms",
      value: await growing.cpuMsOf({ path, site: growing.hub.dashboardUrl }),
      growth: LINEAR,
    });
  const back = await growing.restart(() => inParts(agents, (agent) => agent.hello()));
  samples.push({ measure: "start until all are back", unit: "CPU-s", value: back, growth: LINEAR });
  return samples;
}

async function inParts<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
