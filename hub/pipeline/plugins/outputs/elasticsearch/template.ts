/** Puts the index template of an output before its first document. */

import { readFileSync } from "node:fs";
import { parseJsonObject } from "#proto/codec/json.ts";
import { isHash } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { ElasticsearchOptions } from "./options.ts";
import type { SearchClient } from "./search-client.ts";

/** From this version on, templates that are put together are what `auto` means. */
const COMPOSABLE_FROM = 8;

/** Puts the template that the options name, unless there is one and it is to stay. Throws unavailable. */
export async function putTemplate(
  client: SearchClient,
  { manage_template, template, template_name, template_overwrite, template_api }: ElasticsearchOptions,
  signal: AbortSignal,
): Promise<void> {
  if (!manage_template || template === undefined) return;
  const isComposable =
    template_api === "composable" ||
    (template_api === "auto" && (await majorVersion(client, signal)) >= COMPOSABLE_FROM);
  const path = `/${isComposable ? "_index_template" : "_template"}/${encodeURIComponent(template_name)}`;
  if (!template_overwrite && (await client.request("HEAD", path, undefined, signal)).status === 200) return;
  const body = { type: "application/json", data: readFileSync(template) };
  const { status, body: answer } = await client.request("PUT", path, body, signal);
  if (status !== 200)
    throw new AppError(
      "unavailable",
      `the search engine answered ${status} to the template ${template}: ${answer.slice(0, 500)}`,
    );
}

async function majorVersion(client: SearchClient, signal: AbortSignal): Promise<number> {
  const { body } = await client.request("GET", "/", undefined, signal);
  const version = parseJsonObject(body)?.["version"];
  return isHash(version) ? Number.parseInt(String(version["number"]), 10) : 0;
}
