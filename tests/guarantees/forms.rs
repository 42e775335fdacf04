//! All forms in which models write programs are understood, and errors in a program are reported
//! with their position.

use belljar_model::{ErrorKind, RunError};
use serde_json::{Value, json};

use crate::support::{error_of, value};

/// Runs each script and compares its value.
async fn expect_values(rows: &[(&str, Value)]) {
    for (source, expected) in rows {
        assert_eq!(value(source).await, *expected, "{source}");
    }
}

fn place(error: &RunError) -> (Option<u32>, Option<u32>) {
    (error.line, error.column)
}

#[tokio::test]
async fn the_value_is_what_is_returned_or_else_the_last_expression() {
    expect_values(&[
        ("return 1 + 1", json!(2)),
        ("1 + 1", json!(2)),
        ("const a = 1; a + 1", json!(2)),
        ("const a = 1; a + 1;\n// a comment\n;;", json!(2)),
        ("const r = await box.echo({ a: 1 });\nr", json!({ "a": 1 })),
        ("await box.echo({ a: 1 })", json!({ "a": 1 })),
        ("box.echo({ a: 1 })", json!({ "a": 1 })),
        ("if (true) { return 'early' }\n'late'", json!("early")),
        ("({ a: 1, b: [2] })", json!({ "a": 1, "b": [2] })),
        ("'a lone string'", json!("a lone string")),
        ("`a ${'template'}`", json!("a template")),
        ("\"use strict\"; 5", json!(5)),
        ("let n = 0; for (let i = 0; i < 4; i++) n += i; n", json!(6)),
        // A function declared last exists before the first statement, so the value is still the
        // expression's.
        ("main();\nasync function main() { return await box.add({ a: 1, b: 2 }) }", json!(3)),
    ])
    .await;
}

#[tokio::test]
async fn a_program_without_a_value_gives_null() {
    for source in
        ["", "  \n\t\n", "// nothing", "const a = 1;", "return", "undefined", "void 0", "if (true) { 5 }", "class A {}"]
    {
        assert_eq!(value(source).await, Value::Null, "{source}");
    }
}

#[tokio::test]
async fn await_works_at_the_top_level_and_inside_of_blocks() {
    expect_values(&[
        ("const a = await 1; const b = await Promise.resolve(2); return a + b", json!(3)),
        ("let n = 0; for (const x of [1, 2]) { n += await box.add({ a: x, b: 0 }) } n", json!(3)),
        ("let n = 0; for await (const x of [Promise.resolve(1), 2]) n += x; return n", json!(3)),
        ("try { await Promise.reject(new Error('no')) } catch (e) { return e.message }", json!("no")),
    ])
    .await;
}

#[tokio::test]
async fn a_function_that_is_the_whole_program_is_called() {
    expect_values(&[
        ("() => 5", json!(5)),
        ("async () => { const r = await box.add({ a: 1, b: 2 }); return r }", json!(3)),
        ("async () => await box.add({ a: 1, b: 2 });", json!(3)),
        ("(async () => 6)", json!(6)),
        ("(function () { return 7 })", json!(7)),
        ("(async function main() { return 8 })", json!(8)),
        ("(async () => 9)()", json!(9)),
        ("function main() { return 10 }", json!(10)),
        ("async function main(): Promise<number> { return await box.add({ a: 5, b: 6 }) }", json!(11)),
        ("// what it does\ntype R = number;\nasync (): Promise<R> => 12", json!(12)),
    ])
    .await;
}

#[tokio::test]
async fn a_function_that_is_not_the_whole_program_is_a_value_like_any_other() {
    expect_values(&[
        ("const a = 1; () => a", Value::Null),
        ("function main() { return 1 }\nfunction other() { return 2 }", Value::Null),
        ("function main() { return 1 }\nmain", Value::Null),
    ])
    .await;
}

