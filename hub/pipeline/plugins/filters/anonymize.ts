/** Filter anonymize: replaces values of fields by their hashes, or addresses by their networks. */

import { createHmac } from "node:crypto";
import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { list, oneOf, options } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { murmur3, network } from "./fingerprint.ts";

const ALGORITHMS = ["SHA1", "SHA256", "SHA384", "SHA512", "MD5", "MURMUR3", "IPV4_NETWORK"] as const;

export const anonymizeFilter = defineFilter({
  name: "anonymize",
  description: "replaces values of fields by their hashes",
  options: options({
    fields: Type.Array(Type.String(), { description: "fields whose values are replaced" }),
    key: Type.String({
      description: "key of the hash (HMAC); for IPV4_NETWORK the length of the prefix, bits",
    }),
    algorithm: oneOf(ALGORITHMS, "kind of hash", "SHA1"),
    tag_on_failure: list("tags of events with a value that isn't an address; the value is removed", [
      "_anonymizefailure",
    ]),
  }),
  create({ fields, key, algorithm, tag_on_failure }, { report }) {
    const prefix = Number(key);
    if (algorithm === "IPV4_NETWORK" && (key.trim() === "" || !(prefix >= 0 && prefix <= 32)))
      report("error", "key", "IPV4_NETWORK needs the length of the prefix in key", "write: key => 24");
    const replace = replacer(algorithm, key);
    const references = fields.map(fieldReference);
    return {
      apply(event) {
        let isWhole = true;
        for (const reference of references) {
          const value = event.get(reference);
          if (value === undefined || value === null) continue;
          const replaced = (Array.isArray(value) ? value : [value]).map(replace);
          // What can't be replaced must not stay: it is what was to be hidden.
          const kept = replaced.filter((item) => item !== undefined);
          isWhole &&= kept.length === replaced.length;
          if (Array.isArray(value)) event.set(reference, kept);
          else if (kept.length > 0) event.set(reference, kept[0]);
          else event.remove(reference);
        }
        if (!isWhole) for (const tag of tag_on_failure) event.tag(tag);
        return isWhole;
      },
    };
  },
});

function replacer(algorithm: (typeof ALGORITHMS)[number], key: string): (value: unknown) => unknown {
  if (algorithm === "MURMUR3") return murmur3;
  if (algorithm === "IPV4_NETWORK") return (value) => network(valueText(value), Number(key));
  const name = algorithm.toLowerCase();
  return (value) => createHmac(name, key).update(valueText(value)).digest("hex");
}
