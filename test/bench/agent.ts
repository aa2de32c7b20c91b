/** File → PubAck: what one agent does per CPU-second, with a real nats-server behind it. */

import { closeSync, openSync, renameSync, statSync, writeFileSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { openRaw } from "#test/harness/agent.ts";
import { Child } from "#test/harness/child.ts";
import { readMetric } from "#test/harness/http.ts";
import { startNats, type TestNats } from "#test/harness/nats.ts";
import { cpuSeconds, peakResidentBytes } from "#test/harness/processes.ts";
import { until } from "#test/harness/until.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import type { Benchmark } from "./benchmark.ts";
import { readLinesPerCpuSecond } from "./reference.ts";

const LAUNCHER = resolve(import.meta.dirname, "../../agent/bin/tailrace-agent");
const LINES = 1_500_000;
const LINE_BYTES = 200;
const DEADLINE_MS = 300_000;
const MIB = 1024 ** 2;
/** Three times the data, so that the stream is never the limit. */
const STORE_FACTOR = 3;

export const agent: Benchmark = {
  name: "agent",
  about: "file → PubAck: lines of 200 bytes per CPU-second of the agent, and its peak memory",
  async run({ workspace, scale, progress }) {
    const lines = Math.round(LINES * scale);
    const file = writeLines(workspace, lines);
    const bytes = statSync(file).size;
    const nats = await startNats({ maxFileBytes: bytes * STORE_FACTOR + 64 * MIB });
    workspace.defer(() => nats.stop());
    const connection = await openRaw(nats.url, nats.token);
    await connection.close();
    progress(`${lines} lines, ${Math.round(bytes / MIB)} MiB`);
    const child = startAgent(workspace, nats, workspace.path("read", "*.log"));
    workspace.defer(() => child.end("SIGKILL"));
    const status = `http://127.0.0.1:${Number((await child.ready())["status_port"])}`;
    const startSeconds = cpuSeconds(child.pid);
    renameSync(file, workspace.path("read", "bench.log"));
    await until(
      "the acknowledgement of all bytes",
      async () => ((await readMetric(`${status}/metrics`, "tailrace_agent_bytes_acked_total")) ?? 0) >= bytes,
      { deadlineMs: DEADLINE_MS, everyMs: 100 },
    );
    const reference = {
      name: "reading and finding newlines",
      value: readLinesPerCpuSecond(workspace.path("read", "bench.log")),
    };
    const seconds = cpuSeconds(child.pid) - startSeconds;
    return [
      {
        case: "blocks",
        value: lines / seconds,
        unit: "lines per CPU-second",
        reference,
      },
      { case: "peak memory", value: peakResidentBytes(child.pid) / MIB, unit: "MiB", reference: null },
    ];
  },
};

function writeLines(workspace: Workspace, lines: number): string {
  const file = workspace.path("made", "bench.log");
  const fd = openSync(file, "w");
  const chunk = 10_000;
  for (let made = 0; made < lines; made += chunk) {
    let text = "";
    for (let line = made; line < Math.min(lines, made + chunk); line++) {
      text += `${`2026-01-01T00:00:00.000Z INFO worker-${line % 8} request ${line} served `.padEnd(LINE_BYTES - 1, "abcdefgh ")}\n`;
    }
    writeSync(fd, text);
  }
  closeSync(fd);
  return file;
}

function startAgent(workspace: Workspace, nats: TestNats, glob: string): Child {
  const tokenFile = workspace.path("token");
  writeFileSync(tokenFile, nats.token, { mode: 0o600 });
  const settings = {
    "shipper.inputs": [{ type: "log", id: "bench", paths: [glob], scan_frequency: "200ms" }],
    "output.pipeline.servers": [nats.url],
    "output.pipeline.token_file": tokenFile,
    "path.data": workspace.path("agent-data"),
    "status.port": 0,
  };
  const config = workspace.path("agent.yml");
  writeFileSync(config, JSON.stringify(settings));
  return new Child({
    name: "agent",
    command: LAUNCHER,
    args: ["run", "-c", config, "--ready-json"],
    logFile: workspace.path("agent.log"),
  });
}
