// JSON Schema as TypeScript types for a model to read. It covers what tool schemas usually contain;
// everything else is `unknown`.

/** Types nested deeper than this are `unknown`, since schemas may refer to themselves. */
const MAX_DEPTH = 8;
const NAMES = { string: "string", number: "number", integer: "number", boolean: "boolean", null: "null" };
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** The TypeScript type of the values that `schema` allows. */
export function typeOf(schema, root = schema, depth = 0) {
  if (schema === null || typeof schema !== "object" || depth > MAX_DEPTH) return "unknown";
  const inner = (part) => typeOf(part, root, depth + 1);
  if (typeof schema.$ref === "string") return inner(resolve(schema.$ref, root));
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map((value) => JSON.stringify(value)));
  const either = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(either)) return union(either.map(inner));
  if (Array.isArray(schema.allOf)) return schema.allOf.map(inner).join(" & ");
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => inner({ ...schema, type })));
  if (schema.type === "array") return `Array<${schema.items ? inner(schema.items) : "unknown"}>`;
  if (schema.type === "object" || schema.properties) return objectOf(schema, inner);
  return NAMES[schema.type] ?? "unknown";
}

/** A name as a key in a type or an object literal. */
export function memberName(name) {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

/** A description as a one-line comment; empty if there is no description. */
export function comment(text) {
  const line = String(text ?? "").replace(/\s+/g, " ").replaceAll("*/", "* /").trim();
  return line === "" ? "" : `/** ${line} */ `;
}

function objectOf(schema, inner) {
  const required = new Set(schema.required);
  const members = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const mark = required.has(name) ? "" : "?";
    return `${comment(property?.description)}${memberName(name)}${mark}: ${inner(property)}`;
  });
  const rest = schema.additionalProperties;
  if (members.length === 0) {
    return rest && typeof rest === "object" ? `Record<string, ${inner(rest)}>` : "Record<string, unknown>";
  }
  return `{ ${members.join("; ")} }`;
}

function union(types) {
  return [...new Set(types)].join(" | ") || "never";
}

function resolve(reference, root) {
  if (!reference.startsWith("#")) return undefined;
  const steps = reference.slice(1).split("/").slice(1);
  return steps.reduce((at, step) => at?.[decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")], root);
}
