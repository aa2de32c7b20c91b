/**
 * Composable templates (`_index_template`), their components (`_component_template`) and the settings that new indices
 * get from them.
 */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, empty, json, type Route } from "#hub/api/http/route.ts";
import type { IndexTemplate } from "#hub/api/ports/indices.ts";
import {
  type ComposableTemplate,
  describePatterns,
  type NamedTemplate,
  patternsOverlap,
  templateFor,
  templatesFor,
} from "#hub/cluster/catalog/composable-templates.ts";
import { definitionOf } from "#hub/cluster/catalog/new-index.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";
import {
  checkTemplateName,
  namesAsked,
  namesMatching,
  namesToDelete,
  printComponent,
  printComposable,
  printDefinition,
  readComponent,
  readComposable,
  requireNew,
} from "./template-body.ts";

/** Name of the template in a simulation. */
const SIMULATED = "simulated_template";

export function indexTemplateRoutes(parts: ApiContext): Route[] {
  return [...keepingRoutes(parts), ...simulationRoutes(parts)];
}

function keepingRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["PUT", "POST"],
      paths: ["/_index_template/{name}"],
      params: ["create", "cause", "master_timeout", "timeout"],
      action: "index_manage",
      summary: "Stores a composable template.",
      handle: (request) => putTemplate(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_index_template", "/_index_template/{name}"],
      params: ["flat_settings", "master_timeout", "local", "include_defaults"],
      action: "monitor",
      summary: "Shows composable templates.",
      handle: (request) => getTemplates(parts, request),
    },
    {
      methods: ["HEAD"],
      paths: ["/_index_template/{name}"],
      params: ["flat_settings", "master_timeout", "local"],
      action: "monitor",
      summary: "Checks whether a composable template exists.",
      handle: (request) => {
        const { templates } = parts.indices.templateCatalog.set();
        return empty(namesMatching(templates, request.list("name")).length > 0 ? 200 : 404);
      },
    },
    {
      methods: ["DELETE"],
      paths: ["/_index_template/{name}"],
      params: ["master_timeout", "timeout"],
      action: "index_manage",
      summary: "Deletes composable templates.",
      handle: (request) => deleteTemplates(parts, request),
    },
  ];
}

function simulationRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/_index_template/_simulate_index/{name}"],
      params: ["create", "cause", "master_timeout", "include_defaults"],
      action: "monitor",
      summary: "Shows what an index of a name would be made with.",
      handle: (request) => simulateIndex(parts, request),
    },
    {
      methods: ["POST"],
      paths: ["/_index_template/_simulate", "/_index_template/_simulate/{name}"],
      params: ["create", "cause", "master_timeout", "include_defaults"],
      action: "monitor",
      summary: "Shows what a composable template gives indices.",
      handle: (request) => simulateTemplate(parts, request),
    },
  ];
}

async function putTemplate({ indices }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const name = request.segment("name");
  request.requireBody();
  checkTemplateName(name);
  const template = readComposable(name, request.metadata());
  const { templates } = indices.templateCatalog.set();
  if (request.flag("create") === true) requireNew(templates, name, "index template");
  await indices.templateCatalog.putComposable(name, template);
  const below = Object.entries(indices.templates()).filter((older) => overlaps(template, older[1]));
  if (below.length > 0) {
    warnDeprecated(
      `index template [${name}] has index patterns [${template.index_patterns.join(", ")}] matching patterns from ` +
        `existing older templates [${below.map(([older]) => older).join(",")}] with patterns ` +
        `(${below.map(describePatterns).join(",")}); this template [${name}] will take precedence during new index creation`,
    );
  }
  return json({ acknowledged: true });
}

function getTemplates({ indices }: ApiContext, request: ApiRequest): ApiResponse {
  const { templates } = indices.templateCatalog.set();
  const names = namesAsked(templates, request.list("name"), "index template");
  const isFlat = request.flag("flat_settings") ?? false;
  return json({
    index_templates: names.map((name) => ({
      name,
      index_template: printComposable(templates[name]!, isFlat),
    })),
  });
}

async function deleteTemplates({ indices }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { templates } = indices.templateCatalog.set();
  const names = namesToDelete(templates, request.list("name") ?? [], "index_template");
  const streams = new Set(indices.all().flatMap(({ dataStream }) => dataStream ?? []));
  const used = [...streams].filter((stream) => names.includes(templateFor(stream, templates)?.name ?? ""));
  if (used.length > 0) {
    throw new AppError(
      "request_invalid",
      `unable to remove composable templates [${names.join(", ")}] as they are in use by a data streams [${used.join(", ")}]`,
    );
  }
  await indices.templateCatalog.deleteComposable(names);
  return json({ acknowledged: true });
}

