/** The stores that `--with` names, each by the address of a running one or by the path of a program to start. */

import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { didYouMean } from "#proto/kit/nearest.ts";
import { Child } from "#test/harness/child.ts";
import { freePorts } from "#test/harness/free-ports.ts";
import { startHub } from "#test/harness/hub.ts";
import { until } from "#test/harness/until.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import { UsageError } from "../benchmark.ts";
import { clickHouse, versionOf } from "./clickhouse.ts";
import { pidsListeningAt } from "./listening.ts";
import { identify, searchInterface } from "./search-interface.ts";
import type { Store } from "./store.ts";
import { victoriaLogs } from "./victorialogs.ts";

/** What `--with` names: a kind, and its address or program. */
export interface Peer {
  readonly kind: PeerKind;
  readonly at: string;
}

const KINDS = ["elasticsearch", "victorialogs", "clickhouse", "filebeat"] as const;
export type PeerKind = (typeof KINDS)[number];

/** The kinds that can be started: of the others the address is wanted. */
const PROGRAMS: readonly PeerKind[] = ["victorialogs", "filebeat"];
const nothing = async (): Promise<void> => undefined;

/** Reads "elasticsearch=http://127.0.0.1:9200,filebeat=/usr/bin/filebeat". Throws where a part can't be used. */
export function parsePeers(text: string): Peer[] {
  return text
    .split(",")
    .filter((part) => part.trim() !== "")
    .map((part) => parsePeer(part.trim()));
}

function parsePeer(part: string): Peer {
  const [kind = "", ...rest] = part.split("=");
  const at = rest.join("=");
  if (!isKind(kind)) {
    throw new UsageError(
      `--with: "${kind}" isn't known${didYouMean(kind, KINDS)}; there are ${KINDS.join(", ")}`,
    );
  }
  if (at === "") throw new UsageError(`--with ${kind}: write ${kind}=${exampleOf(kind)}`);
  if (!isAddress(at) && !PROGRAMS.includes(kind)) {
    throw new UsageError(`--with ${kind}: start it and write its address: ${kind}=${exampleOf(kind)}`);
  }
  if (isAddress(at) && kind === "filebeat") {
    throw new UsageError(`--with filebeat: write the path of the program: filebeat=${exampleOf(kind)}`);
  }
  return { kind, at };
}

function isKind(text: string): text is PeerKind {
  return (KINDS as readonly string[]).includes(text);
}

const isAddress = (at: string): boolean => /^https?:\/\//.test(at);
const exampleOf = (kind: PeerKind): string =>
  kind === "filebeat" ? "/usr/share/filebeat/bin/filebeat" : "http://127.0.0.1:PORT";

/** A hub of this checkout with data of its own. */
export async function startTailrace(workspace: Workspace, version: string): Promise<Store> {
  const hub = await startHub({ dataDir: workspace.path("peers", "tailrace") });
  const { major } = await identify(hub.searchUrl);
  return searchInterface({
    name: `Tailrace ${version}`,
    url: hub.searchUrl,
    major,
    pids: () => [hub.pid, ...hub.natsPids()],
    // All that it keeps, the log as well.
    diskBytes: () => bytesBelow(join(hub.dataDir)),
    close: () => hub.destroy(),
  });
}

/** Opens a store at its address, or starts it. Throws where nothing answers there. */
export async function openStore(workspace: Workspace, { kind, at }: Peer): Promise<Store> {
  const url = at.replace(/\/$/, "");
  const pids = pidsOnce(url);
  switch (kind) {
    case "elasticsearch": {
      const { version, major } = await identify(url);
      return searchInterface({ name: `Elasticsearch ${version}`, url, major, pids, close: nothing });
    }
    case "clickhouse": {
      return clickHouse({ name: `ClickHouse ${await versionOf(url)}`, url, pids, close: nothing });
    }
    case "victorialogs": {
      if (isAddress(at)) return victoriaLogs({ name: "VictoriaLogs", url, pids, close: nothing });
      return await startVictoriaLogs(workspace, at);
    }
    case "filebeat":
      throw new Error("filebeat is a shipper, not a store");
  }
}

/** A store's processes don't change while it is measured. */
function pidsOnce(url: string): () => readonly number[] {
  let found: readonly number[] | undefined;
  return () => (found ??= pidsListeningAt(Number(new URL(url).port)));
}

async function startVictoriaLogs(workspace: Workspace, command: string): Promise<Store> {
  const [port] = await freePorts(1);
  const child = new Child({
    name: "victorialogs",
    command,
    args: [
      `-storageDataPath=${workspace.path("peers", "victorialogs")}`,
      `-httpListenAddr=127.0.0.1:${port}`,
      // The corpus has a day of its own, which is older than the seven days that are kept otherwise.
      "-retentionPeriod=100y",
    ],
    logFile: workspace.path("peers", "victorialogs.log"),
  });
  const url = `http://127.0.0.1:${port}`;
  await until("VictoriaLogs answers", async () => (await fetch(`${url}/health`)).ok);
  const close = async (): Promise<void> => void (await child.end("SIGTERM"));
  return victoriaLogs({ name: "VictoriaLogs", url, pids: () => [child.pid], close });
}

function bytesBelow(folder: string): number {
  return globSync("**/*", { cwd: folder })
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false }))
    .reduce((sum, found) => sum + (found?.isFile() === true ? found.size : 0), 0);
}
