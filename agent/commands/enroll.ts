/**
 * `enroll URL TOKEN`: makes this machine an agent of a hub. The agent generates its own key pair and sends the public
 * half together with the one-time token; the private half never leaves the machine. Then it waits until a nats-server
 * of the hub accepts the new key, which takes a moment, and reports if it can't be reached from this machine.
 */

import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import { foreignOwner } from "#proto/kit/files/folder-owner.ts";
import type { Finding } from "./check-output.ts";
import { type HubAnswer, HubClient } from "./hub-client.ts";

/** A server that is busy reloads its users within seconds. */
const WAIT_MS = 10_000;
const EVERY_MS = 250;

export interface EnrollOptions {
  /** Address of the hub's dashboard. */
  readonly url: string;
  readonly token: string;
  /** Where the settings are written; keys go beside them. */
  readonly configPath: string;
  /** Name of the agent; empty: the host's. */
  readonly name: string;
  /** SHA-256 of the hub's certificate or of its authority's, hexadecimal; empty: the system's authorities decide. */
  readonly fingerprint: string;
  /** True: existing settings are replaced. */
  readonly force: boolean;
  /** Folder of the registry where the installation has one; else it is beside the settings. */
  readonly dataFolder?: string | undefined;
  /** How the agent's program was called. */
  readonly program: string;
}

/** Answer of the hub. */
interface Enrolment {
  readonly name: string;
  /** UUID of the credential at the hub. */
  readonly agent_id: string;
  readonly servers: readonly string[];
  /** PEM; empty if the system's authorities suffice. */
  readonly ca: string;
}

const PATH = "/api/agents/enroll";
const SECRET_MODE = 0o600;
/** Mode of a service's file: its user must read what root wrote, and never changes it. */
const SERVICE_MODE = 0o640;
/** Beside the settings. */
const DATA_FOLDER = "data";

/** Writes settings, key and authority; returns the text for the terminal. Throws usage_invalid and the hub's refusals. */
export async function enroll(options: EnrollOptions): Promise<string> {
  const config = resolve(options.configPath);
  if (existsSync(config) && !options.force) {
    throw new AppError(
      "usage_invalid",
      `${config} already exists; --force replaces it, --config names another file`,
    );
  }
  const folder = dirname(config);
  const seedFile = join(folder, "agent.nkey");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const pair = nkeys.createUser();
  // Before the token is used up, so that a folder that can't be written costs no token.
  writeFileAtomic(seedFile, `${new TextDecoder().decode(pair.getSeed())}\n`, SECRET_MODE);
  let enrolment: Enrolment;
  try {
    enrolment = await ask(options, pair.getPublicKey());
  } catch (error) {
    rmSync(seedFile, { force: true });
    throw error;
  } finally {
    pair.clear();
  }
  const caFile = enrolment.ca === "" ? null : join(folder, "hub-ca.pem");
  if (caFile !== null) writeFileAtomic(caFile, enrolment.ca, 0o644);
  const dataFolder = dataFolderOf(options);
  writeFileAtomic(config, settingsOf(enrolment, options, { dataFolder, seedFile, caFile }), SECRET_MODE);
  shareWithService(dataFolder, [config, seedFile]);
  return `enrolled as ${enrolment.name}; settings are in ${config}
next: look at shipper.inputs there, then start it:
  ${options.dataFolder === undefined ? `${options.program} -c ${config}` : "sudo systemctl enable --now tailrace-agent"}
`;
}

function dataFolderOf({ dataFolder, configPath }: EnrollOptions): string {
  return dataFolder ?? join(dirname(resolve(configPath)), DATA_FOLDER);
}

/** Where root enrols an agent that is run as a user of its own, that user's group may read the files. */
function shareWithService(dataFolder: string, files: readonly string[]): void {
  const service = foreignOwner(dataFolder);
  if (service === undefined) return;
  for (const file of files) {
    chownSync(file, 0, service.gid);
    chmodSync(file, SERVICE_MODE);
  }
}

