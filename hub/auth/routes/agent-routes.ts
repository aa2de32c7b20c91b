/** Routes of agents' credentials: enrolment by the agent itself, and what administrators do with them. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AgentCredential, AgentCredentials } from "#hub/auth/accounts/agent-credentials.ts";
import { type AddJsonRoute, checked } from "#hub/auth/web/json-routes.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Type } from "#proto/kit/schema.ts";
import { parseDuration } from "#proto/kit/units.ts";

/** Where and how agents reach NATS. */
export interface AgentAccess {
  /** nats:// or tls:// addresses. */
  readonly servers: readonly string[];
  /** PEM of the authority to trust; empty where the system's own ones do, or where there is no TLS. */
  readonly ca: string;
  /** SHA-256 of the dashboard's authority or certificate, hexadecimal; empty where the system's authorities do. */
  readonly caFingerprint: string;
}

/** Longest life of an enrolment token. */
const MAX_LIFE_MS = 30 * 86_400_000;
const MIN_LIFE_MS = 60_000;
const ENROL_BODY_LIMIT_BYTES = 4 * 1024;

const closed = { additionalProperties: false } as const;
const NewAgentBody = Type.Object({ name: Type.String(), agent_id: Type.Optional(Type.String()) }, closed);
const NewTokenBody = Type.Object({ expires_in: Type.Optional(Type.String()) }, closed);
const EnrolBody = Type.Object(
  {
    token: Type.String({ maxLength: 200 }),
    name: Type.String({ maxLength: 200 }),
    public_key: Type.String({ maxLength: 200 }),
    agent_id: Type.Optional(Type.String({ maxLength: 200 })),
  },
  closed,
);

export interface AgentRouteParts {
  readonly agents: AgentCredentials;
  /** Null where another NATS is used, which knows its users itself. */
  readonly agentAccess: () => AgentAccess | null;
  readonly publicUrl: () => string;
}

/** Adds what administrators do. */
export function agentRoutes(route: AddJsonRoute, parts: AgentRouteParts): void {
  const { agents } = parts;
  route("GET", "agents", 200, async () => ({
    agents: (await agents.list()).map(agentView),
    enrolments: (await agents.openEnrolments()).map(({ id, createdBy, expiresAt }) => ({
      id,
      created_by: createdBy,
      expires_at: new Date(expiresAt).toISOString(),
    })),
    reach: { dashboard: parts.publicUrl(), nats: parts.agentAccess()?.servers ?? [] },
  }));
  route("POST", "agents", 201, async ({ actor, body }) => {
    const { name, agent_id } = checked(NewAgentBody, body);
    const { servers, ca } = requireAccess(parts);
    const { seed, credential } = await agents.issue(name, actor.name, agent_id);
    return { seed, ...agentView(credential), servers, ca };
  });
  route("POST", "agents/enrolment", 201, async ({ actor, body }) => {
    const { expires_in } = checked(NewTokenBody, body ?? {});
    const lifeMs = expires_in === undefined ? undefined : lifeOf(expires_in);
    const { caFingerprint } = requireAccess(parts);
    const { id, token, expiresAt } = await agents.newEnrolmentToken(actor.name, lifeMs);
    const command = enrolCommand(parts.publicUrl(), token, caFingerprint);
    return { id, token, expires_at: new Date(expiresAt).toISOString(), command };
  });
  route("DELETE", "agents/enrolment/:id", 204, ({ actor, id }) => agents.withdrawEnrolment(id, actor.name));
  route("DELETE", "agents/:id", 204, ({ actor, id }) => agents.revoke(id, actor.name));
}

/** Adds `POST /api/agents/enroll`, authenticated by the one-time token itself. */
export function addEnrolmentRoute(app: FastifyInstance, parts: AgentRouteParts): void {
  app.post("/api/agents/enroll", { bodyLimit: ENROL_BODY_LIMIT_BYTES }, (request, reply) =>
    enrol(request, reply, parts),
  );
}

async function enrol(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: AgentRouteParts,
): Promise<FastifyReply> {
  const { token, name, public_key: publicKey, agent_id: agentId } = checked(EnrolBody, request.body);
  const { servers, ca } = requireAccess(parts);
  const wanted = { token, name, publicKey, ...(agentId === undefined ? {} : { agentId }) };
  const credential = await parts.agents.enrol(wanted);
  const answer = {
    name: credential.name,
    agent_id: credential.agentId,
    servers,
    ca,
    subject_prefix: `agent.${credential.agentId}`,
  };
  return reply.code(200).header("cache-control", "no-store").send(answer);
}

function agentView({
  publicKey,
  name,
  agentId,
  issuedAt,
  issuedBy,
}: AgentCredential): Record<string, string> {
  return {
    public_key: publicKey,
    name,
    agent_id: agentId,
    issued_at: new Date(issuedAt).toISOString(),
    issued_by: issuedBy,
  };
}

function requireAccess({ agentAccess }: AgentRouteParts): AgentAccess {
  const access = agentAccess();
  if (access !== null) return access;
  throw new AppError(
    "not_offered",
    "this hub uses the NATS of nats.servers, which knows its users itself; make the agent's credentials there",
  );
}

/** Returns the line that is run on the agent's machine. */
export function enrolCommand(hubUrl: string, token: string, caFingerprint: string): string {
  const pin = caFingerprint === "" ? "" : ` --ca-fingerprint ${caFingerprint}`;
  return `tailrace-agent enroll ${hubUrl} ${token}${pin}`;
}

function lifeOf(text: string): number {
  const lifeMs = parseDuration(text);
  if (lifeMs >= MIN_LIFE_MS && lifeMs <= MAX_LIFE_MS) return lifeMs;
  throw new AppError("request_invalid", `expires_in is ${text}; choose between 1m and 30d`);
}
