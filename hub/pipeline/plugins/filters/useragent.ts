/** Filter useragent: parses the User-Agent of browsers and programs into fields. */

import { parseUserAgent, type UserAgent } from "#hub/pipeline/formats/user-agents.ts";
import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { type Event, valueText } from "#proto/event.ts";
import { bracketed, fieldReference } from "#proto/field-reference.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";
import { optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Longest text looked at; real ones are below 1,000 characters. */
const MAX_LENGTH = 2048;

const PARTS = "[@metadata][filter][user_agent]";

export const useragentFilter = defineFilter({
  name: "useragent",
  description: "extracts browser, operating system and device from a user agent",
  options: options({
    source: text("field with the user agent"),
    target: optional(
      text("target field for the result; default: its members become fields, with ECS user_agent"),
    ),
    prefix: text("prefix of each name, without ECS", ""),
    regexes: withoutEffect("what is known is built in; filter grok reads others"),
    lru_cache_size: Type.Integer({
      default: 100_000,
      minimum: 1,
      description: "number of user agents whose result is cached",
    }),
  }),
  create({ source, target, prefix, lru_cache_size }, { ecs }) {
    const from = fieldReference(source);
    const root = target ?? (ecs ? "user_agent" : "");
    const into = root === "" ? "" : bracketed(root);
    const cache = new Map<string, UserAgent>();
    const set = (event: Event, name: string, value: string | undefined): void => {
      if (value !== undefined) event.set(fieldReference(`${into}${name}`), value);
    };
    return {
      apply(event) {
        const value = event.get(from);
        const agent = valueText(Array.isArray(value) ? value[0] : value).slice(0, MAX_LENGTH);
        if (agent === "") return false;
        const found = cache.get(agent) ?? parseUserAgent(agent);
        setNewest(cache, agent, found, lru_cache_size);
        if (into !== "" && root === source) event.remove(from);
        for (const [name, item] of Object.entries(
          ecs ? ecsFields(found, agent) : legacyFields(found, prefix),
        )) {
          set(event, name, item);
        }
        if (ecs) setVersionParts(event, found);
        return true;
      },
    };
  },
});

function ecsFields(
  { name, version, os, osVersion, device }: UserAgent,
  original: string,
): Record<string, string | undefined> {
  const osText = joined(osVersion);
  return {
    "[original]": original,
    "[name]": name,
    "[version]": joined(version),
    "[os][name]": os,
    "[os][version]": osText,
    "[os][full]": osText === undefined ? os : `${os} ${osText}`,
    "[device][name]": device,
  };
}

/** ECS has no fields for parts of versions. */
function setVersionParts(event: Event, { version, osVersion }: UserAgent): void {
  for (const [at, part] of ["major", "minor", "patch"].entries()) {
    const [ofAgent, ofSystem] = [version[at], osVersion[at]];
    if (ofAgent !== undefined) event.set(fieldReference(`${PARTS}[version][${part}]`), ofAgent);
    if (ofSystem !== undefined) event.set(fieldReference(`${PARTS}[os][version][${part}]`), ofSystem);
  }
}

function legacyFields(
  { name, version, os, osVersion, device }: UserAgent,
  prefix: string,
): Record<string, string | undefined> {
  const osText = joined(osVersion);
  const fields = {
    name,
    version: joined(version),
    major: version[0],
    minor: version[1],
    patch: version[2],
    os,
    os_name: os,
    os_version: osText,
    os_major: osVersion[0],
    os_minor: osVersion[1],
    os_full: osText === undefined ? os : `${os} ${osText}`,
    device,
  };
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [`[${prefix}${key}]`, value]));
}

function joined(parts: readonly string[]): string | undefined {
  return parts.length === 0 ? undefined : parts.join(".");
}
