/** Options of input http_poller. */

import type { Static } from "typebox";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import { optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

export const HTTP_POLLER_OPTIONS = options({
  urls: Type.Record(Type.String(), Type.Unknown(), {
    description:
      "what is asked, by a name: an address, or a table of url, method, headers, body, user, password, connection",
  }),
  schedule: Type.Unknown({
    description: 'when: { every => "1m" }, { cron => "*/5 * * * *" }, { in => "1s" }, { at => "time" }',
  }),
  codec: codecOption("how an answer is read", "json"),
  target: optional(text("field that takes the answer's fields; without it they are the event's")),
  metadata_target: text("field that takes what is known of the request and answer", "@metadata"),
  request_timeout: Type.Number({
    default: 60,
    exclusiveMinimum: 0,
    description: "longest that a request may take, s",
  }),
  user: optional(text("name that is sent (Basic)")),
  password: optional(text("password that is sent")),
  connection: optional(text("name of a connected account whose access token is sent")),
  items: optional(
    text("field of the answer that holds the list whose items become events, e.g. [data][items]"),
  ),
  next_page: optional(
    text("field of the answer that names the next page: an address, or the value of page_parameter"),
  ),
  page_parameter: optional(text("parameter of the address that next_page's value goes into")),
  cursor: optional(text("field of an item whose last value is remembered")),
  cursor_parameter: optional(text("parameter of the address that the remembered value goes into")),
  max_content_length: Type.Integer({ default: 67_108_864, minimum: 1, description: "longest answer, bytes" }),
});

export type HttpPollerOptions = Static<typeof HTTP_POLLER_OPTIONS>;