#[tokio::test]
async fn a_default_export_is_the_value_and_is_called_if_it_is_a_function() {
    expect_values(&[
        ("export default 5", json!(5)),
        ("export default { a: 1 }", json!({ "a": 1 })),
        ("export default async () => await box.add({ a: 1, b: 2 })", json!(3)),
        ("export default function () { return 4 }", json!(4)),
        ("export default async function main() { return helper() }\nfunction helper() { return 5 }", json!(5)),
        ("export const x = 1;\nexport function f() { return x + 1 }\nexport default f()", json!(2)),
        ("const x = 3;\nexport { x };\nx", json!(3)),
        ("export default await box.echo({ a: 1 })", json!({ "a": 1 })),
        // A function that is exported by its name is called, unless the program does so itself.
        ("export default main;\nasync function main() { return await box.add({ a: 1, b: 2 }) }", json!(3)),
        ("const main = async () => 6;\nexport default main;", json!(6)),
        ("let calls = 0;\nfunction main() { return ++calls }\nexport default main;\nmain() + 10", json!(11)),
        ("let calls = 0;\nexport default async function main() { return ++calls }\n(await main()) + 10", json!(11)),
        ("export default function depth(n = 3) { return n && 1 + depth(n - 1) }", json!(3)),
        ("const limit = 5;\nexport default limit;", json!(5)),
        // A default export is declared like anything else.
        ("const one = helper();\nexport default function helper() { return 7 }\none", json!(7)),
        ("export default class Job { static next = 8 }\nreturn Job.next", json!(8)),
        ("#!/usr/bin/env node\nconst nine = 9;\nnine", json!(9)),
    ])
    .await;
}

#[tokio::test]
async fn a_fenced_block_is_unwrapped() {
    expect_values(&[
        ("```js\nreturn 1\n```", json!(1)),
        ("```typescript\nconst a: number = 2;\na\n```\n", json!(2)),
        ("\n\n  ```\n  3\n  ```", json!(3)),
        ("```ts\n4\n```\nThis returns four.", json!(4)),
        ("```js\r\nreturn 5\r\n```\r\n", json!(5)),
        ("```js\nreturn 6", json!(6)),
        ("Here is the script:\n\n```js\nreturn 7\n```\nIt returns seven.", json!(7)),
        ("~~~js\nreturn 8\n~~~", json!(8)),
        // Back-ticks inside of a program are its own.
        ("const fence = '```';\nreturn fence", json!("```")),
    ])
    .await;
}

#[tokio::test]
async fn positions_in_a_fenced_block_are_those_of_the_whole_text() {
    let error = error_of(ErrorKind::Exception, "```js\nconst a = null;\n  a.b;\n```").await;
    assert_eq!(error.line, Some(3), "{error:#?}");
    assert!(error.frame.as_deref().is_some_and(|frame| frame.contains(">    3 |   a.b;")), "{error:#?}");
    let error = error_of(ErrorKind::Syntax, "```js\nconst a = ;\n```").await;
    assert_eq!(place(&error), (Some(2), Some(11)), "{error:#?}");
}

#[tokio::test]
async fn typescript_is_understood() {
    expect_values(&[
        ("const a: number = 1; const b = <T,>(x: T): T => x; b<number>(a)", json!(1)),
        ("interface P { name: string; age?: number }\ntype Q = P & { id: 1 | 2 };\nconst q: Q = { name: 'n', id: 1 }; q", json!({ "name": "n", "id": 1 })),
        ("enum Color { Red, Green = 5, Blue }\n[Color.Blue, Color[5]]", json!([6, "Green"])),
        ("const enum E { A = 'a', B = 'b' }\nE.B", json!("b")),
        ("namespace N { export const x = 1; export namespace M { export const y = x + 1 } }\nN.M.y", json!(2)),
        ("class P { constructor(public readonly x: number, private y = 2) {} sum() { return this.x + this.y } }\nnew P(1).sum()", json!(3)),
        ("abstract class S { abstract area(): number; twice() { return 2 * this.area() } }\nclass Q extends S { area() { return 4 } }\nnew Q().twice()", json!(8)),
        ("const c = { a: [1, 2] as const, b: 'x' } satisfies { a: readonly number[]; b: string }; c.a.length", json!(2)),
        ("const m = new Map<string, number>([['a', 1]]); m.get('a')!", json!(1)),
        ("function f(x: string): string; function f(x: number): number; function f(x: any) { return x }\nf(3)", json!(3)),
        ("function isS(x: unknown): x is string { return typeof x === 'string' }\nisS('a')", json!(true)),
        ("declare const nothing: string; declare function none(): void;\nlet u!: number; u = 4; u", json!(4)),
        ("class G<T extends object = {}> { #items: T[] = []; add(this: G<T>, x: T): this { this.#items.push(x); return this } get n() { return this.#items.length } }\nnew G<{ a: 1 }>().add({ a: 1 }).n", json!(1)),
        ("import type { A } from './types';\nexport type B = A;\nexport interface C { a: B }\nconst x = 1 as unknown as number; x", json!(1)),
        ("import { type A } from './types';\n2", json!(2)),
        ("const x = <number>5; let y: typeof x = x; y", json!(5)),
        ("const r: Record<string, { n: number }> = await box.echo({ a: { n: 1 } }) as any; r.a?.n ?? 0", json!(1)),
    ])
    .await;
}

