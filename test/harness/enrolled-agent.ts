/** An agent of another machine, enrolled by the line that a hub prints. */

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Child, programUnderTest } from "./child.ts";
import { keepSecret } from "./secrets.ts";

const LAUNCHER = programUnderTest("agent");

export interface EnrolledAgentOptions {
  /** Its settings, key and registry. */
  readonly folder: string;
  readonly name: string;
  /** Read instead of the machine's logs. */
  readonly paths: readonly string[];
}

/** Runs the line as a person would, and starts the agent with the settings it wrote. The caller ends it. */
export function enrolAgent(line: string, { folder, name, paths }: EnrolledAgentOptions): Child {
  const [program, command, ...args] = line.split(" ");
  if (program !== "tailrace-agent" || command !== "enroll")
    throw new Error(`not a line of enrolment: ${program} ${command}`);
  keepSecret(args[1]!);
  const config = join(folder, "agent.yml");
  execFileSync(LAUNCHER, ["enroll", ...args, "--config", config, "--name", name], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const settings = readFileSync(config, "utf8").replace(/paths: .*/, `paths: ${JSON.stringify(paths)}`);
  writeFileSync(config, settings, { mode: 0o600 });
  return new Child({
    name,
    command: LAUNCHER,
    args: ["run", "-c", config, "-E", "status.port=0", "--ready-json"],
    logFile: join(folder, "agent.log"),
  });
}
