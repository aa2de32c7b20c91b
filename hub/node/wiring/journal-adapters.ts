/**
 * Adapters between the journal and its users: the journal's options, and narrow views of the journal with the interfaces
 * that each part declares.
 */

import { resolve } from "node:path";
import type { DocMessage } from "#hub/cluster/shards/log-follower.ts";
import type { RefusedDocument } from "#hub/cluster/writes/document-sink.ts";
import type { LogPort } from "#hub/cluster/writes/log-port.ts";
import type { RawPort } from "#hub/fleet/fleet.ts";
import type { Journal, JournalOptions } from "#hub/journal/journal.ts";
import type { JournalMessage } from "#hub/journal/reading/reader.ts";
import type { ClusterMember } from "#hub/journal/server/embedded-server.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import type { DeadLetter, RawEntry, RawSource } from "#hub/pipeline/runtime/ports.ts";
import type { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { parseSize } from "#proto/kit/units.ts";
import type { Position } from "#proto/position.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";

/** Returns the journal with the interface of hub/cluster. */
export function logPort(journal: Journal): LogPort {
  return {
    publish: (subject, data, options) => journal.publish(subject, data, options),
    send: (subject, data) => journal.core.publish(subject, data),
    subscribe: (subject, handler) => journal.core.subscribe(subject, handler),
  };
}

/** Returns RAW with the interface of the fleet, which verifies what an agent claims to have sent. */
export function rawPort(journal: Journal): RawPort {
  return {
    incarnation: () => journal.incarnation(RAW_STREAM).incarnation,
    restored: () => journal.restored,
    async message(sequence) {
      const { firstSequence } = await journal.state(RAW_STREAM);
      if (sequence < firstSequence) return "purged";
      const found = await journal.message(RAW_STREAM, sequence);
      if (found !== null) return { id: found.messageId };
      // A server that was paused lacks what others store, and the agent would resend it.
      const settled = await journal.majorityState(RAW_STREAM);
      if (sequence < settled.firstSequence) return "purged";
      const message = await journal.message(RAW_STREAM, sequence);
      return message === null ? "missing" : { id: message.messageId };
    },
  };
}

/** Returns RAW with the interface of the pipeline. */
export function rawSource(journal: Journal): RawSource {
  return {
    async *read({ after, signal }): AsyncIterable<RawEntry> {
      for await (const { position, subject, data } of journal.read(RAW_STREAM, { after, signal })) {
        const [, partition, sender = ""] = subject.split(".", 3);
        yield { position, partition: Number(partition), sender, data };
      }
    },
  };
}

/** Yields the messages of DOC after `after`. */
export function readDocs(
  journal: Journal,
  after: Position,
  signal: AbortSignal,
): AsyncIterable<JournalMessage> {
  return journal.read(DOC_STREAM, { after, signal, ownFromMemory: true });
}

/** Returns the position before the oldest stored message of DOC. */
export async function oldestDoc(journal: Pick<Journal, "majorityState" | "positionOf">): Promise<Position> {
  const { firstSequence } = await journal.majorityState(DOC_STREAM);
  const first = journal.positionOf(DOC_STREAM, firstSequence);
  return { ...first, sequence: first.sequence - 1 };
}

/** Stores an event that the pipeline rejected. */
export function keepPipelineLetter(journal: Journal, letter: DeadLetter): Promise<void> {
  const { rawIncarnation, rawSequence } = letter.origin;
  return journal.deadLetter(
    {
      source: letter.plugin,
      reason: `${letter.reason} (${letter.sourceKey} at ${letter.offset})`,
      origin: { stream: RAW_STREAM, position: { incarnation: rawIncarnation, sequence: rawSequence } },
      data: letter.data,
    },
    letter.offset,
  );
}

/** Stores a document that no index accepts. */
export function keepRefusedDocument(
  journal: Journal,
  { document, origin, error }: RefusedDocument,
): Promise<void> {
  const position = { incarnation: origin.rawIncarnation, sequence: origin.rawSequence };
  return journal.deadLetter(
    {
      source: "index",
      reason: error.message,
      origin: { stream: RAW_STREAM, position },
      data: document.source,
    },
    document.ordinal,
  );
}

/** Stores a message of DOC that no shard can apply. */
export function keepDocMessage(journal: Journal, message: DocMessage, reason: AppError): Promise<void> {
  return journal.deadLetter({
    source: "shard",
    reason: `${reason.message}${reason.detail === undefined ? "" : `: ${reason.detail}`}`,
    origin: { stream: DOC_STREAM, position: message.position },
    data: message.data,
  });
}

interface Given {
  /** Set: the hub's nats-server is a member of the cluster. */
  readonly member: ClusterMember | undefined;
  /** See JournalOptions. */
  readonly bringLog: JournalOptions["bringLog"];
  readonly settings: HubSettings;
  readonly folder: string;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export function journalOptions({ settings, folder, member, bringLog, log, metrics }: Given): JournalOptions {
  const servers = settings["nats.servers"];
  const token = settings["nats.token"];
  const limit = settings["journal.max_bytes"];
  const replicas = settings["nats.replicas"];
  const tls = serverTls(settings);
  return {
    dataDir: folder,
    name: settings["node.name"],
    host: settings["nats.host"] || settings["network.host"],
    port: settings["nats.port"],
    log,
    metrics,
    ...(tls !== undefined && { tls }),
    ...(member !== undefined && { cluster: member }),
    ...(bringLog !== undefined && { bringLog }),
    ...(servers.length > 0 && { external: { servers, ...(token !== "" && { token }) } }),
    ...(limit !== "" && { maxBytes: parseSize(limit) }),
    ...(replicas > 0 && { replicas }),
  };
}

/** Returns the certificate files of the embedded nats-server; undefined without TLS. */
export function serverTls(settings: HubSettings): JournalOptions["tls"] {
  const certificate = settings["tls.certificate"];
  if (certificate === "") return undefined;
  return { certFile: resolve(certificate), keyFile: resolve(settings["tls.key"]) };
}
