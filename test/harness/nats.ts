/** A real nats-server with JetStream for tests: own folder, own port, own token, ended with the test process. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-ports.ts";

/** Where packages put the binary; an ordinary user's PATH lacks the sbin folders. */
const BINARIES = ["/usr/local/bin/nats-server", "/usr/local/sbin/nats-server", "/usr/sbin/nats-server"];

/** A server is up within 1 s; a loaded machine and a large store need more. */
const START_TIMEOUT_MS = 60_000;

export interface NatsOptions {
  /** Folder that outlives the server; without it a temporary one that `stop` removes. */
  readonly dataDir?: string;
  /** Without it a free one that nobody takes by chance while the server is away. */
  readonly port?: number;
  /** Upper bound of all streams together, bytes; 1 GiB without it. */
  readonly maxFileBytes?: number;
  /** Returns a configuration in place of the usual one, which must name the place. */
  readonly config?: (place: NatsPlace) => string;
  /** Path of the program; without it the one that `findBinary` finds at each start. */
  readonly program?: string;
}

/** Options of a test's server. */
export interface NatsPlace {
  readonly port: number;
  readonly storeDir: string;
  readonly portsDir: string;
}

export interface TestNats {
  /** nats://127.0.0.1:<port> */
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly dataDir: string;
  /** Process id of the running server. */
  readonly pid: number;
  /** Ends the server and removes a temporary folder. Safe to call twice. */
  stop(): Promise<void>;
  /** Ends the server as a power cut of the process would; its folder stays. */
  kill9(): Promise<void>;
  /** Stops the server from running without ending it (SIGSTOP), for tests of time limits. */
  pause(): void;
  /** Lets a paused server continue. */
  resume(): void;
  /** Starts a killed server on the same folder and port. */
  restart(): Promise<void>;
  /** Copies the store of a killed server to `folder`. */
  copyStore(folder: string): void;
  /** Gives a killed server a copy for its store, or an empty one: what came later is lost. */
  replaceStore(folder: string | null): void;
}

/** Starts a server and resolves when it accepts connections. Throws when there is no binary. */
export async function startNats(options: NatsOptions = {}): Promise<TestNats> {
  const server = new Server(options);
  await server.restart();
  return server;
}

class Server implements TestNats {
  readonly token = randomBytes(12).toString("hex");
  readonly dataDir: string;
  readonly #temporary: boolean;
  readonly #config: (place: NatsPlace) => string;
  readonly #program: string | undefined;
  #port: number;
  #child: ChildProcess | undefined;
  readonly #end = (): void => void this.#child?.kill("SIGKILL");

  constructor(options: NatsOptions) {
    this.#temporary = options.dataDir === undefined;
    this.dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "tailrace-nats-"));
    this.#config = options.config ?? ((place) => this.#usual(place, options.maxFileBytes ?? 1024 ** 3));
    this.#program = options.program;
    this.#port = options.port ?? -1;
    mkdirSync(this.dataDir, { recursive: true });
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async restart(): Promise<void> {
    this.#port = this.#port === -1 ? await freePort() : this.#port;
    const config = join(this.dataDir, "test.conf");
    const ports = mkdtempSync(join(this.dataDir, "ports-"));
    const place = { port: this.#port, storeDir: this.dataDir, portsDir: ports };
    writeFileSync(config, this.#config(place), { mode: 0o600 });
    const program = this.#program ?? findBinary();
    const child = spawn(program, ["-c", config], { stdio: ["ignore", "ignore", "pipe"] });
    let output = "";
    child.stderr.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4_000);
    });
    this.#child = child;
    process.once("exit", this.#end);
    try {
      this.#port = await readPort(child, ports);
    } catch (error) {
      await this.#kill("SIGKILL");
      throw new Error(`nats-server did not start: ${(error as Error).message}\n${output}`);
    } finally {
      rmSync(ports, { recursive: true, force: true });
    }
  }

  async stop(): Promise<void> {
    await this.#kill("SIGTERM");
    if (this.#temporary) rmSync(this.dataDir, { recursive: true, force: true });
  }

  kill9(): Promise<void> {
    return this.#kill("SIGKILL");
  }

  copyStore(folder: string): void {
    rmSync(folder, { recursive: true, force: true });
    cpSync(this.#store, folder, { recursive: true });
  }

  replaceStore(folder: string | null): void {
    rmSync(this.#store, { recursive: true, force: true });
    if (folder !== null) cpSync(folder, this.#store, { recursive: true });
  }

  get #store(): string {
    return join(this.dataDir, "jetstream");
  }

  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  async #kill(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    process.removeListener("exit", this.#end);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "exit");
    child.kill("SIGCONT");
    child.kill(signal);
    await closed;
  }

  #usual({ port, storeDir, portsDir }: NatsPlace, maxFileBytes: number): string {
    return `
host: 127.0.0.1
port: ${port}
ports_file_dir: ${JSON.stringify(portsDir)}
max_payload: 8388608
authorization { token: ${JSON.stringify(this.token)} }
jetstream { store_dir: ${JSON.stringify(storeDir)}, max_mem: 64M, max_file: ${maxFileBytes} }
`;
  }
}

/** Returns the path of nats-server. Throws where there is none. */
export function findBinary(): string {
  const configured = process.env["TAILRACE_NATS_SERVER"];
  const onPath = (process.env["PATH"] ?? "").split(":").map((folder) => join(folder, "nats-server"));
  const found = [...(configured === undefined ? [] : [configured]), ...onPath, ...BINARIES].find(existsSync);
  if (found === undefined) throw new Error("there is no nats-server; run apt-get install nats-server");
  return found;
}

/** Resolves with the port the server wrote to its ports file. */
async function readPort(child: ChildProcess, folder: string): Promise<number> {
  const path = join(folder, `nats-server_${child.pid}.ports`);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`it ended with exit code ${code}`);
  });
  ended.catch(() => undefined);
  const stop = new AbortController();
  const deadline = setTimeout(() => stop.abort(new Error("no ports file in time")), START_TIMEOUT_MS);
  const changes = watch(folder, { signal: stop.signal });
  try {
    for (;;) {
      const port = portIn(path);
      if (port !== undefined) return port;
      await Promise.race([once(changes, "change", { signal: stop.signal }), ended]);
    }
  } finally {
    clearTimeout(deadline);
    stop.abort();
  }
}

function portIn(path: string): number | undefined {
  try {
    const { nats } = JSON.parse(readFileSync(path, "utf8")) as { nats: string[] };
    return Number(new URL(nats[0]!).port);
  } catch {
    return undefined; // not there, or half written
  }
}
