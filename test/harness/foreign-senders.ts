/** Programs of others that send logs, and a hub whose pipeline has one input for them. */

import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { freePort } from "#test/harness/free-ports.ts";
import { TestHub } from "./hub.ts";
import { count, searchAll } from "./search.ts";
import { until, untilSteady } from "./until.ts";
import { Workspace } from "./workspace.ts";

/** Where `bash test/tools.sh senders` puts them. */
const FOLDER = resolve(import.meta.dirname, "../../.cache/senders");

/** Modules of rsyslog that its main package leaves out. */
export const RSYSLOG_MODULES = join(FOLDER, "rsyslog/usr/lib/x86_64-linux-gnu/rsyslog");
export const RSYSLOG_LIBRARIES = join(FOLDER, "rsyslog/usr/lib/x86_64-linux-gnu");
const RSYSLOG = "/usr/sbin/rsyslogd";

/** syslog-ng 3.38, and what it needs to run outside of /usr. */
const SYSLOG_NG = join(FOLDER, "syslog-ng/usr/sbin/syslog-ng");
const SYSLOG_NG_LIBRARIES = ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "usr/lib/syslog-ng"].map(
  (folder) => join(FOLDER, "syslog-ng", folder),
);

/** Programs of systemd 252 that send and write journals. */
const JOURNAL = join(FOLDER, "journal/lib/systemd");
const JOURNAL_LIBRARIES = [
  join(FOLDER, "journal/usr/lib/x86_64-linux-gnu"),
  "/usr/lib/x86_64-linux-gnu/systemd",
];

/** Time for lines to arrive: a sender may wait long between two attempts. */
export const ARRIVAL_MS = 180_000;

const load = createRequire(join(FOLDER, "package.json"));

/** Returns why packages of senders can't be used; false: they can. */
export function missingSenders(...names: string[]): string | false {
  const missing = names.filter((name) => !existsSync(join(FOLDER, "node_modules", name)));
  return missing.length > 0 && `not installed: ${missing.join(", ")}; bash test/tools.sh senders`;
}

/** Returns why rsyslog with this module can't be used; false: it can. */
export function missingRsyslog(module: string): string | false {
  if (existsSync(RSYSLOG) && existsSync(join(RSYSLOG_MODULES, module))) return false;
  return `not installed: rsyslog with ${module}; bash test/tools.sh senders`;
}

/** A program, with the arguments and environment that it needs to run from its folder. */
interface ForeignProgram {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Why it can't be used; false: it can. */
  readonly missing: string | false;
}

export const syslogNg = foreignProgram(
  "syslog-ng",
  SYSLOG_NG,
  [`--module-path=${join(FOLDER, "syslog-ng/usr/lib/syslog-ng/3.38")}`],
  SYSLOG_NG_LIBRARIES,
);

/** Returns systemd-journal-upload or systemd-journal-remote. */
export function journalProgram(name: "upload" | "remote"): ForeignProgram {
  const program = `systemd-journal-${name}`;
  return foreignProgram(program, join(JOURNAL, program), [], JOURNAL_LIBRARIES);
}

function foreignProgram(
  name: string,
  path: string,
  args: readonly string[],
  libraries: readonly string[],
): ForeignProgram {
  const env = { ...process.env, LD_LIBRARY_PATH: libraries.join(":") };
  return { path, args, env, missing: missingProgram(name, path, args, env) };
}

/** A package of another release of Debian may lack libraries here. */
function missingProgram(
  name: string,
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): string | false {
  if (!existsSync(path)) return `not installed: ${name}; bash test/tools.sh senders`;
  const { status, stderr } = spawnSync(path, [...args, "--version"], { env, encoding: "utf8" });
  return status !== 0 && `${name} doesn't run here: ${stderr.trim().split("\n")[0]}`;
}

/** Returns a sender's package; its types are the caller's. */
export function senderPackage<T>(name: string): T {
  return load(name) as T;
}

export interface IntakeHub {
  readonly hub: TestHub;
  readonly port: number;
  readonly workspace: Workspace;
  /** Resolves with the messages, without the blank that rsyslog puts before them, when as many documents are found, and no more come. */
  readonly messages: (expected: number) => Promise<string[]>;
}

/** Starts a hub; `input` returns its input's text for a port. */
export async function startIntakeHub(t: TestContext, input: (port: number) => string): Promise<IntakeHub> {
  const workspace = new Workspace(t);
  const port = await freePort();
  const config = workspace.path("intake.conf");
  writeFileSync(config, `input { ${input(port)} } output { elasticsearch { } }`);
  const hub = new TestHub({ dataDir: workspace.path("hub-data"), settings: { "path.config": [config] } });
  workspace.defer(() => hub.destroy());
  await hub.start();
  const messages = async (expected: number): Promise<string[]> => {
    await until("all lines", async () => (await count(hub.searchUrl)) >= expected, {
      deadlineMs: ARRIVAL_MS,
    });
    await untilSteady("the number of documents", () => count(hub.searchUrl));
    const hits = await searchAll(hub.searchUrl);
    return hits.map(({ _source }) => String(_source["message"]).trim()).toSorted(byNumber);
  };
  return { hub, port, workspace, messages };
}

/** Returns the texts `line 0` to `line count-1`. */
export function lines(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, n) => `line ${from + n}`);
}

/** Orders such texts. */
export function byNumber(a: string, b: string): number {
  return Number(a.slice("line ".length)) - Number(b.slice("line ".length));
}
