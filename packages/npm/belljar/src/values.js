// JSON with undefined and bytes, which are sent as objects whose only key is "$belljar".

const KEY = "$belljar";

/** Whether a text may contain special values. If not, it need not be decoded. */
export const isExtended = (text) => text.includes(`"${KEY}"`);

/**
 * `value` as JSON with bytes; undefined if the value itself is undefined. As in a script, a Set
 * becomes a list, and a Map becomes an object if all its keys are strings, else a list of entries.
 *
 * @throws {TypeError} for a cycle or a BigInt, as JSON.stringify does
 */
export function encode(value) {
  return isPlain(value) ? JSON.stringify(value) : JSON.stringify(value, replacer(new WeakSet()));
}

/** Replaces special objects by what they stand for, within `value` itself. */
export function decode(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) value[index] = decode(value[index]);
    return value;
  }
  const keys = Object.keys(value);
  if (keys.length === 1 && keys[0] === KEY) return special(value[KEY]);
  return decodeMembers(value, keys);
}

function decodeMembers(value, keys) {
  for (const key of keys) {
    const member = value[key];
    if (member === null || typeof member !== "object") continue;
    // Not an assignment, since one to `__proto__` would change the prototype.
    const decoded = decode(member);
    if (decoded !== member) {
      Object.defineProperty(value, key, { value: decoded, writable: true, enumerable: true, configurable: true });
    }
  }
  return value;
}

function special(content) {
  if (content === "undefined") return undefined;
  if (typeof content?.bytes === "string") return bytesOf(content.bytes, content.type);
  if (content?.object && typeof content.object === "object") {
    return decodeMembers(content.object, Object.keys(content.object));
  }
  return { [KEY]: content };
}

/** Whether JSON.stringify alone encodes `value` correctly. */
function isPlain(value, depth = 0) {
  if (value === null || typeof value !== "object") return true;
  if (depth > 100 || value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return false;
  if (value instanceof Map || value instanceof Set) return false;
  if (Array.isArray(value)) return value.every((element) => element !== undefined && isPlain(element, depth + 1));
  return Object.keys(value).every((key) => key !== KEY && isPlain(value[key], depth + 1));
}

function replacer(escaped) {
  return function replace(key, value) {
    // A Buffer has a toJSON, which has changed `value`; the holder still has the bytes.
    const original = this[key];
    // In an array only: as a member of an object it is left out, as in JSON.
    if (original === undefined && Array.isArray(this)) return { [KEY]: "undefined" };
    if (original instanceof ArrayBuffer || ArrayBuffer.isView(original)) {
      const type = original.constructor.name === "Buffer" ? "Uint8Array" : original.constructor.name;
      return { [KEY]: { bytes: toBase64(original), type } };
    }
    if (key === "object" && escaped.has(this)) return value;
    // JSON.stringify would write them as {} and lose their entries.
    if (value instanceof Set) return [...value];
    if (value instanceof Map) value = fromMap(value);
    if (value && typeof value === "object" && !Array.isArray(value) && !isBytes(this, key)) {
      const keys = Object.keys(value);
      if (keys.length === 1 && keys[0] === KEY) {
        const wrapper = { object: value };
        escaped.add(wrapper);
        return { [KEY]: wrapper };
      }
    }
    return value;
  };
}

function fromMap(map) {
  const entries = [...map];
  return entries.every(([key]) => typeof key === "string") ? Object.fromEntries(entries) : entries;
}

function isBytes(holder, key) {
  return key === KEY && typeof holder[KEY]?.bytes === "string";
}

function toBase64(bytes) {
  const view = bytes instanceof ArrayBuffer
    ? new Uint8Array(bytes)
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (globalThis.Buffer) return globalThis.Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("base64");
  let text = "";
  // In pieces, since the number of arguments of a call is limited.
  for (let at = 0; at < view.length; at += 0x8000) text += String.fromCharCode(...view.subarray(at, at + 0x8000));
  return btoa(text);
}

const TYPES = new Map(
  [Uint8Array, Int8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
    Float64Array, BigInt64Array, BigUint64Array, DataView].map((type) => [type.name, type]),
);

function bytesOf(base64, type) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  if (type === "ArrayBuffer") return bytes.buffer;
  const Type = TYPES.get(type) ?? Uint8Array;
  const width = Type.BYTES_PER_ELEMENT ?? 1;
  return bytes.length % width === 0 ? new Type(bytes.buffer) : bytes;
}
