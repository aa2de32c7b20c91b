/** `/api/auth/setup/{token}`: the page that creates the first administrator. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, type Route, redirect } from "#hub/api/http/route.ts";
import type { Auth } from "#hub/auth/auth.ts";
import { openSession } from "#hub/auth/sign-in/browser-session.ts";
import { checkFormToken, field, formToken, readForm } from "#hub/auth/web/forms.ts";
import { type Html, pageAnswer } from "#hub/auth/web/page.ts";
import { languageOf, sayIn } from "#hub/auth/web/page-language.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { PAGE_ROUTE } from "./shared.ts";
import { failureBody, setupBody } from "./sign-in-pages.ts";

const LINK_OVER =
  "This link was used or is too old. Start the hub again for a new one, or run tailrace-hub user add.";

type SetupParts = Pick<Auth, "accounts" | "firstAdministrator" | "sessions" | "cookies" | "formKey">;

export function setupRoutes(auth: SetupParts): Route[] {
  return [
    {
      ...PAGE_ROUTE,
      methods: ["GET"],
      paths: ["/api/auth/setup/{token}"],
      summary: "Shows the page that creates the first administrator.",
      handle: (request) => showSetup(auth, request),
    },
    {
      ...PAGE_ROUTE,
      methods: ["POST"],
      paths: ["/api/auth/setup/{token}"],
      summary: "Creates the first administrator and signs it in.",
      handle: (request) => setUp(auth, request),
    },
  ];
}

async function showSetup(auth: SetupParts, request: ApiRequest): Promise<ApiResponse> {
  if (await auth.firstAdministrator.knows(request.segment("token"))) return setupPage(auth, request, 200);
  const say = sayIn(languageOf(request.headers["accept-language"]));
  return answer(request, 403, say("Link over"), failureBody(say, "This link is over", LINK_OVER));
}

async function setUp(auth: SetupParts, request: ApiRequest): Promise<ApiResponse> {
  const token = request.segment("token");
  const fields = await readForm(request.headers["content-type"], request.body);
  const name = field(fields, "name").trim();
  try {
    checkFormToken(auth.formKey, `setup:${token}`, field(fields, "token"));
    const { id } = await auth.firstAdministrator.create(token, name, field(fields, "password"));
    const account = await auth.accounts.get(id);
    if (account === null) throw new AppError("unavailable", "the account was removed just now");
    return redirect("/", [await openSession(auth, request, { id, account })]);
  } catch (error) {
    const { code, message, status } = toAppError(error);
    if (code === "request_invalid") return setupPage(auth, request, 400, name, `${message}.`);
    const say = sayIn(languageOf(request.headers["accept-language"]));
    return answer(request, status, say("Set up"), failureBody(say, "This can't go on", `${message}.`));
  }
}

/** Returns the page with its form; `problem`: why the last attempt failed. */
function setupPage(
  { formKey }: SetupParts,
  request: ApiRequest,
  status: number,
  name = "",
  problem = "",
): ApiResponse {
  const say = sayIn(languageOf(request.headers["accept-language"]));
  const token = formToken(formKey, `setup:${request.segment("token")}`);
  return answer(request, status, say("Set up"), setupBody(say, request.uri, token, name, problem));
}

function answer({ headers }: ApiRequest, status: number, title: string, body: Html): ApiResponse {
  return pageAnswer(status, title, body, headers["accept-language"]);
}
