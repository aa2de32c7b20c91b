/** The processes of `npm start`: hub first, then agent; stopped in reverse order. */

import { type ChildProcess, spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Sources } from "./sources.ts";
import { say } from "./terminal.ts";

export interface HubReady {
  readonly http: string;
  readonly dashboard: string;
  readonly nats: string;
  readonly token_file: string;
  /** Where people find both. */
  readonly shown: { readonly http: string; readonly dashboard: string };
  /** PEM file of the certificate that the hub shows; empty where it does no TLS. */
  readonly certificate: string;
}

export interface AgentReady {
  readonly status_port: number;
}

/** Where a hub listens that has no settings; a second one meets it there. */
const USUAL_HEALTH = "http://127.0.0.1:5601/health";
/** Default address of an agent's status. */
const AGENT_STATUS_PORT = 5066;
const HEALTH_TIMEOUT_MS = 1_000;

export class Stack {
  readonly #checkout: string;
  readonly #data: string;
  #hub: ChildProcess | undefined;
  #agent: ChildProcess | undefined;
  #stopping: Promise<void> | undefined;
  readonly #ended = Promise.withResolvers<void>();

  constructor(checkout: string, data: string) {
    this.#checkout = checkout;
    this.#data = data;
  }

  /** Resolves when everything has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get stopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Resolves when the hub works; with undefined where it ended or was stopped before. */
  async startHub(): Promise<HubReady | undefined> {
    this.#hub = this.#spawn("hub", ["-E", `path.data=${join(this.#data, "hub")}`]);
    const ready = await readiness<HubReady>(this.#hub);
    if (ready === undefined && !this.stopping && (await isHealthy()))
      say(
        `another Tailrace runs at ${new URL(USUAL_HEALTH).origin}; a second one needs a TAILRACE_DATA of its own and, in its hub.yml, ports of its own: nats.port, http.port, transport.port, dashboard.port`,
      );
    return ready;
  }

  /** Resolves when the agent reads; with undefined where it ended or was stopped before. */
  async startAgent(hub: HubReady, { paths, journal }: Sources): Promise<AgentReady | undefined> {
    const inputs: object[] = [];
    if (paths.length > 0) inputs.push({ type: "log", id: "start", paths, scan_frequency: "1s" });
    if (journal) inputs.push({ type: "journald", id: "journal" });
    const settings = {
      "shipper.inputs": JSON.stringify(inputs),
      "output.pipeline.servers": JSON.stringify([hub.nats]),
      "output.pipeline.token_file": hub.token_file,
      ...(isSelfSigned(hub.certificate) && { "output.pipeline.tls.ca": hub.certificate }),
      "path.data": join(this.#data, "agent"),
      "status.port": String((await isFree(AGENT_STATUS_PORT)) ? AGENT_STATUS_PORT : 0),
    };
    this.#agent = this.#spawn(
      "agent",
      Object.entries(settings).flatMap(([key, value]) => ["-E", `${key}=${value}`]),
    );
    return readiness<AgentReady>(this.#agent);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    const running = [this.#agent, this.#hub].filter((child) => child !== undefined && !hasEnded(child));
    if (running.length > 0) say("stopping …");
    for (const child of running) await end(child!);
    if (running.length > 0) say("stopped; everything read so far is kept");
    this.#ended.resolve();
  }

  #spawn(name: string, args: readonly string[]): ChildProcess {
    const settings = join(this.#data, `${name}.yml`);
    if (!existsSync(settings))
      writeFileSync(
        settings,
        `# Settings for npm start; tailrace-${name} --print-settings explains all of them.\n`,
        {
          mode: 0o640,
        },
      );
    const child = spawn(
      join(this.#checkout, name, "bin", `tailrace-${name}`),
      ["run", "-c", settings, ...args, "--ready-json"],
      { stdio: ["ignore", "pipe", "inherit"], detached: true },
    );
    child.on("exit", (code) => {
      if (this.stopping) return;
      process.exitCode = code ?? 1;
      say(`the ${name} ended (status ${code}); its reason stands above`);
      void this.stop();
    });
    return child;
  }
}

/** Resolves with the message of a process that is ready, or with undefined where it ends before. */
function readiness<Ready>(child: ChildProcess): Promise<Ready | undefined> {
  const { promise, resolve } = Promise.withResolvers<Ready | undefined>();
  const lines = createInterface({ input: child.stdout! });
  lines.on("line", (line) => {
    if (line.startsWith('{"ready":true')) resolve(JSON.parse(line) as Ready);
    // What a person must see, such as the link that makes the first administrator.
    else say(line.trim());
  });
  lines.once("close", () => resolve(undefined));
  return promise;
}

/** Others are known by the system's authorities. */
function isSelfSigned(path: string): boolean {
  if (path === "") return false;
  const certificate = new X509Certificate(readFileSync(path));
  return certificate.checkIssued(certificate);
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function end(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await exited;
}

async function isHealthy(): Promise<boolean> {
  try {
    await fetch(USUAL_HEALTH, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    return true;
  } catch {
    return false;
  }
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once("error", () => resolve(false));
  server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  return promise;
}
