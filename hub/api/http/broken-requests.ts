/** Answers requests that aren't valid HTTP: a head that can't be parsed or is too long, an incomplete request. */

import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { AppError, systemCode } from "#proto/kit/errors.ts";

/** Time that a client has to read the answer before its connection is destroyed. */
const CLOSE_MS = 1_000;

/** Returns the handler that answers on a connection whose request couldn't be parsed, and then closes it. */
export function answerBroken(
  errorBody: (error: AppError) => unknown,
): (error: Error, socket: Duplex) => void {
  return (error, socket) => {
    if (systemCode(error) === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    // A client that doesn't read the answer must not keep its connection.
    setTimeout(() => socket.destroy(), CLOSE_MS).unref();
    const fault = faultOf(error);
    const body = JSON.stringify(errorBody(fault));
    socket.end(
      `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}\r\nconnection: close\r\n` +
        `content-type: application/json; charset=UTF-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      () => socket.destroy(),
    );
  };
}

function faultOf(error: Error): AppError {
  switch (systemCode(error)) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new AppError("request_timeout", "the request was not complete in time; send it again");
    case "HPE_HEADER_OVERFLOW":
      return new AppError(
        "head_too_large",
        "the address and the headers of the request are too long together; send parameters in the body",
      );
    default: {
      const { reason = "it can't be parsed" } = error as { reason?: string };
      return new AppError("request_invalid", `the request is not valid HTTP: ${reason}`);
    }
  }
}
