/** The front's end of one run of a host: sends index metadata and documents, and answers the host's calls. */

import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import { decodeIndex, encodeIndex, type IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { DocMessage } from "#hub/cluster/shards/log-follower.ts";
import type { HostAddress } from "#hub/host/contract/calls.ts";
import type { HostReport } from "#hub/host/host.ts";
import type { Channel } from "#hub/host/wire/channel.ts";
import { type CallOptions, type IncomingCall, type Message, Peer } from "#hub/host/wire/peer.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type Logger, writeSentLine } from "#proto/kit/log.ts";
import type { Position } from "#proto/position.ts";
import { DocFeed, type ReadDocs } from "./doc-feed.ts";

/** Log positions that the shards remember. */
export interface KnownPositions {
  /** Of the host. */
  readonly position: Position;
  readonly doc: readonly Position[];
  readonly raw: readonly Position[];
}

/** What the shards need from the log, and where their results go. */
export interface LogServices {
  readonly read: ReadDocs;
  /** See LogFollowerOptions. */
  readonly oldest: () => Promise<Position>;
  readonly reply: (subject: string, data: Uint8Array) => void;
  readonly deadLetter: (message: DocMessage, reason: AppError) => Promise<void>;
  readonly onCommitted: (position: Position) => void;
}

/** The front's index metadata. */
export type FrontCatalog = Pick<IndexCatalog, "all" | "restore" | "onChange" | "catchUp">;

/** Calls an operation of another host, on this hub or another one, on behalf of a host. */
export type AskOther = (
  host: HostAddress,
  operation: string,
  message: Required<Message>,
  signal: AbortSignal,
) => Promise<Required<Message>>;

export interface HostLinkOptions {
  readonly channel: Channel;
  readonly log: Logger;
  readonly onReport: (report: HostReport) => void;
  readonly askOther: AskOther;
  /** See DocFeed. */
  readonly onFewDocuments: () => void;
}

export class HostLink {
  readonly #options: HostLinkOptions;
  readonly #peer: Peer;
  #catalog: FrontCatalog | undefined;
  #services: LogServices | undefined;
  #feed: DocFeed | undefined;

  constructor(options: HostLinkOptions) {
    this.#options = options;
    this.#peer = new Peer(options.channel, {
      answer: (call) => this.#answer(call),
      event: (operation, value, parts) => this.#take(operation, value, parts),
    });
  }

  /** The last message of DOC that was sent to the host. */
  get sent(): Position | undefined {
    return this.#feed?.sent;
  }

  /** See Peer.overdue. */
  get overdue(): Peer["overdue"] {
    return this.#peer.overdue;
  }

  /** Sends all index metadata and opens all shards except those of `absent`, see ShardHostOptions. */
  async open(catalog: FrontCatalog, absent: Iterable<string>): Promise<KnownPositions> {
    this.#catalog = catalog;
    for (const index of catalog.all()) this.indexChanged(index, index.uuid);
    return (await this.#peer.call("open", [...absent])).value as KnownPositions;
  }

  /** Sends the change of an index; undefined: it was deleted. */
  indexChanged(index: IndexMetadata | undefined, uuid: string): void {
    if (index === undefined) this.#peer.notify("indexGone", uuid);
    else this.#peer.notify("index", null, [encodeIndex(index)]);
  }

  /** Makes the host follow the log. */
  async follow(services: LogServices): Promise<void> {
    this.#services = services;
    this.#feed = new DocFeed(this.#peer, services.read, this.#options.onFewDocuments);
    await this.#peer.call("follow", null);
  }

  call(operation: string, value: unknown, options?: CallOptions): Promise<Required<Message>> {
    return this.#peer.call(operation, value, options);
  }

  notify(operation: string, value: unknown): void {
    this.#peer.notify(operation, value);
  }

  /** Makes the host stop following the log and commit. */
  async unfollow(): Promise<void> {
    await this.#peer.call("unfollow", null);
    await this.#feed?.stop();
  }

  /** Called when the host is gone: everything that waits for it fails with `error`. */
  async lost(error: AppError): Promise<void> {
    this.#peer.fail(error);
    await this.#feed?.stop();
  }

  async #answer({ operation, value, parts, signal }: IncomingCall): Promise<Message> {
    if (operation === "ask") {
      const asked = value as {
        readonly host: HostAddress;
        readonly operation: string;
        readonly value: unknown;
      };
      return this.#options.askOther(asked.host, asked.operation, { value: asked.value, parts }, signal);
    }
    if (operation === "restore") return { value: await this.#catalog?.restore(decodeIndex(parts[0]!)) };
    if (operation === "catchUp") {
      const { uuid, mappingVersion } = value as { readonly uuid: string; readonly mappingVersion: number };
      await this.#catalog?.catchUp(uuid, mappingVersion);
      return { value: null };
    }
    if (operation === "oldest") return { value: await this.#services?.oldest() };
    if (operation === "deadLetter") {
      const { position, reason } = value as { readonly position: Position; readonly reason: AppError };
      await this.#services?.deadLetter({ position, data: parts[0]! }, reason);
      return { value: null };
    }
    throw new AppError("internal", `the front has no operation ${operation}`);
  }

  #take(operation: string, value: unknown, parts: readonly Uint8Array[]): void {
    const services = this.#services;
    if (operation === "report") this.#options.onReport(value as HostReport);
    else if (operation === "log") writeSentLine(this.#options.log, value as string);
    else if (operation === "read") this.#feed?.begin(value as Parameters<DocFeed["begin"]>[0]);
    else if (operation === "credit") this.#feed?.credit(value as Parameters<DocFeed["credit"]>[0]);
    else if (operation === "stopReading") this.#feed?.end(value as Parameters<DocFeed["end"]>[0]);
    else if (operation === "reply") services?.reply(value as string, parts[0]!);
    else if (operation === "committed") services?.onCommitted(value as Position);
  }
}
