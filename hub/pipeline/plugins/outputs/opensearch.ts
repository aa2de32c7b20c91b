/** Output opensearch: the output elasticsearch with the options of Logstash's plugin for OpenSearch. */

import type { Static } from "typebox";
import { defineOutput, type OutputContext } from "#hub/pipeline/plugins/output.ts";
import {
  ELASTICSEARCH_OPTIONS,
  type ElasticsearchOptions,
} from "#hub/pipeline/plugins/outputs/elasticsearch/options.ts";
import { flag, optional, options, table, text, withoutEffect } from "#proto/kit/options.ts";
import { elasticsearchOutput } from "./elasticsearch.ts";

const OPTIONS = options({
  ...ELASTICSEARCH_OPTIONS.properties,
  auth_type: table('how to sign in: type => "basic" with user and password'),
  legacy_template: optional(flag("false is template_api composable, true legacy")),
  tls_certificate: optional(text("the same as ssl_certificate")),
  tls_key: optional(text("the same as ssl_key")),
  default_server_major_version: withoutEffect("the server's version is detected"),
  target_bulk_bytes: withoutEffect("the size of requests follows from the pipeline's batches"),
});

type Options = Static<typeof OPTIONS>;

export const opensearchOutput = defineOutput({
  name: "opensearch",
  description:
    "stores each event as a document, as the output elasticsearch does, also in data streams of OpenSearch",
  options: OPTIONS,
  create(values, context) {
    checkSignIn(values, context);
    return elasticsearchOutput.create(elasticsearchValues(values), context);
  },
  writer: (values, context) => elasticsearchOutput.writer?.(elasticsearchValues(values), context),
});

function checkSignIn({ auth_type: { type = "basic" } }: Options, { report }: OutputContext): void {
  if (type !== "basic")
    report(
      "error",
      "auth_type",
      `signing in by ${String(type)} isn't offered`,
      'write type => "basic" with user and password',
    );
}

function elasticsearchValues(values: Options): ElasticsearchOptions {
  const { auth_type, legacy_template, tls_certificate, tls_key, ...same } = values;
  return {
    ...same,
    ...(auth_type["user"] !== undefined && { user: String(auth_type["user"]) }),
    ...(auth_type["password"] !== undefined && { password: String(auth_type["password"]) }),
    ...(tls_certificate !== undefined && { ssl_certificate: tls_certificate }),
    ...(tls_key !== undefined && { ssl_key: tls_key }),
    ...(legacy_template !== undefined && { template_api: legacy_template ? "legacy" : "composable" }),
  };
}
