/**
 * Output s3: events as objects of JSON lines in a bucket. An object's name contains the range of a source's events, so
 * that events repeated after a crash are recognised by existing names.
 */

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Static } from "typebox";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import {
  defineOutput,
  type OutputContext,
  type OutputRecord,
  type OutputWriter,
  type WriteRest,
  type WriterContext,
} from "#hub/pipeline/plugins/output.ts";
import {
  hashOf,
  rangeName,
  storedPlaces,
  unbrokenRuns,
} from "#hub/pipeline/plugins/outputs/s3/object-names.ts";
import { compileFormat } from "#proto/format.ts";
import type { IntervalSet } from "#proto/kit/interval-set.ts";
import { oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { DEFAULT_S3_REGION, isReachableKey, S3Bucket } from "#proto/kit/s3-bucket.ts";
import { Type } from "#proto/kit/schema.ts";

const compress = promisify(gzip);

/** Longest key of an object, bytes; S3's own limit. */
const MAX_KEY = 1_024;
/** What a name adds to the prefix. */
const NAME_LENGTH = 80;
/** Prefixes and sources, and ranges of their objects, that are remembered; of others the names are listed once more. */
const MAX_KNOWN = 100_000;
/** Prefixes and sources whose objects are stored at the same time. */
const PARALLEL_GROUPS = 8;
/** The runtime tries again for longer. */
const RETRIES = 2;

const WRITES = "each write is an object of its own, which is there before the log moves on";

const OPTIONS = options({
  bucket: text("name of the bucket"),
  prefix: text("prefix of object names, a format", "%{+yyyy/MM/dd/HH}/"),
  codec: codecOption("codec that writes events", "json_lines"),
  encoding: oneOf(["none", "gzip"], "compression of objects; gzip adds .gz to their names", "gzip"),
  region: text("region of the bucket", DEFAULT_S3_REGION),
  endpoint: optional(text("address of a server other than Amazon's, such as https://minio.example:9000")),
  access_key_id: optional(text("access key; default: AWS_ACCESS_KEY_ID of the environment")),
  secret_access_key: optional(
    text("secret of the access key; default: AWS_SECRET_ACCESS_KEY of the environment"),
  ),
  session_token: optional(text("token of temporary credentials")),
  size_file: withoutEffect(WRITES, Type.Number({ default: 5_242_880 })),
  time_file: withoutEffect(WRITES, Type.Number({ default: 15 })),
  rotation_strategy: withoutEffect(WRITES, Type.String({ default: "size_and_time" })),
  temporary_directory: withoutEffect("nothing is stored on disk", Type.String({ default: "" })),
  restore: withoutEffect("nothing is stored on disk", Type.Boolean({ default: true })),
  id: optional(text("name of this output in metrics and messages")),
});

type Options = Static<typeof OPTIONS>;

export const s3Output = defineOutput({
  name: "s3",
  description: "stores events as objects of JSON lines in a bucket, each event once",
  options: OPTIONS,
  create(values, context) {
    checkOptions(values, context);
    const encoder = context.codec(values.codec);
    const prefix = compileFormat(values.prefix);
    return {
      shape(event) {
        const target = prefix(event).replace(/^\/+/, "");
        if (!isReachableKey(target))
          return { refused: 'the prefix of its object has "." or ".." between its /' };
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
      `"${endpoint}" isn't an address of HTTP`,
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
  /** Positions of objects that were there when their names were listed, by prefix and source. */
  readonly #known = new Map<string, IntervalSet>();
  #knownSize = 0;
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
    await this.#storeAll(this.#bucket, groups, signal);
    this.#done.clear();
    return undefined;
  }

  async stop(): Promise<void> {
    this.#forget();
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

  /** Stores several groups at a time. Throws the first failure when none is in progress any more. */
  async #storeAll(
    bucket: S3Bucket,
    groups: ReadonlyMap<string, readonly OutputRecord[]>,
    signal: AbortSignal,
  ): Promise<void> {
    const failures: unknown[] = [];
    const waiting = groups.entries();
    const work = async (): Promise<void> => {
      for (const [name, group] of waiting) {
        if (failures.length > 0) return;
        try {
          await this.#store(bucket, name, group, signal);
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL_GROUPS, groups.size) }, work));
    if (failures.length > 0) throw failures[0];
  }

  /** Stores the records of one prefix and source that no object holds yet, in their order. */
  async #store(
    bucket: S3Bucket,
    name: string,
    records: readonly OutputRecord[],
    signal: AbortSignal,
  ): Promise<void> {
    const known = await this.#knownPlaces(bucket, name, records[0]!, signal);
    const fresh = records.filter(({ id, place }) => known?.has(place) !== true && !this.#done.has(id));
    for (const run of unbrokenRuns(fresh)) {
      const bytes = Buffer.concat(run.map(({ body }) => body));
      const isPacked = this.#values.encoding === "gzip";
      const key = `${name}${rangeName(run)}.ndjson${isPacked ? ".gz" : ""}`;
      await bucket.put(key, isPacked ? await compress(bytes) : bytes, signal);
      for (const { id } of run) this.#done.add(id);
    }
  }

  async #knownPlaces(
    bucket: S3Bucket,
    name: string,
    { sourceKey }: OutputRecord,
    signal: AbortSignal,
  ): Promise<IntervalSet | undefined> {
    // Positions of events without a known source don't grow.
    if (sourceKey === "") return undefined;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const listed = await storedPlaces(bucket, name, signal);
    if (this.#knownSize + listed.size >= MAX_KNOWN) this.#forget();
    this.#known.set(name, listed);
    this.#knownSize += 1 + listed.size;
    return listed;
  }

  #forget(): void {
    this.#known.clear();
    this.#knownSize = 0;
  }

  /** The first characters of a hash: names of sources are long and hold any letter. */
  #sourceName(sourceKey: string): string {
    return `${hashOf(`${this.#context.id}/${sourceKey}`)}-`;
  }
}
