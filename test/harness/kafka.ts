/** A Kafka broker of its own for a test, from the jars of an unpacked release that KAFKA_HOME names. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "#test/harness/free-ports.ts";
import { until } from "./until.ts";

const LIBRARIES = join(process.env["KAFKA_HOME"] ?? "/opt/kafka", "libs");

/** Why there can be no broker here; false where there can. */
export const noKafka: string | false = existsSync(LIBRARIES)
  ? false
  : "there is no Kafka: KAFKA_HOME names no unpacked release";

/** Any 16 bytes. */
const CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk";

export interface KafkaBroker {
  /** host:port */
  readonly address: string;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
  /** Starts it again, with what it has on disk. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startKafka(): Promise<KafkaBroker> {
  const folder = mkdtempSync(join(tmpdir(), "kafka-"));
  const [port, controller] = [await freePort(), await freePort()];
  const settings = join(folder, "server.properties");
  writeFileSync(settings, properties(folder, port, controller));
  const java = (main: string, ...args: string[]): string[] =>
    ["-Xmx256m", "-XX:+UseSerialGC", "-cp", `${LIBRARIES}/*`, main].concat(args);
  const format = java("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", settings);
  execFileSync("java", format, { stdio: "ignore" });
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    server = spawn("java", java("kafka.Kafka", settings), { stdio: ["ignore", "ignore", "ignore"] });
    await listening(port);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill(signal);
    await once(server, "exit");
  };
  await start();
  return {
    address: `127.0.0.1:${port}`,
    kill: () => end("SIGKILL"),
    restart: start,
    async stop() {
      await end("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function properties(folder: string, port: number, controller: number): string {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controller}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=${folder}/logs
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
num.partitions=3
`;
}

/** Resolves when a broker answers at the port: it listens only when it is ready. */
async function listening(port: number): Promise<void> {
  const isThere = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1");
      const end = (answer: boolean): void => {
        socket.destroy();
        resolve(answer);
      };
      socket.once("connect", () => end(true));
      socket.once("error", () => end(false));
    });
  await until("Kafka listens", isThere, { deadlineMs: 60_000, everyMs: 100 });
}
