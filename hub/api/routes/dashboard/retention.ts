/** `/api/retention`: retention rules of indices, for administrators. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { json, type Route } from "#hub/api/http/route.ts";
import type { RetentionRules } from "#hub/api/ports/administration.ts";
import { AppError } from "#proto/kit/errors.ts";

const PATH = "/api/retention";

export function retentionRoutes(retention: RetentionRules): Route[] {
  return [
    {
      methods: ["GET"],
      paths: [PATH],
      params: [],
      action: "administer",
      summary: "Shows the retention rules.",
      handle: async () => json(await retention.view()),
    },
    {
      methods: ["PUT"],
      paths: [PATH],
      params: [],
      action: "administer",
      summary: "Replaces the retention rules that were made here.",
      handle: async (request) => {
        const { revision = 0 } = request.requiredObject();
        if (!Number.isSafeInteger(revision))
          throw new AppError("request_invalid", "revision must be the number that the rules were read with");
        return json(await retention.put(rulesOf(request), revision as number));
      },
    },
    {
      methods: ["POST"],
      paths: [`${PATH}/_preview`],
      params: [],
      action: "administer",
      summary: "Lists the indices that rules would delete immediately.",
      handle: async (request) => json({ indices: await retention.due(rulesOf(request)) }),
    },
  ];
}

function rulesOf(request: ApiRequest): string[] {
  const { rules } = request.requiredObject();
  if (Array.isArray(rules) && rules.every((rule) => typeof rule === "string")) return rules;
  throw new AppError("request_invalid", 'rules must be a list of texts such as "logs-* 30d 50gb"');
}
