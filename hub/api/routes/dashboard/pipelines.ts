/** `/api/pipelines`, `/api/grok` and `/api/dead-letters`, for administrators. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { empty, json, type Route } from "#hub/api/http/route.ts";
import type { DeadLetterBox, PipelineAdmin, PipelineSamples } from "#hub/api/ports/pipelines.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

const LIST = "/api/pipelines";
const ONE = "/api/pipelines/{id}";
const LETTERS = "/api/dead-letters";

/** Maximum number of samples of one simulation. */
const MAX_SAMPLES = 100;
const MAX_LETTERS = 500;
const LETTERS_SHOWN = 50;

export function pipelineRoutes(pipelines: PipelineAdmin, letters: DeadLetterBox): Route[] {
  return [...definitionRoutes(pipelines), ...trialRoutes(pipelines), ...letterRoutes(letters)];
}

function definitionRoutes(pipelines: PipelineAdmin): Route[] {
  return [
    {
      methods: ["GET"],
      paths: [LIST],
      params: [],
      action: "monitor",
      summary: "Lists the pipelines with the statistics of their plugins.",
      handle: async () => json(await pipelines.list()),
    },
    {
      methods: ["GET"],
      paths: [ONE],
      params: [],
      action: "administer",
      summary: "Shows a pipeline with its text.",
      handle: async (request) => json(await pipelines.get(request.segment("id"))),
    },
    {
      methods: ["PUT"],
      paths: [ONE],
      params: ["revision"],
      action: "administer",
      summary: "Checks a pipeline, stores it and runs it; with a revision only where it is still the newest.",
      audited: "pipeline_changed",
      handle: async (request) => {
        const { text, description = "" } = request.requiredObject();
        if (typeof text !== "string")
          throw new AppError("request_invalid", "text must be the pipeline's text");
        if (typeof description !== "string")
          throw new AppError("request_invalid", "description must be a text");
        const content = { text, description, by: request.principal.name };
        return json(await pipelines.put(request.segment("id"), content, request.integer("revision")));
      },
    },
    {
      methods: ["DELETE"],
      paths: [ONE],
      params: ["revision"],
      action: "administer",
      summary: "Stops a pipeline and deletes it.",
      audited: "pipeline_removed",
      handle: async (request) => {
        await pipelines.delete(request.segment("id"), request.integer("revision"));
        return empty(204);
      },
    },
  ];
}

function trialRoutes(pipelines: PipelineAdmin): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/api/pipelines/{id}/simulate", "/api/pipelines/{id}/_simulate"],
      params: [],
      action: "administer",
      summary:
        "Shows events after each step of a pipeline, or of the text sent; opens no input and no output.",
      handle: async (request) => json(await pipelines.simulate(request.segment("id"), samplesOf(request))),
    },
    {
      methods: ["POST"],
      paths: ["/api/grok"],
      params: [],
      action: "administer",
      summary: "Shows what a grok expression extracts from a text, or how far its longest prefix matches.",
      handle: async (request) => {
        const { pattern, text, definitions = "", ecs = false } = request.requiredObject();
        if (typeof pattern !== "string" || typeof text !== "string" || typeof definitions !== "string") {
          throw new AppError("request_invalid", "pattern, text and definitions must be texts");
        }
        const answer = await pipelines.grok({ pattern, text, definitions, ecs: ecs === true });
        const { matchedPattern, failedPattern, ...rest } = answer;
        return json({ ...rest, matched_pattern: matchedPattern, failed_pattern: failedPattern });
      },
    },
  ];
}

function letterRoutes(letters: DeadLetterBox): Route[] {
  return [
    {
      methods: ["GET"],
      paths: [LETTERS],
      params: ["after", "size"],
      action: "administer",
      summary: "Lists dead letters with their reasons, oldest first; `after` continues after a sequence.",
      handle: async (request) => {
        const size = Math.min(request.integer("size") ?? LETTERS_SHOWN, MAX_LETTERS);
        return json({ letters: await letters.letters(request.integer("after") ?? 0, size) });
      },
    },
    {
      methods: ["POST"],
      paths: [`${LETTERS}/{sequence}/replay`, `${LETTERS}/{sequence}/_replay`],
      params: ["pipeline"],
      action: "administer",
      summary: "Sends a dead letter, or the event of the body in its place, through the pipelines again.",
      handle: async (request) => {
        const sequence = Number(request.segment("sequence"));
        if (!Number.isSafeInteger(sequence) || sequence < 1) {
          throw new AppError("request_invalid", "the sequence of a dead letter is a number from 1");
        }
        const { event } = request.object();
        if (event !== undefined && !isObject(event)) {
          throw new AppError("request_invalid", "event must be an object");
        }
        return json(await letters.replay(sequence, event, request.query["pipeline"] ?? ""));
      },
    },
  ];
}

/** `events`: objects, or texts that become messages; `text`: instead of the stored pipeline. */
function samplesOf(request: ApiRequest): PipelineSamples {
  const { text, events = [] } = request.requiredObject();
  if (text !== undefined && typeof text !== "string") {
    throw new AppError("request_invalid", "text must be the pipeline's text");
  }
  if (!Array.isArray(events) || events.length === 0 || events.length > MAX_SAMPLES) {
    throw new AppError("request_invalid", `events must be a list of 1 to ${MAX_SAMPLES} events or lines`);
  }
  return {
    ...(text !== undefined && { text }),
    events: events.map((event: unknown): JsonObject => {
      if (typeof event === "string") return { message: event };
      if (isObject(event)) return event;
      throw new AppError("request_invalid", "an event is an object or a text");
    }),
  };
}
