/** Output elasticsearch: documents in Tailrace's own search engine, by way of the log. */

import { compileFormat } from "#proto/format.ts";
import { flag, list, oneOf, optional, options, text } from "../filters/option-types.ts";
import { defineOutput } from "./output.ts";

/** 6.5 refuses longer ids. Bytes. */
const MAX_ID_BYTES = 512;

export const elasticsearchOutput = defineOutput({
  name: "elasticsearch",
  description: "stores each event as a document",
  options: options({
    index: text("index of the document, a format", "logs-%{+yyyy.MM.dd}"),
    document_id: optional(
      text("id of the document, a format; empty: made from the event's place in the log", ""),
    ),
    action: oneOf(["index", "create"], "index replaces a document of the same id, create keeps it", "index"),
    hosts: list("accepted for compatibility: documents go to this installation"),
    user: optional(text("accepted for compatibility")),
    password: optional(text("accepted for compatibility")),
    manage_template: flag("accepted for compatibility", true),
    document_type: optional(text("accepted for compatibility; there is one type")),
    id: optional(text("name of this output in metrics and messages")),
  }),
  create(values, { report }) {
    const index = compileFormat(values.index);
    const id = compileFormat(values.document_id ?? "");
    if (index.isConstant && /[A-Z\\/*?"<>| ,#]/.test(values.index)) {
      report(
        "error",
        "index",
        `"${values.index}" can't be the name of an index`,
        "use lower-case letters, digits, - _ and .",
      );
    }
    return {
      route(event) {
        const documentId = id(event);
        return {
          index: index(event).toLowerCase(),
          id: Buffer.byteLength(documentId) > MAX_ID_BYTES ? "" : documentId,
        };
      },
    };
  },
});