#[tokio::test]
async fn every_part_of_typescript_that_means_something_when_it_runs_does() {
    expect_values(&[
        ("enum E { A = 1 << 2, B = A | 1, C = 'x'.length, D }\n[E.A, E.B, E.C, E.D, E[5]]", json!([4, 5, 1, 2, "B"])),
        ("enum E { A = 'a' }\nenum E { B = 'b' }\nObject.values(E)", json!(["a", "b"])),
        ("const enum Flags { None, Read = 1 << 0, Write = 1 << 1, All = Read | Write }\nFlags.All", json!(3)),
        ("declare enum Elsewhere { A }\nexport enum Here { A = 7 }\nHere.A", json!(7)),
        ("namespace A.B.C { export function f() { return 1 } }\nA.B.C.f()", json!(1)),
        ("namespace A { export const x = 1 }\nnamespace A { export const y = A.x + 1 }\nA.y", json!(2)),
        ("namespace A { let hidden = 0; export const next = () => ++hidden }\nA.next(); A.next()", json!(2)),
        ("namespace T { export type X = number }\nconst x: T.X = 1; x", json!(1)),
        ("class P { constructor(private readonly a: number, protected b = 2, public c?: string) {} all() { return [this.a, this.b, this.c ?? null] } }\nnew P(1).all()", json!([1, 2, null])),
        ("class A { x = 1 }\nclass B extends A { override x = 2; constructor(public y = 3) { super() } }\nnew B().x", json!(2)),
        ("abstract class A { abstract get n(): number; static create<T extends A>(this: new () => T): T { return new this() } }\nclass B extends A { get n() { return 5 } }\nB.create().n", json!(5)),
        ("class T { static #count = 0; accessor = 1; declare ghost: string; readonly list: readonly string[] = []; static { T.#count = 3 } static get count() { return T.#count } }\n[T.count, 'ghost' in new T()]", json!([3, false])),
        ("class A { private _v = 1; get v(): number { return this._v } set v(x: number) { this._v = x * 2 } }\nconst a = new A(); a.v = 5; a.v", json!(10)),
        ("class M { [key: string]: unknown; method?(): void; constructor(); constructor(x?: number) { this.x = x ?? 'none' } }\nnew M().x", json!("none")),
        ("interface A { a: 1 }\ninterface A { b: 2 }\nclass C implements A { a = 1 as const; b = 2 as const }\nnew C()", json!({ "a": 1, "b": 2 })),
        ("type Deep<T> = { readonly [K in keyof T as `get${Capitalize<string & K>}`]?: T[K] extends infer U ? U : never };\nconst d: Deep<{ x: 1 }> = {}; d", json!({})),
        ("function assert(x: unknown, message?: string): asserts x { if (!x) throw new Error(message) }\nassert(1); 'ok'", json!("ok")),
        ("const o = { a: { b: null as null | { c: number } } };\n[o?.a?.b?.c ?? 'none', o.a!.b?.['c'] ?? 0, (o as any).f?.() ?? 1]", json!(["none", 0, 1])),
        ("const id = <const T,>(x: T) => x; const pair = [id('a'), 1] satisfies [string, number]; pair", json!(["a", 1])),
        ("let x: unknown = 'text'; (<string>x).length + (x as string).length", json!(8)),
        ("const t = { a: 1, b: 2 } as const; type K = keyof typeof t; const ks = Object.keys(t) as K[]; ks", json!(["a", "b"])),
        ("function f(this: { n: number }, by: number = 2, ...rest: number[]): number { return this.n * by + rest.length }\nf.call({ n: 3 }, 4, 5, 6)", json!(14)),
        ("import type { X } from 'x'; import { type Y } from 'y';\n5", json!(5)),
        ("let v: string | undefined; v ??= 'set'; v ||= 'other'; v &&= v + '!'; v", json!("set!")),
        ("abstract class A { protected abstract x(): number }\nconst B = class extends A { protected x() { return 1 } call = () => this.x() };\nnew B().call()", json!(1)),
        ("async function* count(to: number): AsyncGenerator<number, void, undefined> { for (let i = 1; i <= to; i++) yield i }\nlet sum = 0; for await (const n of count(4)) sum += n; sum", json!(10)),
        ("const tag = (parts: TemplateStringsArray, ...values: unknown[]): string => parts.raw.join('|') + values.length;\ntag`a${1}b${2}`", json!("a|b|2")),
        ("label: for (const a of [1, 2] as number[]) { for (const b of [3]) { if (a === 1) continue label; break label } }\n'done'", json!("done")),
    ])
    .await;
}

