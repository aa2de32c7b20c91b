/** `_script_context` and `_script_language`: what scripts are for, and in which languages. */

import { json, type Route } from "#hub/api/http/route.ts";
import { EXPRESSION_CONTEXTS, SCRIPT_CONTEXTS } from "#hub/scripts/stored-scripts.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** What a script of a context gives; anything of those that aren't here. */
const RESULTS: Readonly<Record<string, string>> = {
  filter: "boolean",
  score: "double",
  number_sort: "double",
  string_sort: "java.lang.String",
  update: "void",
  ingest: "void",
  processor_conditional: "boolean",
};

const TYPES: Readonly<Record<string, string>> = {
  doc: "java.util.Map",
  params: "java.util.Map",
  ctx: "java.util.Map",
  _score: "double",
};

export function scriptContextRoutes(): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_script_context"],
      params: [],
      action: "monitor",
      summary: "Lists what scripts may be for, with the variables that they have.",
      handle: () => json({ contexts: contexts() }),
    },
    {
      methods: ["GET"],
      paths: ["/_script_language"],
      params: [],
      action: "monitor",
      summary: "Lists the languages of scripts.",
      handle: () =>
        json({
          types_allowed: ["inline", "stored"],
          language_contexts: [
            { language: "expression", contexts: EXPRESSION_CONTEXTS },
            { language: "mustache", contexts: ["template"] },
            { language: "painless", contexts: Object.keys(SCRIPT_CONTEXTS).sort() },
          ],
        }),
    },
  ];
}

function contexts(): JsonObject[] {
  const scripts = Object.entries(SCRIPT_CONTEXTS).map(([name, variables]) => ({
    name,
    methods: [
      { name: "execute", return_type: RESULTS[name] ?? "java.lang.Object", params: [] },
      ...variables.map((variable) => ({
        name: variable.startsWith("_")
          ? `get${variable}`
          : `get${variable[0]!.toUpperCase()}${variable.slice(1)}`,
        return_type: TYPES[variable] ?? "java.lang.Object",
        params: [],
      })),
    ],
  }));
  const template = {
    name: "template",
    methods: [{ name: "execute", return_type: "java.lang.String", params: [] }],
  };
  return [...scripts, template].sort((a, b) => (a.name < b.name ? -1 : 1));
}
