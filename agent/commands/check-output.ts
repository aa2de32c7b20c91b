/** `test output`: tries each connection that the output needs, as the agent would, and reports what fails. */

import { connect as openSocket } from "node:net";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, errors } from "@nats-io/transport-node";
import { connectionOptions, explainRefusal } from "#agent/outputs/connection.ts";
import { type AgentSettings, connectionSettings } from "#agent/settings/config.ts";
import { systemReason } from "#proto/kit/system-reason.ts";
import { RAW_STREAM } from "#proto/subjects.ts";
import { HubClient } from "./hub-client.ts";

/** What a target answered. */
export interface Finding {
  readonly target: string;
  readonly ok: boolean;
  /** False if nothing answered at the target's address. */
  readonly isReached: boolean;
  readonly text: string;
}

const TIMEOUT_MS = 5_000;

/** Tries every target of the enabled output. */
export async function checkOutput(settings: AgentSettings): Promise<Finding[]> {
  const { file, output } = settings;
  if (output === "pipeline")
    return Promise.all(file["output.pipeline.servers"].map((server) => checkServer(settings, server)));
  if (output === "search")
    return Promise.all(file["output.search.hosts"].map((host) => checkSearch(settings, host)));
  const target = output === "file" ? (file["output.file.path"] ?? "") : "standard output";
  return [{ target, ok: true, isReached: true, text: "nothing to be reached" }];
}

async function checkServer(settings: AgentSettings, server: string): Promise<Finding> {
  const found = (ok: boolean, text: string): Finding => ({ target: server, ok, isReached: true, text });
  const unreachable = await tryToReach(server, 4222);
  if (unreachable !== null) return { ...found(false, unreachable), isReached: false };
  try {
    const own = { ...connectionSettings(settings.file), servers: [server] };
    const options = { ...connectionOptions(own, settings.agentName), reconnect: false, timeout: TIMEOUT_MS };
    const nats = await connect({ ...options, ignoreAuthErrorAbort: false });
    const { version = "?", tls_required } = nats.info ?? {};
    const secure = tls_required === true ? ", TLS" : "";
    const log = await jetstreamManager(nats, { timeout: TIMEOUT_MS })
      .then((manager) => manager.streams.info(RAW_STREAM))
      .then(() => "the hub's log is there")
      .catch(({ cause }: Error) =>
        cause instanceof errors.PermissionViolationError
          ? "the credential is an agent's: it delivers lines and sees nothing else of the log"
          : "the hub's log doesn't exist yet; start the hub",
      );
    await nats.close();
    return found(true, `connected to nats-server ${version}${secure}; ${log}`);
  } catch (error) {
    return found(false, explainRefusal(error, connectionSettings(settings.file)));
  }
}

async function checkSearch({ file }: AgentSettings, host: string): Promise<Finding> {
  const key = file["output.search.api_key"];
  const user = file["output.search.username"];
  const basic = Buffer.from(`${user ?? ""}:${file["output.search.password"] ?? ""}`).toString("base64");
  const bearer = file["output.search.bearer_token"];
  const authorization =
    key !== undefined
      ? `ApiKey ${key}`
      : bearer !== undefined
        ? `Bearer ${bearer}`
        : user === undefined
          ? ""
          : `Basic ${basic}`;
  try {
    const hub = new HubClient({ url: host, caFile: file["output.search.tls.ca"], authorization });
    const { status, body, message } = await hub.send("GET", "/");
    const version = (body as { version?: { number?: string } } | null)?.version?.number;
    if (status === 200 && version !== undefined)
      return { target: host, ok: true, isReached: true, text: `can be reached, search engine ${version}` };
    return {
      target: host,
      ok: false,
      isReached: true,
      text: `answers ${status}: ${message || "no search engine"}`,
    };
  } catch (error) {
    return { target: host, ok: false, isReached: false, text: (error as Error).message };
  }
}

/** Returns why nothing answers at host:port of `target`, or null. */
function tryToReach(target: string, defaultPort: number): Promise<string | null> {
  const url = new URL(target.includes("://") ? target : `tcp://${target}`);
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const socket = openSocket({
    host: url.hostname,
    port: Number(url.port || defaultPort),
    timeout: TIMEOUT_MS,
  });
  const end = (problem: string | null): void => {
    socket.destroy();
    resolve(problem);
  };
  socket.once("connect", () => end(null));
  socket.once("timeout", () => end(`no answer within ${TIMEOUT_MS} ms`));
  socket.once("error", (error) =>
    end(`${systemReason(error)}; is the hub running, and does its nats-server listen for this machine?`),
  );
  return promise;
}