#[tokio::test]
async fn an_exported_variable_that_changes_is_refused_and_not_lost() {
    let source = "namespace Counter {\n  export let hits = 0;\n  export function hit() { hits++ }\n}\nCounter.hit();\nCounter.hits";
    let error = error_of(ErrorKind::Syntax, source).await;
    assert_eq!(place(&error), (Some(2), Some(14)), "{error:#?}");
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("export a function")), "{error:#?}");
    expect_values(&[("namespace N { export let a = 1; export var b = a + 1 }\nN.b", json!(2))]).await;
}

#[tokio::test]
async fn positions_are_those_of_the_author_whatever_was_translated_before() {
    let types = "type Row = {\n  id: number;\n  tags?: string[];\n};\ninterface Page<T> extends Array<T> {\n  next(): Promise<Page<T>>;\n}\n\
                 enum Kind {\n  A = 'a',\n  B = 'b',\n}\nnamespace N {\n  export const x = 1;\n}\n\
                 class P<T> {\n  constructor(private readonly row: T, public kind: Kind = Kind.A) {}\n  get(): T { return this.row; }\n}\n";
    let line = u32::try_from(types.lines().count()).unwrap() + 1;
    for (statement, column, message) in [
        (
            "const p: P<Row> = new P<Row>(null!); p.get().id;",
            Some(46),
            "TypeError: Cannot read properties of null (reading 'id')",
        ),
        ("  throw new RangeError(Kind.B + N.x);", Some(9), "RangeError: b1"),
        ("const rows = [] as Row[]; rows[0]!.tags!.map((tag: string): string => tag);", None, ""),
        ("(undefined as unknown as () => void)();", None, ""),
    ] {
        let error = error_of(ErrorKind::Exception, &format!("{types}{statement}\n")).await;
        assert_eq!(error.line, Some(line), "{statement}\n{error:#?}");
        if let Some(column) = column {
            assert_eq!((error.column, error.message.as_str()), (Some(column), message), "{statement}\n{error:#?}");
        }
    }
}

#[tokio::test]
async fn imports_and_exports_of_types_alone_are_dropped() {
    for source in [
        "import type { A } from './a';\nconst a: A = 1;\na + 1",
        "import { type A, type B } from './a';\n2",
        "import type A from './a';\nexport type { A };\n2",
        "export type { A, B } from './a';\n2",
        "export { type A } from './a';\n2",
        "export type * from './a';\n2",
        "export type * as all from './a';\n2",
    ] {
        expect_values(&[(source, json!(2))]).await;
    }
}

