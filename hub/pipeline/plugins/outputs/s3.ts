/**
 * Output s3: events as objects of lines in a bucket, by time. An object's name says which events of a source it holds, so that
 * events that come once more after a crash are known by the names that are there.
 */

import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Static } from "typebox";
import { RECORDS_PER_OFFSET } from "#hub/pipeline/batch/packed-records.ts";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import {
  defineOutput,
  type OutputContext,
  type OutputRecord,
  type OutputWriter,
  type WriteRest,
  type WriterContext,
} from "#hub/pipeline/plugins/output.ts";
import { compileFormat } from "#proto/format.ts";
import { oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { DEFAULT_S3_REGION, S3Bucket } from "#proto/kit/s3-bucket.ts";
import { Type } from "#proto/kit/schema.ts";

const compress = promisify(gzip);

/** Longest key of an object, bytes; S3's own limit. */
const MAX_KEY = 1_024;
/** What a name adds to the prefix. */
const NAME_LENGTH = 80;
/** Digits of a place in a name: names sort as their places do. */
const PLACE_DIGITS = 16;
/** Prefixes and sources whose last object is remembered; of others the names are listed. */
const MAX_KNOWN = 10_000;
/** The runtime tries again for longer. */
const RETRIES = 2;

const WRITES = "each write is an object of its own, which is there before the log moves on";

const OPTIONS = options({
  bucket: text("name of the bucket"),
  prefix: text("what the names of objects begin with, a format", "%{+yyyy/MM/dd/HH}/"),
  codec: codecOption("how an event is written", "json_lines"),
  encoding: oneOf(["none", "gzip"], "how objects are packed; gzip adds .gz to their names", "gzip"),
  region: text("region of the bucket", DEFAULT_S3_REGION),
  endpoint: optional(text("address of a server other than Amazon's, such as https://minio.example:9000")),
  access_key_id: optional(text("access key; without it AWS_ACCESS_KEY_ID of the environment")),
  secret_access_key: optional(text("its secret; without it AWS_SECRET_ACCESS_KEY of the environment")),
  session_token: optional(text("token of temporary credentials")),
  size_file: withoutEffect(WRITES, Type.Number({ default: 5_242_880 })),
  time_file: withoutEffect(WRITES, Type.Number({ default: 15 })),
  rotation_strategy: withoutEffect(WRITES, Type.String({ default: "size_and_time" })),
  temporary_directory: withoutEffect("nothing is kept on the disk", Type.String({ default: "" })),
  restore: withoutEffect("nothing is kept on the disk", Type.Boolean({ default: true })),
  id: optional(text("name of this output in metrics and messages")),
});

type Options = Static<typeof OPTIONS>;

export const s3Output = defineOutput({
  name: "s3",
  description: "stores events as objects of lines in a bucket, by time, each event once",
  options: OPTIONS,
  create(values, context) {
    checkOptions(values, context);
    const encoder = context.codec(values.codec);
    const prefix = compileFormat(values.prefix);
    return {
      shape(event) {
        const target = prefix(event).replace(/^\/+/, "");
        if (Buffer.byteLength(target) > MAX_KEY - NAME_LENGTH)
          return { refused: `the prefix of its object has more than ${MAX_KEY - NAME_LENGTH} bytes` };
        return { target, body: encoder.encode(event) };
      },
    };
  },
  writer: (values, context) => new S3Writer(values, context),
});

function checkOptions(
  { bucket, endpoint, access_key_id: key, secret_access_key: secret }: Options,
  { report }: OutputContext,
): void {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    report(
      "error",
      "bucket",
      `"${bucket}" can't be the name of a bucket`,
      "use lower-case letters, digits, - and .",
    );
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)))
    report(
      "error",
      "endpoint",
      `"${endpoint}" is no address of HTTP`,
      'write: endpoint => "https://host:port"',
    );
  if ((key === undefined) !== (secret === undefined))
    report(
      "error",
      "access_key_id",
      "access_key_id and secret_access_key go together",
      "give both, or neither",
    );
}

class S3Writer implements OutputWriter {
  readonly parallel = 1;
  readonly #values: Options;
  readonly #context: WriterContext;
  /** Last place that was there before this writer's first object, by prefix and source. */
  readonly #before = new Map<string, number>();
  /** Ids of records that are stored, of a write that has failed since. */
  readonly #done = new Set<string>();
  #bucket: S3Bucket | undefined;

