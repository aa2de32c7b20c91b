/**
 * Blobs in an S3-compatible bucket (Amazon S3 API Reference: PutObject, GetObject, HeadObject, ListObjectsV2),
 * configured by the usual environment variables.
 */

import { AwsClient } from "aws4fetch";
import { AppError } from "#proto/kit/errors.ts";
import type { BlobStore } from "./blob-store.ts";

/** The client retries failed requests, with back-off. */
const RETRIES = 5;
const DEFAULT_REGION = "us-east-1";

export class S3Blobs implements BlobStore {
  readonly address: string;
  readonly #client: AwsClient;
  /** URL of the bucket, path style, which every S3-compatible server supports. */
  readonly #bucketUrl: string;
  readonly #prefix: string;

  /**
   * `address`: s3://bucket or s3://bucket/prefix. `env`: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and where needed
   * AWS_SESSION_TOKEN, AWS_REGION (us-east-1) and AWS_ENDPOINT_URL (Amazon's). Throws settings_invalid.
   */
  constructor(address: string, env: NodeJS.ProcessEnv) {
    const [, bucket, prefix = ""] = /^s3:\/\/([^/]+)(?:\/(.*?))?\/?$/.exec(address) ?? [];
    if (bucket === undefined)
      throw new AppError("settings_invalid", `"${address}" is not s3://bucket or s3://bucket/prefix`);
    const accessKeyId = required(env, "AWS_ACCESS_KEY_ID");
    const secretAccessKey = required(env, "AWS_SECRET_ACCESS_KEY");
    const region = env["AWS_REGION"] ?? DEFAULT_REGION;
    const sessionToken = env["AWS_SESSION_TOKEN"];
    this.address = address;
    this.#client = new AwsClient({
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: "s3",
      region,
      retries: RETRIES,
    });
    const endpoint = env["AWS_ENDPOINT_URL"] ?? `https://s3.${region}.amazonaws.com`;
    this.#bucketUrl = `${endpoint.replace(/\/+$/, "")}/${bucket}`;
    this.#prefix = prefix === "" ? "" : `${prefix}/`;
  }

  async has(key: string): Promise<boolean> {
    const { status } = await this.#request("HEAD", key, [200, 404]);
    return status === 200;
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#request("PUT", key, [200], bytes);
  }

  async get(key: string): Promise<Uint8Array> {
    const answer = await this.#request("GET", key, [200, 404]);
    if (answer.status === 404) throw new AppError("not_found", `${this.address}/${key} isn't there`);
    return new Uint8Array(await answer.arrayBuffer());
  }

  async list(prefix: string): Promise<string[]> {
    const keys: string[] = [];
    let token: string | undefined;
    do {
      const query = new URLSearchParams({ "list-type": "2", prefix: this.#prefix + prefix });
      if (token !== undefined) query.set("continuation-token", token);
      const answer = await this.#fetch(`${this.#bucketUrl}?${query.toString()}`, { method: "GET" }, [200]);
      const xml = await answer.text();
      for (const [, key = ""] of xml.matchAll(/<Key>([^<]*)<\/Key>/g))
        keys.push(key.slice(this.#prefix.length));
      token = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(xml)?.[1];
    } while (token !== undefined);
    return keys.sort();
  }

  async remove(key: string): Promise<void> {
    await this.#request("DELETE", key, [200, 204, 404]);
  }

  #request(method: string, key: string, expected: readonly number[], body?: Uint8Array): Promise<Response> {
    const path = (this.#prefix + key).split("/").map(encodeURIComponent).join("/");
    const init = { method, ...(body !== undefined && { body: Buffer.from(body) }) };
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

function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (value === undefined || value === "")
    throw new AppError(
      "settings_invalid",
      `${name} isn't set; s3:// needs the credentials in the environment`,
    );
  return value;
}
