/** Shippers that read a file of access lines into a search interface which keeps nothing. */

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { MIB } from "#proto/kit/units.ts";
import { Child } from "#test/harness/child.ts";
import { cpuSeconds, peakResidentBytes } from "#test/harness/processes.ts";
import { until } from "#test/harness/until.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import { writeAccessLines } from "../agent.ts";
import { BulkSink } from "../bulk-sink.ts";

export interface ShipperFigures {
  readonly name: string;
  readonly perCpuSecond: number;
  readonly memoryMib: number;
}

const DEADLINE_MS = 600_000;

/** Starts the program with a configuration as its pages advise for much load; ends it when all lines have come. */
export async function measureFilebeat(
  workspace: Workspace,
  command: string,
  lines: number,
): Promise<ShipperFigures> {
  const version = /\d+\.\d+\.\d+/.exec(execFileSync(command, ["version"], { encoding: "utf8" }))?.[0] ?? "";
  const file = writeAccessLines(workspace, lines);
  const sink = await BulkSink.start();
  workspace.defer(() => sink.close());
  const configuration = workspace.path("peers", "filebeat", "filebeat.yml");
  writeFileSync(configuration, configurationOf(file, sink.host));
  const child = new Child({
    name: "filebeat",
    command,
    args: ["-c", configuration, "--path.home", dirname(configuration), "--strict.perms=false"],
    logFile: workspace.path("peers", "filebeat.log"),
  });
  workspace.defer(async () => await child.end("SIGTERM"));
  await until("all lines have come", () => sink.documents >= lines, { deadlineMs: DEADLINE_MS });
  return {
    name: `Filebeat ${version}`,
    perCpuSecond: lines / cpuSeconds(child.pid),
    memoryMib: peakResidentBytes(child.pid) / MIB,
  };
}

function configurationOf(file: string, host: string): string {
  return `filebeat.inputs:
  - type: log
    paths: [${JSON.stringify(file)}]
output.elasticsearch:
  hosts: ["http://${host}"]
  bulk_max_size: 1600
  worker: 2
  compression_level: 0
setup.template.enabled: false
setup.ilm.enabled: false
logging.level: warning
`;
}