#[tokio::test]
async fn modules_are_refused_with_what_to_do_instead() {
    for (source, named) in [
        ("import fs from 'fs';\nreturn 1", "'fs'"),
        ("const a = 1;\nimport * as path from 'node:path';", "'node:path'"),
        ("import 'left-pad'", "'left-pad'"),
        ("import { type A, b } from './b';", "'./b'"),
        ("export * from './b'", "export"),
        ("export { a } from './b'", "export"),
        ("export { type A, b } from './b'", "export"),
        ("import fs = require('fs');", "'fs'"),
    ] {
        let error = error_of(ErrorKind::Syntax, source).await;
        assert!(error.message.starts_with("SyntaxError: ") && error.message.contains(named), "{source}\n{error:#?}");
        assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("tools.list()")), "{source}\n{error:#?}");
        let line = 1 + source.lines().position(|line| line.contains("import") || line.contains("export")).unwrap();
        assert_eq!(error.line, u32::try_from(line).ok(), "{source}\n{error:#?}");
    }
    let error = error_of(ErrorKind::Exception, "const fs = await import('fs'); return fs").await;
    assert!(error.message.contains("no modules in here"), "{error:#?}");
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("tools.list()")), "{error:#?}");
}

#[tokio::test]
async fn a_syntax_error_is_shown_at_its_place() {
    for (source, line, column) in [
        ("const a = ;", 1, 11),
        ("const ok = 1;\nconst b = {;\n", 2, 12),
        ("interface A {\n  x: number;\n}\nenum B { X }\nlet c: A = (1 +;", 5, 16),
        ("return 'ünterminated", 1, 8),
        ("const s = '😀'; const = 2;", 1, 23),
        ("function f( {\n  return 1;\n}", 2, 10),
        ("let a = 1;\nlet a = 2;", 2, 5),
        ("break;", 1, 1),
        ("const x = 1;\n  const r = /(/;", 2, 13),
    ] {
        let error = error_of(ErrorKind::Syntax, source).await;
        assert_eq!(place(&error), (Some(line), Some(column)), "{source}\n{error:#?}");
        assert!(error.message.starts_with("SyntaxError: "), "{source}\n{error:#?}");
        let marked = format!("> {line:>4} | ");
        assert!(error.frame.as_deref().is_some_and(|frame| frame.contains(&marked)), "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn jsx_and_decorators_are_refused_in_plain_words() {
    for (source, word, line, column) in [
        ("const a = 1;\nreturn <div>{a}</div>", "JSX", 2, 8),
        ("const a = <><p/></>;", "JSX", 1, 11),
        ("const a = <Item name='x' />", "JSX", 1, 11),
        ("const seen = (x) => x;\n@seen class A {}", "decorators", 2, 1),
        ("class A {\n  @log() m() {}\n}", "decorators", 2, 3),
    ] {
        let error = error_of(ErrorKind::Syntax, source).await;
        assert!(error.message.contains(word), "{source}\n{error:#?}");
        assert_eq!(place(&error), (Some(line), Some(column)), "{source}\n{error:#?}");
        assert!(error.hint.is_some(), "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn what_is_held_with_using_is_disposed_of_in_any_case() {
    let disposable = "const seen = []; const held = (name) => ({ name, [Symbol.dispose]() { seen.push(name) }, async [Symbol.asyncDispose]() { await null; seen.push(name + '!') } });\n";
    for (script, expected) in [
        ("{ using a = held('a'), b = held('b'); seen.push('in ' + a.name); } seen", json!(["in a", "b", "a"])),
        ("try { using a = held('a'); throw 1 } catch { seen.push('caught') } seen", json!(["a", "caught"])),
        ("const f = () => { using a = held('a'); return seen.slice() }; [f(), seen]", json!([[], ["a"]])),
        ("for (using a of [held('a'), held('b')]) seen.push('each'); seen", json!(["each", "a", "each", "b"])),
        ("{ await using a = held('a'); using b = held('b'); } seen", json!(["b", "a!"])),
        ("{ await using a = { [Symbol.dispose]() { seen.push('at once') } }; } seen", json!(["at once"])),
        ("{ using none = null; } seen", json!([])),
        ("using a: { name: string } = held('a');\na.name + seen.length", json!("a0")),
        ("await using a = held('a'); function later() {}\n({ value: a.name })", json!({ "value": "a" })),
        (
            "const fails = (name) => ({ [Symbol.dispose]() { throw name } });\ntry { using a = fails('a'), b = fails('b'); } catch (e) { seen.push(e.name, e instanceof SuppressedError, e.error, e.suppressed) } seen",
            json!(["SuppressedError", true, "a", "b"]),
        ),
    ] {
        expect_values(&[(&format!("{disposable}{script}"), expected)]).await;
    }
    let error = error_of(ErrorKind::Exception, "const a = 1;\n{\n  using file = { close() {} };\n}").await;
    assert!(error.message.contains("must have a method [Symbol.dispose]"), "{error:#?}");
    assert_eq!(error.line, Some(3), "{error:#?}");
    let never = "{ await using a = { [Symbol.asyncDispose]: () => new Promise(() => {}) }; }";
    error_of(ErrorKind::Deadlock, never).await;
}

#[tokio::test]
async fn what_is_left_of_an_object_does_not_have_what_was_taken_apart() {
    let of = |how: &str| {
        format!("const item = {{ id: 1, meta: {{ by: 'a', on: 2 }}, tags: ['x', 'y'], last: true }};\n{how}")
    };
    for (how, expected) in [
        (
            "const { meta: { by }, ...rest } = item; ({ by, rest })",
            json!({ "by": "a", "rest": { "id": 1, "tags": ["x", "y"], "last": true } }),
        ),
        (
            "let { meta: { by, ...other }, tags: [first], ...rest } = item; ({ by, other, first, rest })",
            json!({ "by": "a", "other": { "on": 2 }, "first": "x", "rest": { "id": 1, "last": true } }),
        ),
        (
            "const { 'meta': { by } = {}, none: { x } = { x: 1 }, ...rest } = item; ({ by, x, rest })",
            json!({ "by": "a", "x": 1, "rest": { "id": 1, "tags": ["x", "y"], "last": true } }),
        ),
        (
            "[item, item].map(({ meta: { by }, tags: [, second], ...rest }) => [by, second, rest])",
            json!([["a", "y", { "id": 1, "last": true }], ["a", "y", { "id": 1, "last": true }]]),
        ),
        (
            "const all = []; for (const { meta: { on }, tags: [...tags], ...rest } of [item, item]) all.push(on, tags.length, rest); all",
            json!([2, 2, { "id": 1, "last": true }, 2, 2, { "id": 1, "last": true }]),
        ),
        (
            "let by, first, rest; ({ meta: { by }, tags: [first = 0] = [], ...rest } = item); ({ by, first, rest })",
            json!({ "by": "a", "first": "x", "rest": { "id": 1, "last": true } }),
        ),
        (
            "const { id, ['meta']: meta, ...rest } = item; ({ rest })",
            json!({ "rest": { "tags": ["x", "y"], "last": true } }),
        ),
    ] {
        assert_eq!(value(&of(how)).await, expected, "{how}");
    }
}

#[tokio::test]
async fn what_a_catch_throws_is_thrown_on_whatever_the_finally_does() {
    const CLEAN: &str = "const clean = () => { try { throw new Error('inner'); } catch {} };
const close = async () => { await null; clean(); };
const outcome = async (work) => { try { return await work(); } catch (error) { return `threw ${error.message}`; } };
";
    for (work, expected) in [
        (
            "async () => { try { throw new Error('a') } catch (e) { throw new Error(e.message + 'b') } finally { try { await close() } catch {} } }",
            json!("threw ab"),
        ),
        (
            "async () => { try { throw new Error('a') } catch (e) { throw new Error(e.message + 'b') } finally { clean() } }",
            json!("threw ab"),
        ),
        (
            "() => { try { throw new Error('a') } catch (e) { throw e } finally { [1, 2].forEach(clean) } }",
            json!("threw a"),
        ),
        (
            "async () => { for (const x of [1, 2]) { try { await box.nothing() } catch (e) { throw new Error('b' + x) } finally { for await (const y of [close()]) clean() } } }",
            json!("threw b1"),
        ),
        (
            "async () => { try { throw new Error('a') } catch { return 'caught' } finally { await close() } }",
            json!("caught"),
        ),
        (
            "async () => { try { throw new Error('a') } catch { throw new Error('b') } finally { return 'finally' } }",
            json!("finally"),
        ),
        (
            "async () => { let n = 0; for (const x of [1, 2]) { try { throw x } catch { throw x } finally { n++; continue } } return n }",
            json!(2),
        ),
        (
            "async () => { let n = 0; outer: for (;;) { for (;;) { try { throw 1 } catch { throw 2 } finally { n++; break outer } } } await null; return n }",
            json!(1),
        ),
        (
            "async () => { try { try { throw new Error('a') } catch { throw new Error('b') } finally { await close() } } catch (e) { throw new Error(e.message + 'c') } finally { clean() } }",
            json!("threw bc"),
        ),
        (
            "async () => { const all = []; const each = function* () { try { yield 1; yield 2 } catch { all.push('caught') } finally { clean(); all.push('finally') } all.push('after') }; for (const x of each()) break; return all }",
            json!(["finally"]),
        ),
    ] {
        assert_eq!(value(&format!("{CLEAN}return await outcome({work});")).await, expected, "{work}");
    }
}

#[tokio::test]
async fn a_program_is_in_strict_mode_as_a_module_is() {
    expect_values(&[
        ("return (function () { return this })() === undefined", json!(true)),
        (
            "const tried = []; for (const change of [(o) => { o.a = 2 }, (o) => { delete o.a }, (o) => { o.b = 1 }]) { \
          try { change(Object.freeze({ a: 1 })) } catch (e) { tried.push(e.name) } } tried",
            json!(["TypeError", "TypeError", "TypeError"]),
        ),
        ("try { total = 1 } catch (e) { return e.message }", json!("total is not defined")),
        ("try { for (item of [1]) {} } catch (e) { return e.message }", json!("item is not defined")),
        ("{ function inner() {} } return typeof inner", json!("undefined")),
        ("return ((a) => { const f = function (b) { b = 2; return arguments[0] }; return f(a) })(1)", json!(1)),
        ("return Function('return this')() === globalThis", json!(true)),
    ])
    .await;
    let error = error_of(ErrorKind::Exception, "let n = 1;\nfunction count() {\n  totl = n;\n}\ncount();").await;
    assert_eq!(
        (place(&error), &*error.message),
        ((Some(3), Some(3)), "ReferenceError: totl is not defined"),
        "{error:#?}"
    );
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("`let totl = …`")), "{error:#?}");
}

#[tokio::test]
async fn what_a_part_of_a_namespace_exports_is_not_taken_for_something_else_in_another() {
    let parts = "const x = 'outside';\nnamespace A { export const x = 1 }\n";
    expect_values(&[(&format!("{parts}namespace A {{ export const y = A.x + 1 }}\nA.y"), json!(2))]).await;
    let error = error_of(ErrorKind::Syntax, &format!("{parts}namespace A {{ export const y = x + 1 }}\nA.y")).await;
    assert_eq!(place(&error), (Some(3), Some(32)), "{error:#?}");
    assert_eq!(error.hint.as_deref(), Some("write A.x"));
}

#[tokio::test]
async fn an_error_has_the_name_that_its_getter_gives() {
    for (getter, expected) in [
        ("get name() { return 'Refused' }", "Refused: why"),
        ("get name() { return this.stack.length > 0 ? 'Refused' : '' }", "Refused: why"),
        ("get name() { throw new Error('in the getter') }", "Error: why"),
    ] {
        let error =
            error_of(ErrorKind::Exception, &format!("class E extends Error {{ {getter} }}\nthrow new E('why')")).await;
        assert_eq!((&*error.message, error.line), (expected, Some(2)), "{error:#?}");
    }
}

#[tokio::test]
async fn positions_are_those_of_the_author_however_lines_end() {
    for (source, expected) in [
        ("const a = 1;\r\rnull.x", (Some(3), Some(6))),
        ("const a = 1;\r\n\r\nnull.x", (Some(3), Some(6))),
        ("const a = '\u{2028}', b = `\u{2029}`; null.x", (Some(1), Some(30))),
        ("const a = `\u{2028}`;\nnull.x", (Some(2), Some(6))),
    ] {
        let error = error_of(ErrorKind::Exception, source).await;
        assert_eq!(place(&error), expected, "{source:?} {error:#?}");
        assert!(error.frame.as_deref().is_some_and(|frame| frame.contains("null.x")), "{error:#?}");
    }
    expect_values(&[("`a\r\nb\rc`.length", json!(5))]).await;
}
