import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { errorIn, itemError, validationError } from "./error-body.ts";

test("the error for a request that violates rules numbers the problems, and carries them as they are", () => {
  const problems = ["[a; 2: b] is unknown", "c is missing"];
  const error = validationError(problems);
  assert.deepEqual(error.data["problems"], problems);
  assert.deepEqual(itemError(error), {
    type: "action_request_validation_exception",
    reason: "Validation Failed: 1: [a; 2: b] is unknown;2: c is missing;",
  });
});

for (const [javaClass, status, type] of [
  ["java.lang.IllegalArgumentException", 400, "illegal_argument_exception"],
  ["java.lang.IllegalStateException", 500, "illegal_state_exception"],
  ["ElasticsearchParseException", 400, "parse_exception"],
  ["org.elasticsearch.ingest.common.FailProcessorException", 500, "fail_processor_exception"],
] as const) {
  test(`a processor's ${type} is answered as such with ${status} from 7 on`, () => {
    const data = { java_class: javaClass, header: { processor_type: "p" } };
    const error = errorIn(new AppError("request_invalid", "why", { data }), 700);
    assert.deepEqual([error.status, itemError(error)], [status, { type, reason: "why" }]);
    assert.deepEqual(itemError(errorIn(error, 700)), itemError(error));
  });
}

test("a faulty definition is answered with its processor beside the reason from 7 on, in a header before", () => {
  const header = { processor_type: "p", processor_tag: "t", property_name: "n" };
  const error = new AppError("request_invalid", "why", { data: { type: "parse_exception", header } });
  const type = "parse_exception";
  assert.deepEqual(itemError(errorIn(error, 605)), { type, reason: "why", header });
  assert.deepEqual(itemError(errorIn(error, 717)), { type, reason: "why", ...header });
});
