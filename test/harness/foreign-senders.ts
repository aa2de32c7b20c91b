/** Programs of others that send logs, and a hub whose pipeline has one input for them. */

import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { freePort } from "#test/contract/input-runner.ts";
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
export interface ForeignProgram {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Why it can't be used; false: it can. */
  readonly missing: string | false;
}

export const syslogNg: ForeignProgram = {
  path: SYSLOG_NG,
  args: [`--module-path=${join(FOLDER, "syslog-ng/usr/lib/syslog-ng/3.38")}`],
  env: { ...process.env, LD_LIBRARY_PATH: SYSLOG_NG_LIBRARIES.join(":") },
  missing: !existsSync(SYSLOG_NG) && "not installed: syslog-ng; bash test/tools.sh senders",
};

/** Returns systemd-journal-upload or systemd-journal-remote. */
export function journalProgram(name: "upload" | "remote"): ForeignProgram {
  const path = join(JOURNAL, `systemd-journal-${name}`);
  return {
    path,
    args: [],
    env: { ...process.env, LD_LIBRARY_PATH: JOURNAL_LIBRARIES.join(":") },
    missing: !existsSync(path) && `not installed: systemd-journal-${name}; bash test/tools.sh senders`,
  };
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
    await until("all lines", async () => (await count(hub.searchUrl)) >= expected, { deadlineMs: 60_000 });
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

function byNumber(a: string, b: string): number {
  return Number(a.slice("line ".length)) - Number(b.slice("line ".length));
}
