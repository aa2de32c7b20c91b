/** `/api/auth/agents` and `/api/agents/enroll`: credentials of agents, and their enrolment by the agents themselves. */

import { empty, json, type Route, routeWithBody } from "#hub/api/http/route.ts";
import {
  type AgentAccess,
  type AgentCredential,
  type AgentCredentials,
  enrolCommand,
} from "#hub/auth/accounts/agent-credentials.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Type } from "#proto/kit/schema.ts";
import { DAY_MS, MINUTE_MS, parseDuration } from "#proto/kit/units.ts";
import { JSON_ROUTE } from "./shared.ts";

/** Shortest and longest life of an enrolment token. */
const MIN_LIFE_MS = MINUTE_MS;
const MAX_LIFE_MS = 30 * DAY_MS;
const ENROL_BODY_LIMIT_BYTES = 4 * 1024;

const NewAgent = Type.Object(
  { name: Type.String(), agent_id: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
const NewToken = Type.Object({ expires_in: Type.Optional(Type.String()) }, { additionalProperties: false });
const Enrolment = Type.Object(
  {
    token: Type.String({ maxLength: 200 }),
    name: Type.String({ maxLength: 200 }),
    public_key: Type.String({ maxLength: 200 }),
    agent_id: Type.Optional(Type.String({ maxLength: 200 })),
  },
  { additionalProperties: false },
);

interface AgentParts {
  readonly agents: AgentCredentials;
  /** Null if an external NATS is used, which has its own users. */
  readonly agentAccess: () => AgentAccess | null;
  readonly publicUrl: () => string;
}

export function agentRoutes(parts: AgentParts): Route[] {
  const { agents } = parts;
  return [
    {
      ...JSON_ROUTE,
      methods: ["GET"],
      paths: ["/api/auth/agents"],
      action: "administer",
      summary: "Lists the agents' credentials and the open enrolments.",
      handle: async () => json(await listOf(parts)),
    },
    routeWithBody({
      ...JSON_ROUTE,
      methods: ["POST"],
      paths: ["/api/auth/agents"],
      action: "administer",
      summary: "Issues a credential to an agent. Only this answer has its seed.",
      schema: NewAgent,
      handle: async ({ principal }, { name, agent_id: agentId }) => {
        const { servers, ca } = requireAccess(parts);
        const { seed, credential } = await agents.issue(name, principal.name, agentId);
        return json({ seed, ...agentView(credential), servers, ca }, 201);
      },
    }),
    newToken(parts),
    ...endRoutes(parts),
    enrolment(parts),
  ];
}

/** Routes that end enrolments and credentials. */
function endRoutes({ agents }: AgentParts): Route[] {
  return [
    {
      ...JSON_ROUTE,
      methods: ["DELETE"],
      paths: ["/api/auth/agents/enrolment/{id}"],
      action: "administer",
      summary: "Withdraws an unused enrolment token.",
      handle: async (request) => {
        await agents.withdrawEnrolment(request.segment("id"), request.principal.name);
        return empty(204);
      },
    },
    {
      ...JSON_ROUTE,
      methods: ["DELETE"],
      paths: ["/api/auth/agents/{id}"],
      action: "administer",
      summary: "Revokes an agent's credential.",
      handle: async (request) => {
        await agents.revoke(request.segment("id"), request.principal.name);
        return empty(204);
      },
    },
  ];
}

function newToken(parts: AgentParts): Route {
  return routeWithBody({
    ...JSON_ROUTE,
    methods: ["POST"],
    paths: ["/api/auth/agents/enrolment"],
    action: "administer",
    summary: "Makes a one-time enrolment token, and the command that uses it.",
    schema: NewToken,
    handle: async ({ principal }, { expires_in: life }) => {
      const { caFingerprint } = requireAccess(parts);
      const made = await parts.agents.newEnrolmentToken(
        principal.name,
        life === undefined ? undefined : lifeOf(life),
      );
      const { id, token, expiresAt } = made;
      const command = enrolCommand(parts.publicUrl(), token, caFingerprint);
      return json({ id, token, expires_at: new Date(expiresAt).toISOString(), command }, 201);
    },
  });
}

/** The one-time token authenticates the request. */
function enrolment(parts: AgentParts): Route {
  return routeWithBody({
    ...JSON_ROUTE,
    methods: ["POST"],
    paths: ["/api/agents/enroll"],
    action: [],
    caller: "anybody",
    maxBodyBytes: ENROL_BODY_LIMIT_BYTES,
    summary: "Enrols an agent with a one-time token.",
    schema: Enrolment,
    handle: async ({ ip }, { token, name, public_key: publicKey, agent_id: wantedId }) => {
      const { servers, ca } = requireAccess(parts);
      const wanted = { token, name, publicKey, ip, ...(wantedId === undefined ? {} : { agentId: wantedId }) };
      const { agentId, name: agentName } = await parts.agents.enrol(wanted);
      return json({ name: agentName, agent_id: agentId, servers, ca, subject_prefix: `agent.${agentId}` });
    },
  });
}

async function listOf({ agents, agentAccess, publicUrl }: AgentParts): Promise<object> {
  const enrolments = await agents.openEnrolments();
  return {
    agents: (await agents.list()).map(agentView),
    enrolments: enrolments.map(({ id, createdBy, expiresAt }) => ({
      id,
      created_by: createdBy,
      expires_at: new Date(expiresAt).toISOString(),
    })),
    reach: { dashboard: publicUrl(), nats: agentAccess()?.servers ?? [] },
  };
}

function agentView(credential: AgentCredential): Record<string, string> {
  return {
    public_key: credential.publicKey,
    name: credential.name,
    agent_id: credential.agentId,
    issued_at: new Date(credential.issuedAt).toISOString(),
    issued_by: credential.issuedBy,
  };
}

function requireAccess({ agentAccess }: AgentParts): AgentAccess {
  const access = agentAccess();
  if (access !== null) return access;
  throw new AppError(
    "not_offered",
    "this hub uses the NATS of nats.servers, which has its own users; make the agent's credentials there",
  );
}

function lifeOf(text: string): number {
  const lifeMs = parseDuration(text);
  if (lifeMs >= MIN_LIFE_MS && lifeMs <= MAX_LIFE_MS) return lifeMs;
  throw new AppError("request_invalid", `expires_in is ${text}; choose between 1m and 30d`);
}
