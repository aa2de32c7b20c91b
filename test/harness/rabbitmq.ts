/** A RabbitMQ server of its own for a test: own name, ports and folder, and its own epmd, which ends with it. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "./free-ports.ts";

const [SERVER] = globSync("/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server");
const EPMD = ["/usr/bin/epmd", "/usr/local/bin/epmd"].find((path) => existsSync(path));

/** Why there can be no server here; false where there can. */
export const noRabbitmq: string | false =
  SERVER === undefined || EPMD === undefined ? "rabbitmq-server isn't installed" : false;

export interface RabbitmqServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a server that listens on loopback only, and resolves when it takes connections. */
export async function startRabbitmq(): Promise<RabbitmqServer> {
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-"));
  const [port, distributionPort, epmdPort] = await freePorts(3);
  writeFileSync(join(folder, "plugins"), "[].\n");
  writeFileSync(
    join(folder, "rabbitmq.conf"),
    `listeners.tcp.local = 127.0.0.1:${port}\nlog.console = true\nlog.console.level = info\nlog.file = false\n`,
  );
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    LC_ALL: "C.UTF-8",
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: "127.0.0.1",
    RABBITMQ_NODENAME: `test${port}@localhost`,
    RABBITMQ_DIST_PORT: String(distributionPort),
    RABBITMQ_MNESIA_BASE: folder,
    RABBITMQ_LOG_BASE: folder,
    RABBITMQ_CONFIG_FILE: join(folder, "rabbitmq.conf"),
    RABBITMQ_CONF_ENV_FILE: join(folder, "none"),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "plugins"),
    RABBITMQ_GENERATED_CONFIG_DIR: folder,
    RABBITMQ_SCHEMA_DIR: join(folder, "schema"),
    // One scheduler each: the machine has better things to do than to spin.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none",
  };
  const epmd = spawn(EPMD!, ["-port", String(epmdPort), "-address", "127.0.0.1"], { stdio: "ignore", env });
  const server = spawn(SERVER!, [], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  await startedUp(server);
  server.stdout?.resume();
  server.stderr?.resume();
  return {
    port: port!,
    async stop() {
      for (const child of [server, epmd]) await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startedUp(server: ChildProcess): Promise<void> {
  let said = "";
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const hear = (chunk: Buffer): void => {
    said += String(chunk);
    if (/completed with \d+ plugins/.test(said)) resolve();
  };
  server.stdout?.on("data", hear);
  server.stderr?.on("data", hear);
  server.once("exit", () => reject(new Error(`rabbitmq-server ended: ${said.slice(-2000)}`)));
  await promise;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  await once(child, "exit");
  clearTimeout(timer);
}
