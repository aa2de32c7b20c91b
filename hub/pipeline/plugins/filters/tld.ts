/** Filter tld: a domain in its parts. */

import { splitDomain } from "#hub/pipeline/formats/public-suffixes.ts";
import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { options, text } from "#proto/kit/options.ts";

export const tldFilter = defineFilter({
  name: "tld",
  description: "splits a domain into top-level domain, registered domain and subdomain",
  options: options({
    source: text("field with the domain", "message"),
    target: text("field for the parts", "tld"),
  }),
  create({ source, target }) {
    const from = fieldReference(source);
    const to = fieldReference(target);
    return {
      apply(event) {
        const domain = event.get(from);
        const parts =
          typeof domain === "string" && isDomain(domain) ? splitDomain(domain.toLowerCase()) : undefined;
        if (parts?.registered === undefined) return false;
        const { suffix, registered, subdomain = null } = parts;
        event.set(to, {
          tld: suffix,
          sld: registered.slice(0, -suffix.length - 1),
          trd: subdomain,
          domain: registered,
          subdomain: subdomain === null ? null : `${subdomain}.${registered}`,
          top_level_domain: suffix,
        });
        return true;
      },
    };
  },
});

function isDomain(text: string): boolean {
  return text.length <= 253 && !/[\s/:@]/.test(text);
}
