/**
 * Serves the dashboard's files. Browsers cache files with a hash in their name permanently and revalidate the page
 * itself each time.
 */

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";

/** Allows resources of this origin only, no frames and no other base. Icons are data URLs that components fetch. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self' data:",
  "font-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join("; ");

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};
/** `main-DDLLKNPY.js`: the part that the build puts before the extension changes with the content. */
const HASHED = /-[A-Z0-9]{8,}\.\w+$/;
const PAGE = "index.html";
const NOT_BUILT = "The dashboard isn't built. Run `npm run build` and start the hub again.\n";

/**
 * Returns a fastify plugin that serves `folder`. Other paths that a browser requests as a page are answered with the
 * page.
 */
export function staticPages(folder: string): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    if (!existsSync(join(folder, PAGE))) {
      app.get("/*", (_request, reply) =>
        reply.code(404).headers(SECURITY_HEADERS).type("text/plain").send(NOT_BUILT),
      );
      return;
    }
    await app.register(fastifyStatic, {
      root: folder,
      preCompressed: true,
      cacheControl: false,
      index: [PAGE],
      setHeaders(reply, path) {
        const name = basename(path).replace(/\.(?:gz|br)$/, "");
        void reply.headers({ ...SECURITY_HEADERS, "cache-control": cacheControl(name) });
      },
    });
    app.setNotFoundHandler((request, reply) => {
      const wantsPage = request.method === "GET" && (request.headers.accept ?? "").includes("text/html");
      return wantsPage
        ? page(reply)
        : reply.code(404).headers(SECURITY_HEADERS).type("text/plain").send("Not found\n");
    });
  };
}

function cacheControl(name: string): string {
  return HASHED.test(name) ? "public, max-age=31536000, immutable" : "no-cache";
}

function page(reply: FastifyReply): FastifyReply {
  return reply.sendFile(PAGE);
}
