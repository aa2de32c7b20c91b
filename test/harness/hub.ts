/** A hub as a process of its own, on free ports, with its own nats-server. */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Child, hubHasSetting, programUnderTest } from "./child.ts";
import { freePorts } from "./free-ports.ts";
import { findProcesses } from "./processes.ts";
import { keepSecret } from "./secrets.ts";
import { until } from "./until.ts";

/** The program under test. */
export const LAUNCHER = programUnderTest("hub");
/** A hub that reads a log on after a kill may take long on a busy machine. */
const READY_MS = 180_000;
const STOP_MS = 60_000;

export type Settings = Readonly<Record<string, unknown>>;

export interface HubOptions {
  /** Dotted keys of hub.yml. */
  readonly settings?: Settings;
  /** Beside that of the test. */
  readonly env?: NodeJS.ProcessEnv;
  /** Outlives the hub; the caller removes it. */
  readonly dataDir: string;
  /** Its output; beside the data without it. */
  readonly logFile?: string;
}

/** What a hub prints when it is ready. */
interface Addresses {
  readonly http: string;
  readonly dashboard: string;
  readonly nats: string;
  readonly token_file: string;
}

/** A hub; each start keeps data and ports. */
export class TestHub {
  readonly dataDir: string;
  readonly logFile: string;
  /** The program, from the next start on. */
  launcher = LAUNCHER;
  readonly #settings: Settings;
  readonly #env: NodeJS.ProcessEnv;
  #child: Child | undefined;
  #addresses: Addresses | undefined;

  constructor({ settings = {}, env = {}, dataDir, logFile }: HubOptions) {
    this.dataDir = dataDir;
    this.logFile = logFile ?? join(dirname(dataDir), "hub.log");
    this.#settings = settings;
    this.#env = env;
  }

  /** The search interface. */
  get searchUrl(): string {
    return this.#address("http");
  }

  /** Dashboard and hub interface. */
  get dashboardUrl(): string {
    return this.#address("dashboard");
  }

  get natsUrl(): string {
    return this.#address("nats");
  }

  /** File that holds the token agents of this machine connect with. */
  get tokenFile(): string {
    return this.#address("token_file");
  }

  get token(): string {
    return readFileSync(this.tokenFile, "utf8").trim();
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** True until it is told to stop or ends by itself. */
  get running(): boolean {
    return this.#child?.running ?? false;
  }

  /** Starts it and resolves when it is ready. */
  async start(): Promise<void> {
    const settings = {
      ...(await this.#freePorts()),
      ...ONE_THREAD,
      ...this.#settings,
      ...this.#samePorts(),
      "path.data": this.dataDir,
    };
    const overrides = Object.entries(settings).flatMap(([key, value]) => [
      "-E",
      `${key}=${JSON.stringify(value)}`,
    ]);
    this.#child = new Child({
      name: "hub",
      command: this.launcher,
      args: ["run", ...overrides, "--ready-json"],
      logFile: this.logFile,
      cwd: dirname(this.dataDir),
      env: this.#env,
    });
    this.#addresses = (await this.#child.ready(READY_MS)) as unknown as Addresses;
    if (this.tokenFile !== "") keepSecret(this.token);
  }

  /** Stops it as an operator would. Throws unless it ends with status 0. */
  async stop(): Promise<void> {
    const status = await this.#child?.end("SIGTERM", STOP_MS);
    if (status !== 0 && status !== undefined) {
      throw new Error(`the hub ended with ${status}; its log ends:\n${this.#child?.logTail()}`);
    }
  }

  /** Ends it at once; its nats-server lives on as an orphan. */
  async kill9(): Promise<void> {
    await this.#child?.end("SIGKILL");
  }

  /** Sends a signal and waits for nothing: SIGSTOP, SIGCONT. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal);
  }

  /** Pids of the nats-servers that work on this hub's data. */
  natsPids(): number[] {
    return findProcesses("nats-server", this.dataDir);
  }

  /** Ends the hub's nats-server at once and resolves when another one runs. */
  async killNats(): Promise<void> {
    const before = this.natsPids();
    for (const pid of before) kill(pid);
    await until("a new nats-server", () => this.natsPids().some((pid) => !before.includes(pid)));
  }

  /** Ends whatever of it still runs. Safe to call at any time. */
  async destroy(): Promise<void> {
    await this.kill9();
    for (const pid of this.natsPids()) kill(pid);
    await until("the end of all nats-servers", () => this.natsPids().length === 0);
  }

  /**
   * Ports for the first start. Those that the system would choose may be taken by any connection while the hub is away, and a
   * later start wants them again.
   */
  async #freePorts(): Promise<Settings> {
    if (this.#addresses !== undefined) return { "transport.port": 0 };
    const [http, dashboard, nats] = await freePorts(3);
    return { "http.port": http, "dashboard.port": dashboard, "nats.port": nats, "transport.port": 0 };
  }

  /** After the first start its ports are settings, so that agents and pages find it again. */
  #samePorts(): Settings {
    if (this.#addresses === undefined) return {};
    const { http, dashboard, nats } = this.#addresses;
    const ownNats = nats.includes(",") ? {} : { "nats.port": nats }; // several addresses are of other servers
    const ports = { "http.port": http, "dashboard.port": dashboard, ...ownNats };
    return Object.fromEntries(Object.entries(ports).map(([key, url]) => [key, Number(new URL(url).port)]));
  }

  #address(name: keyof Addresses): string {
    const address = this.#addresses?.[name];
    if (address === undefined) throw new Error("the hub has not been started");
    return address;
  }
}

/** The same on every machine; tests of several threads set their number. Older hubs have one thread. */
const ONE_THREAD: Settings = hubHasSetting("hub.threads") ? { "hub.threads": 1 } : {};

/** Starts a hub and resolves when it is ready. */
export async function startHub(options: HubOptions): Promise<TestHub> {
  const hub = new TestHub(options);
  await hub.start();
  return hub;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself in the meantime.
  }
}
