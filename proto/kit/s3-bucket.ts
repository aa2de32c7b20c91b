/** Objects in an S3-compatible bucket (Amazon S3 API Reference: PutObject, GetObject, HeadObject, DeleteObject, ListObjectsV2). */

import { AwsClient } from "aws4fetch";
import { AppError } from "./errors.ts";

/** The client retries failed requests, with back-off. */
const RETRIES = 5;

export const DEFAULT_S3_REGION = "us-east-1";

/** Parts of an address that lead elsewhere, also encoded (URL standard, section 4.4): no URL can name such an object. */
const DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/;

/** Returns whether an object of this key can be reached; of others the address is that of another object or bucket. */
export function isReachableKey(key: string): boolean {
  return !DOTS.test(key);
}

export interface S3Options {
  readonly bucket: string;
  /** Before every key, with its slash; empty: none. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly region: string;
  /** Address of a server other than Amazon's. */
  readonly endpoint?: string | undefined;
  readonly retries?: number;
}

/** A bucket and a prefix in it; keys are below the prefix. */
export class S3Bucket {
  /** For messages. */
  readonly address: string;
  readonly #client: AwsClient;
  /** URL of the bucket, path style, which every S3-compatible server supports. */
  readonly #bucketUrl: string;
  readonly #prefix: string;

  constructor({ bucket, prefix, region, endpoint, sessionToken, retries = RETRIES, ...keys }: S3Options) {
    this.address = `s3://${bucket}${prefix === "" ? "" : `/${prefix.replace(/\/$/, "")}`}`;
    this.#client = new AwsClient({
      ...keys,
      ...(sessionToken !== undefined && { sessionToken }),
      service: "s3",
      region,
      retries,
    });
    this.#bucketUrl = `${(endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, "")}/${bucket}`;
    this.#prefix = prefix;
  }

  async has(key: string): Promise<boolean> {
    const { status } = await this.#request("HEAD", key, [200, 404]);
    return status === 200;
  }

  /** Stores an object; replaces the one of that key. Throws unavailable, forbidden. */
  async put(key: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    await this.#request("PUT", key, [200], bytes, signal);
  }

  /** Throws not_found. */
  async get(key: string): Promise<Uint8Array> {
    const answer = await this.#request("GET", key, [200, 404]);
    if (answer.status === 404) throw new AppError("not_found", `${this.address}/${key} isn't there`);
    return new Uint8Array(await answer.arrayBuffer());
  }

  /** Returns the keys that start with `prefix`, sorted. */
  async list(prefix: string, signal?: AbortSignal): Promise<string[]> {
    const keys: string[] = [];
    let token: string | undefined;
    do {
      const query = new URLSearchParams({ "list-type": "2", prefix: this.#prefix + prefix });
      if (token !== undefined) query.set("continuation-token", token);
      const init = { method: "GET", ...(signal !== undefined && { signal }) };
      const xml = await (await this.#fetch(`${this.#bucketUrl}?${query.toString()}`, init, [200])).text();
      for (const [, key = ""] of xml.matchAll(/<Key>([^<]*)<\/Key>/g))
        keys.push(key.slice(this.#prefix.length));
      token = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(xml)?.[1];
    } while (token !== undefined);
    return keys.sort();
  }

  async remove(key: string): Promise<void> {
    await this.#request("DELETE", key, [200, 204, 404]);
  }

  async #request(
    method: string,
    key: string,
    expected: readonly number[],
    body?: Uint8Array,
    signal?: AbortSignal,
  ): Promise<Response> {
    if (!isReachableKey(this.#prefix + key))
      throw new AppError("request_invalid", `${this.address}: a key must not have "." or ".." between its /`);
    const path = (this.#prefix + key).split("/").map(encodeURIComponent).join("/");
    const init = {
      method,
      ...(body !== undefined && { body: Buffer.from(body) }),
      ...(signal !== undefined && { signal }),
    };
    return this.#fetch(`${this.#bucketUrl}/${path}`, init, expected);
  }

  async #fetch(url: string, init: RequestInit, expected: readonly number[]): Promise<Response> {
    let answer: Response;
    try {
      answer = await this.#client.fetch(url, init);
    } catch (error) {
      throw new AppError("unavailable", `${this.address} can't be reached: ${(error as Error).message}`, {
        cause: error,
      });
    }
    if (expected.includes(answer.status)) return answer;
    const code = /<Code>([^<]*)<\/Code>/.exec(await answer.text())?.[1] ?? "no reason given";
    throw new AppError(
      answer.status === 403 ? "forbidden" : "unavailable",
      `${this.address} answered ${answer.status} (${code}) to ${init.method}; check the bucket, the region and the credentials`,
    );
  }
}