function simulateIndex(parts: ApiContext, request: ApiRequest): ApiResponse {
  const index = request.segment("name");
  const { components, ...known } = knownWith(parts, request, SIMULATED);
  const found = templatesFor(index, known.templates);
  const [counting, ...others] = found;
  if (counting === undefined) return json({});
  const fits = ([, { index_patterns: patterns }]: [string, IndexTemplate]): boolean =>
    patterns.some((pattern) => matchesWildcard(pattern, index));
  return json(
    simulation({ ...known, components }, index, [
      ...Object.entries(known.older).filter(fits),
      ...others.map(asEntry),
    ]),
  );
}

function simulateTemplate(parts: ApiContext, request: ApiRequest): ApiResponse {
  const name = request.path["name"];
  const { components, ...known } = knownWith(parts, request, name ?? SIMULATED);
  const template = known.templates[name ?? SIMULATED];
  if (template === undefined) {
    throw new AppError(
      "request_invalid",
      name === undefined
        ? "a body with the template to simulate is required, or the name of one in the path"
        : `unable to simulate template [${name}] that does not exist`,
    );
  }
  const isOther = ([other, each]: [string, ComposableTemplate | IndexTemplate]): boolean =>
    each !== template && other !== SIMULATED && overlaps(template, each);
  // Only this template, with a pattern that matches the simulated name.
  const alone = { templates: { [SIMULATED]: { ...template, index_patterns: ["*"] } }, older: {}, components };
  return json(
    simulation(alone, "_", [
      ...Object.entries(known.older).filter(isOther),
      ...Object.entries(known.templates).filter(isOther),
    ]),
  );
}

/** Returns the definition that an index would get, and the other templates that match. */
function simulation(
  templates: Parameters<typeof definitionOf>[1],
  index: string,
  overlapping: readonly (readonly [string, { readonly index_patterns: readonly string[] }])[],
): JsonObject {
  const definition = definitionOf(index, templates, { settings: {}, mappings: {}, aliases: {} });
  return {
    template: printDefinition(definition, false),
    overlapping: overlapping.map(([name, { index_patterns: patterns }]) => ({
      name,
      index_patterns: patterns,
    })),
  };
}

/** Returns all templates, including that of the body as if it were stored as `name`. Throws the errors of storing it. */
function knownWith({ indices }: ApiContext, request: ApiRequest, name: string) {
  const { templates, components } = indices.templateCatalog.set();
  const older = indices.templates();
  const body = request.body.length === 0 ? {} : request.metadata();
  // Typed clients send {} instead of no body.
  if (Object.keys(body).length === 0) return { templates, components, older };
  const given = readComposable(name, body);
  indices.templateCatalog.check(name, given);
  return { templates: { ...templates, [name]: given }, components, older };
}

function overlaps(
  a: { readonly index_patterns: readonly string[] },
  b: { readonly index_patterns: readonly string[] },
): boolean {
  return patternsOverlap(a.index_patterns, b.index_patterns);
}

function asEntry({ name, template }: NamedTemplate): readonly [string, ComposableTemplate] {
  return [name, template];
}

export function componentTemplateRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["PUT", "POST"],
      paths: ["/_component_template/{name}"],
      params: ["create", "cause", "master_timeout", "timeout"],
      action: "index_manage",
      summary: "Stores a part of composable templates.",
      handle: (request) => putComponent(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_component_template", "/_component_template/{name}"],
      params: ["flat_settings", "master_timeout", "local", "include_defaults"],
      action: "monitor",
      summary: "Shows parts of composable templates.",
      handle: (request) => getComponents(parts, request),
    },
    {
      methods: ["HEAD"],
      paths: ["/_component_template/{name}"],
      params: ["master_timeout", "local"],
      action: "monitor",
      summary: "Checks whether a component of composable templates exists.",
      handle: (request) => {
        const { components } = parts.indices.templateCatalog.set();
        return empty(namesMatching(components, request.list("name")).length > 0 ? 200 : 404);
      },
    },
    {
      methods: ["DELETE"],
      paths: ["/_component_template/{name}"],
      params: ["master_timeout", "timeout"],
      action: "index_manage",
      summary: "Deletes parts of composable templates.",
      handle: (request) => deleteComponents(parts, request),
    },
  ];
}

async function putComponent({ indices }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const name = request.segment("name");
  request.requireBody();
  checkTemplateName(name);
  const component = readComponent(request.metadata());
  const { components } = indices.templateCatalog.set();
  if (request.flag("create") === true) requireNew(components, name, "component template");
  await indices.templateCatalog.putComponent(name, component);
  return json({ acknowledged: true });
}

function getComponents({ indices }: ApiContext, request: ApiRequest): ApiResponse {
  const { components } = indices.templateCatalog.set();
  const names = namesAsked(components, request.list("name"), "component template");
  const isFlat = request.flag("flat_settings") ?? false;
  return json({
    component_templates: names.map((name) => ({
      name,
      component_template: printComponent(components[name]!, isFlat),
    })),
  });
}

async function deleteComponents({ indices }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { components } = indices.templateCatalog.set();
  const names = namesToDelete(components, request.list("name") ?? [], "component_template");
  await indices.templateCatalog.deleteComponents(names);
  return json({ acknowledged: true });
}
