// The extended JSON, by itself.

import assert from "node:assert/strict";
import { test } from "node:test";

import { atMost, limitsOf } from "../belljar/src/limits.js";
import { decode, encode } from "../belljar/src/values.js";

const roundTrip = (value) => decode(JSON.parse(encode(value)));

test("bytes of all kinds come back as they were", () => {
  const source = new Uint8Array([0, 1, 2, 253, 254, 255, 3, 4]);
  const values = [
    source, source.subarray(2, 5), source.buffer, new Int16Array([-1, 300]), new Float64Array([0.5, -0]),
    new BigInt64Array([-1n]), new DataView(source.buffer, 1, 3), new Uint8Array(0),
  ];
  assert.deepEqual(roundTrip(values), [...values.slice(0, 6), new DataView(source.buffer.slice(1, 4)), new Uint8Array(0)]);
  assert.deepEqual(roundTrip({ deep: [{ bytes: Buffer.from("hi") }] }), { deep: [{ bytes: new Uint8Array([104, 105]) }] });
  const large = Uint8Array.from({ length: 100_000 }, (_, index) => index);
  assert.deepEqual(roundTrip(large), large);
});

test("undefined stays undefined in lists, and in objects is left out", () => {
  assert.deepEqual(roundTrip([undefined, [1, undefined], { a: undefined }]), [undefined, [1, undefined], {}]);
});

test("sets and maps become the same as those of a script", () => {
  const values = [new Set([1, undefined, new Set()]), new Map([["a", new Map()], ["__proto__", 1]]), new Map([[1, "x"], ["y", 2]])];
  assert.equal(encode(values), '[[1,{"$belljar":"undefined"},[]],{"a":{},"__proto__":1},[[1,"x"],["y",2]]]');
  assert.deepEqual(roundTrip(new Map([["$belljar", "undefined"]])), { $belljar: "undefined" });
});

test("an object that looks like an escape is not decoded", () => {
  for (const value of [
    { $belljar: "undefined" },
    { $belljar: { bytes: "AAAA", type: "Uint8Array" } },
    { $belljar: { object: { $belljar: "undefined" } } },
    { $belljar: { $belljar: new Uint8Array([1]) } },
    { $belljar: 1, other: 2 },
    [{ $belljar: new Uint8Array([1]) }],
  ]) {
    assert.deepEqual(roundTrip(value), value);
  }
});

test("all other values are encoded as in JSON", () => {
  assert.equal(encode(undefined), undefined);
  assert.equal(encode({ a: undefined, b: [null, Number.NaN], c: new Date(0) }), '{"b":[null,null],"c":"1970-01-01T00:00:00.000Z"}');
  assert.throws(() => encode({ big: 1n }), TypeError);
  const circle = [];
  circle.push(circle);
  assert.throws(() => encode(circle), TypeError);
});

test("a key named __proto__ stays a key", () => {
  const decoded = decode(JSON.parse('{"__proto__":{"$belljar":{"bytes":"AQ=="}},"a":{"__proto__":{"x":1}}}'));
  assert.deepEqual(Object.keys(decoded), ["__proto__", "a"]);
  assert.equal(Object.getPrototypeOf(decoded), Object.prototype);
  assert.deepEqual(Object.getOwnPropertyDescriptor(decoded, "__proto__").value, new Uint8Array([1]));
  assert.equal({}.x, undefined);
});

test("malformed special values are left as they are", () => {
  for (const text of ['{"$belljar":"other"}', '{"$belljar":7}', '{"$belljar":null}', '{"$belljar":{"bytes":3}}']) {
    assert.deepEqual(decode(JSON.parse(text)), JSON.parse(text));
  }
  assert.deepEqual(decode({ $belljar: { bytes: "AQID", type: "Float64Array" } }), new Uint8Array([1, 2, 3]));
});

test("limits get belljar's names and units, and default limits stay below the ceiling", () => {
  const given = limitsOf({ timeout: 30_000, compute: 0.2, maxCalls: 3, memory: "64MiB", call: "2s", fuel: undefined });
  assert.deepEqual(given, { timeout: "30000ms", compute: "1ms", max_calls: 3, memory: "64MiB", call: "2s" });
  const ceiling = { timeout: "1m 30s", compute: "10s", max_calls: 3, memory: 1024 };
  assert.deepEqual(atMost({ timeout: "30000ms", compute: "10001ms", max_calls: 2, memory: "1MiB", call: "2s" }, ceiling), {
    timeout: "30000ms", compute: "10s", max_calls: 2, memory: 1024, call: "2s",
  });
});
