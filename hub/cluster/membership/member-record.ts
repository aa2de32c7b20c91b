/** The record by which a hub is a member of the cluster: key `node.<id>` of the bucket `nodes`, JSON. */

import { AppError } from "#proto/kit/errors.ts";
import type { Position } from "#proto/position.ts";

/** Bucket with the members, the table of partitions and the duties' lease. */
export const MEMBERS_BUCKET = "nodes";
/** Prefix of the members' keys. */
export const MEMBER_PREFIX = "node.";

/**
 * Time for which a renewal keeps a member. `Membership` renews RENEWALS (`lease.ts`) times in it, every 2 s. A dead hub is
 * replaced after EXPIRY_FACTOR (`lease.ts`) times as long, as `MemberDirectory.isStill` measures and `PartitionAllocator.sweep`
 * acts on; its lines are searchable within 15 s. JetStream may take up to 9 s to elect a leader: no member can renew then,
 * nor be marked as lost.
 */
export const MEMBER_LEASE_MS = 8_000;

/** What a hub publishes about itself; constant while it runs. */
export interface MemberFacts {
  /** 22 characters base64url; stored in the data folder. */
  readonly id: string;
  /** node.name */
  readonly name: string;
  /** Version of the program. */
  readonly version: string;
  /** Address of the node: transport.host. */
  readonly host: string;
  readonly transportAddress: string;
  /** Settings below `node.attr`. */
  readonly attributes: Readonly<Record<string, string>>;
  /** ms since 1970. */
  readonly startedMs: number;
  /** Number of its shard threads, which other hubs may call. Hubs of earlier versions don't publish it: they can't be called. */
  readonly threads?: number;
  /** True: it has the copies that the table assigns to it. Else, like hubs of earlier versions, it has one of every shard. */
  readonly places?: boolean;
  /** True: it reads messages of DOC whose documents are blocks. Hubs of earlier versions don't publish it. */
  readonly readsBlocks?: boolean;
}

/** What changes while a hub runs; read at each renewal. */
export interface MemberProgress {
  /** host:port of the search interface. */
  readonly httpAddress: string;
  /** Address at which it takes links, see hub/cluster/links. Missing: it has none, as hubs of earlier versions. */
  readonly linkAddress?: { readonly host: string; readonly port: number };
  /** Position in DOC up to which all of the hub's copies are committed. */
  readonly doc: Position | null;
  /** Position in RAW up to which all of its partitions are processed and in committed segments; null: not known yet. */
  readonly raw: Position | null;
  /** True: a filter of its pipelines keeps events of several files, so that one hub must process all partitions. */
  readonly needsAllPartitions: boolean;
}

export interface MemberRecord extends MemberFacts, MemberProgress {
  /** New each time the hub joins: it no longer owns what it owned in an earlier session. */
  readonly session: string;
  /** Random name of the process, which distinguishes a restart from a copied data folder. */
  readonly process: string;
  /** `lost`: another member found that it doesn't renew, and took over its work. */
  readonly state: "live" | "lost";
  /** When it was found lost, ms since 1970. */
  readonly lostMs?: number;
  readonly durationMs: number;
  /** False while the hub starts or stops: it gets no partitions. Hubs of earlier versions don't publish it. */
  readonly accepting?: boolean;
  /** Epoch of the newest table of partitions by which the hub has released everything that it lost. */
  readonly adopted: number;
  /** Epoch of the newest table of partitions by which the hub works. */
  readonly active: number;
}

/** Returns the record of a hub whose own can't be read, and never could: it may run, and have what the log has for it. */
export function unreadMember(id: string): MemberRecord {
  return {
    id,
    name: id,
    version: "",
    host: "",
    transportAddress: "",
    attributes: {},
    startedMs: 0,
    httpAddress: "",
    doc: null,
    raw: null,
    needsAllPartitions: false,
    session: "",
    process: "",
    state: "live",
    durationMs: MEMBER_LEASE_MS,
    accepting: false,
    adopted: 0,
    active: 0,
  };
}

/** Returns whether a record is one of `unreadMember`. */
export function isUnread({ session }: MemberRecord): boolean {
  return session === "";
}

/** Returns whether partitions are assigned to a member. */
export function takesPartitions({ state, accepting }: MemberRecord): boolean {
  return state === "live" && accepting !== false;
}

export function memberKey(id: string): string {
  return MEMBER_PREFIX + id;
}

export function encodeMember(record: MemberRecord): Uint8Array {
  return Buffer.from(JSON.stringify({ v: 1, ...record }));
}

/** Returns a stored record; undefined for none, and for one that can't be read. */
export function readMember(entry: { readonly value: Uint8Array } | null): MemberRecord | undefined {
  try {
    return entry === null ? undefined : decodeMember(entry.value);
  } catch {
    return undefined;
  }
}

/**
 * Returns a stored record. Throws data_corrupt for a value without what each version has stored. Without a duration, a hub that
 * stops would never be missed: it is the usual one then.
 */
export function decodeMember(value: Uint8Array): MemberRecord {
  let stored: Partial<MemberRecord> | null = null;
  try {
    stored = JSON.parse(Buffer.from(value).toString()) as Partial<MemberRecord> | null;
  } catch (cause) {
    throw new AppError("data_corrupt", "the record of a hub isn't JSON", { cause });
  }
  const { id, name, session, state } = stored ?? {};
  // The session of a hub whose record could never be read is empty, see `unreadMember`.
  const isRecord =
    [id, name, session].every((each) => typeof each === "string") && (state === "live" || state === "lost");
  if (!isRecord) throw new AppError("data_corrupt", "the record of a hub has no id, name, session or state");
  const { durationMs = MEMBER_LEASE_MS } = stored ?? {};
  return { ...(stored as MemberRecord), durationMs: durationMs > 0 ? durationMs : MEMBER_LEASE_MS };
}
