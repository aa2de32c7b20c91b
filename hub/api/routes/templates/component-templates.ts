/** `_component_template`: what composable templates are made of. */

import type { ApiParts } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, empty, json, type Route } from "#hub/api/http/route.ts";
import { namesAsked, namesMatching, namesToDelete, requireNew } from "./named-templates.ts";
import { checkTemplateName, printComponent, readComponent } from "./template-body.ts";

export function componentTemplateRoutes(parts: ApiParts): Route[] {
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
      summary: "Says whether a part of composable templates exists.",
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

async function putComponent({ indices }: ApiParts, request: ApiRequest): Promise<ApiResponse> {
  const name = request.segment("name");
  request.requireBody();
  checkTemplateName(name);
  const component = readComponent(request.metadata());
  const { components } = indices.templateCatalog.set();
  if (request.flag("create") === true) requireNew(components, name, "component template");
  await indices.templateCatalog.putComponent(name, component);
  return json({ acknowledged: true });
}

function getComponents({ indices }: ApiParts, request: ApiRequest): ApiResponse {
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

async function deleteComponents({ indices }: ApiParts, request: ApiRequest): Promise<ApiResponse> {
  const { components } = indices.templateCatalog.set();
  const names = namesToDelete(components, request.list("name") ?? [], "component_template");
  await indices.templateCatalog.deleteComponents(names);
  return json({ acknowledged: true });
}