  constructor(values: Options, context: WriterContext) {
    this.#values = values;
    this.#context = context;
  }

  async write(records: readonly OutputRecord[], signal: AbortSignal): Promise<WriteRest | undefined> {
    this.#bucket ??= this.#open();
    const groups = Map.groupBy(records, ({ target, sourceKey }) => `${target}${this.#sourceName(sourceKey)}`);
    for (const [name, group] of groups) await this.#store(this.#bucket, name, group, signal);
    this.#done.clear();
    return undefined;
  }

  async stop(): Promise<void> {
    this.#before.clear();
  }

  /** Throws settings_invalid, forbidden. */
  #open(): S3Bucket {
    const {
      bucket,
      region,
      endpoint,
      access_key_id: key,
      secret_access_key: secret,
      session_token: token,
    } = this.#values;
    const { env } = process;
    this.#context.checkTarget(new URL(endpoint ?? `https://s3.${region}.amazonaws.com`).hostname);
    return new S3Bucket({
      bucket,
      prefix: "",
      region,
      endpoint,
      accessKeyId: key ?? env["AWS_ACCESS_KEY_ID"] ?? "",
      secretAccessKey: secret ?? env["AWS_SECRET_ACCESS_KEY"] ?? "",
      sessionToken: token ?? (key === undefined ? env["AWS_SESSION_TOKEN"] : undefined),
      retries: RETRIES,
    });
  }

  /** Stores the records of one prefix and source that no object holds yet. */
  async #store(
    bucket: S3Bucket,
    name: string,
    records: readonly OutputRecord[],
    signal: AbortSignal,
  ): Promise<void> {
    const before = await this.#placeBefore(bucket, name, records[0]!, signal);
    const fresh = records.filter(({ id, place }) => place > before && !this.#done.has(id));
    if (fresh.length === 0) return;
    const bytes = Buffer.concat(fresh.map(({ body }) => body));
    const isPacked = this.#values.encoding === "gzip";
    const key = `${name}${rangeName(fresh)}.ndjson${isPacked ? ".gz" : ""}`;
    await bucket.put(key, isPacked ? await compress(bytes) : bytes, signal);
    for (const { id } of fresh) this.#done.add(id);
  }

  async #placeBefore(
    bucket: S3Bucket,
    name: string,
    { sourceKey }: OutputRecord,
    signal: AbortSignal,
  ): Promise<number> {
    // Places of events whose source can't be told don't grow.
    if (sourceKey === "") return -1;
    const known = this.#before.get(name);
    if (known !== undefined) return known;
    const before = await lastPlace(bucket, name, signal);
    if (this.#before.size >= MAX_KNOWN) this.#before.clear();
    this.#before.set(name, before);
    return before;
  }

  /** The first characters of a hash: names of sources are long and hold any letter. */
  #sourceName(sourceKey: string): string {
    return `${hashOf(`${this.#context.id}/${sourceKey}`)}-`;
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Places of the first and the last record, and what is the same for the same records. */
function rangeName(records: readonly OutputRecord[]): string {
  const [first, last] = [records[0]!, records.at(-1)!];
  const ids = hashOf(records.map(({ id }) => id).join("/"));
  return first.sourceKey === "" ? ids : `${placeName(first.place)}-${placeName(last.place)}-${ids}`;
}

function placeName(place: number): string {
  return String(place).padStart(PLACE_DIGITS, "0");
}

/** Returns the last place that the objects of a prefix and source hold; -1 without any. */
async function lastPlace(bucket: S3Bucket, name: string, signal: AbortSignal): Promise<number> {
  const last = (await bucket.list(name, signal)).at(-1);
  const found = /-(\d+)-[0-9a-f]+\.ndjson(?:\.gz)?$/.exec(last ?? "")?.[1];
  if (found === undefined) return -1;
  // The last children of an event share a place: they may be stored again, and never be taken for stored.
  const place = Number(found);
  return place % RECORDS_PER_OFFSET === RECORDS_PER_OFFSET - 1 ? place - 1 : place;
}