async function ask(options: EnrollOptions, publicKey: string): Promise<Enrolment> {
  const client = new HubClient({ url: options.url, fingerprint: options.fingerprint });
  const name = options.name === "" ? hostname() : options.name;
  const known = knownId(dataFolderOf(options));
  const answer = await client.send("POST", PATH, {
    token: options.token,
    name,
    public_key: publicKey,
    ...(known === null ? {} : { agent_id: known }),
  });
  if (answer.status !== 200) throw refusal(options.url, answer);
  const { servers, ca, name: given, agent_id = "" } = answer.body as Partial<Enrolment>;
  if (!Array.isArray(servers) || servers.length === 0 || !servers.every((each) => typeof each === "string")) {
    throw new AppError("unavailable", `${options.url} answers without servers; is it a hub of this version?`);
  }
  const names = { name: typeof given === "string" ? given : name, agent_id };
  return { ...names, servers, ca: typeof ca === "string" ? ca : "" };
}

/** Returns the id of an agent that has run on the data before; null if none has. */
function knownId(folder: string): string | null {
  try {
    const { agentId } = JSON.parse(readFileSync(join(folder, "FORMAT"), "utf8")) as { agentId?: string };
    return agentId ?? null;
  } catch {
    return null;
  }
}

function refusal(url: string, { status, message }: HubAnswer): AppError {
  if (status === 404)
    return new AppError(
      "unavailable",
      `${url} doesn't support enrolment; give the address of the hub's dashboard`,
    );
  return new AppError("forbidden", `the hub at ${url} refuses: ${message || `status ${status}`}`);
}

interface Files {
  readonly dataFolder: string;
  readonly seedFile: string;
  readonly caFile: string | null;
}

/** Returns the text of agent.yml; JSON strings are YAML strings. */
function settingsOf(enrolment: Enrolment, { url }: EnrollOptions, files: Files): string {
  const { host } = new URL(url);
  return `# Made by tailrace-agent enroll. \`tailrace-agent --print-settings\` explains every setting.
name: ${JSON.stringify(enrolment.name)}
${enrolment.agent_id === "" ? "" : `id: ${JSON.stringify(enrolment.agent_id)}\n`}
shipper.inputs:
  - type: log
    id: machine
    paths: ["/var/log/*.log", "/var/log/*/*.log", "/var/log/syslog", "/var/log/messages"]

output.pipeline:
  servers: ${JSON.stringify(enrolment.servers)}
  nkey_seed_file: ${JSON.stringify(files.seedFile)}
${files.caFile === null ? "" : `  tls.ca: ${JSON.stringify(files.caFile)}\n`}
setup.dashboard.host: ${JSON.stringify(url.startsWith("https:") ? url : host)}
path.data: ${JSON.stringify(files.dataFolder)}
`;
}

/**
 * Returns the text for the terminal: empty when a server admits the key. `check` tries every server. A server that can't be
 * reached is not waited for. Throws unavailable where servers were reached and none admits the key in time.
 */
export async function waitForAdmission(
  check: () => Promise<readonly Finding[]>,
  clock: Clock,
): Promise<string> {
  const endMs = clock.monotonic() + WAIT_MS;
  for (;;) {
    const findings = await check();
    if (findings.some(({ ok }) => ok)) return "";
    const refusing = findings.find(({ isReached }) => isReached);
    if (refusing === undefined) {
      const reasons = findings.map(({ target, text }) => `${target}: ${text}`).join("; ");
      return `warning: the agent cannot reach the hub's log from here yet: ${reasons}\n`;
    }
    if (clock.monotonic() >= endMs)
      throw new AppError(
        "unavailable",
        `enrolled, but ${refusing.target} does not accept the key: ${refusing.text}`,
      );
    await clock.sleep(EVERY_MS);
  }
}
