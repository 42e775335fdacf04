"""Tools of other hosts as TypeScript for a model to read: names, and types made from JSON Schema.

The types are only read, so anything without a short form is `unknown`. A schema may come from
anywhere, so depth and length are bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

_DEEPEST: Final = 8
_MOST_PROPERTIES: Final = 100
_LONGEST_TYPE: Final = 4_000
_LONGEST_COMMENT: Final = 2_000

_SIMPLE: Final[dict[str, str]] = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
}


@dataclass(frozen=True)
class Declared:
    """A tool of another host, under the name that scripts use."""

    name: str
    """A JavaScript identifier."""
    tool: str
    """The host's own name for the tool."""
    description: str | None
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None


def identifier(name: str) -> str:
    """The name as a property that a script can write after a dot."""
    made = re.sub(r"[^A-Za-z0-9_$]", "_", name) or "_"
    return f"_{made}" if made[0].isdigit() else made


def check_names(declared: Iterable[Declared]) -> None:
    """Raises `ValueError` if two tools would have the same name in a script."""
    seen: dict[str, str] = {}
    for one in declared:
        other = seen.setdefault(one.name, one.tool)
        if other != one.tool:
            raise ValueError(
                f"the tools {other!r} and {one.tool!r} would both be {one.name} in a script: "
                "rename one"
            )


def declare_namespace(name: str, declared: Iterable[Declared]) -> str:
    """The declaration of an object with these tools."""
    lines = [f"declare const {name}: {{"]
    for one in declared:
        lines += [f"  {line}" for line in _comment(one.description)]
        given = type_of(one.input_schema)
        answer = "unknown" if one.output_schema is None else type_of(one.output_schema)
        lines.append(f"  {one.name}(input: {given}): Promise<{answer}>;")
    return "\n".join([*lines, "};"])


def type_of(schema: Mapping[str, Any]) -> str:
    """The schema as a one-line type."""
    made = _type(schema, schema, 0)
    return made if len(made) <= _LONGEST_TYPE else "Record<string, unknown>"


def _type(schema: Any, root: Mapping[str, Any], depth: int) -> str:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return "unknown"
    if "$ref" in schema:
        return _type(_referred(schema["$ref"], root), root, depth + 1)
    if "const" in schema:
        return json.dumps(schema["const"])
    if isinstance(schema.get("enum"), list):
        return _union(json.dumps(value) for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return _union(_type(one, root, depth + 1) for one in schema[key])
    if isinstance(schema.get("allOf"), list) and schema["allOf"]:
        return " & ".join(_type(one, root, depth + 1) for one in schema["allOf"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return _union(_type({**schema, "type": one}, root, depth + 1) for one in kind)
    if kind == "array":
        item = _type(schema.get("items"), root, depth + 1)
        return f"({item})[]" if " " in item and not item.endswith("}") else f"{item}[]"
    if kind == "object" or "properties" in schema:
        return _object(schema, root, depth)
    return _SIMPLE.get(str(kind), "unknown")


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        more = schema.get("additionalProperties")
        if isinstance(more, Mapping):
            return f"Record<string, {_type(more, root, depth + 1)}>"
        return "{}" if more is False or isinstance(properties, Mapping) else "Record<string, unknown>"
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) else set()
    members = [
        f"{_key(name)}{'' if name in needed else '?'}: {_type(one, root, depth + 1)}"
        for name, one in list(properties.items())[:_MOST_PROPERTIES]
    ]
    if len(properties) > _MOST_PROPERTIES:
        members.append("[more: string]: unknown")
    return "{ " + "; ".join(members) + " }"


def _union(types: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(types)) or "never"


def _key(name: str) -> str:
    return name if identifier(name) == name else json.dumps(name)


def _referred(reference: Any, root: Mapping[str, Any]) -> Any:
    """What a `$ref` within the same schema refers to."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found: Any = root
    for step in reference[1:].split("/")[1:]:
        if not isinstance(found, Mapping):
            return None
        found = found.get(step.replace("~1", "/").replace("~0", "~"))
    return found


def _comment(text: str | None) -> list[str]:
    if not text:
        return []
    safe = text.strip()[:_LONGEST_COMMENT].replace("*/", "* /")
    lines = [line.rstrip() for line in safe.splitlines()]
    if len(lines) == 1:
        return [f"/** {lines[0]} */"]
    return ["/**", *(f" * {line}".rstrip() for line in lines), " */"]
