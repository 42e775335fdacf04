//! Slow code does not come back: work grows in proportion to its input, not with its square, and
//! equivalent ways to write something cost about the same. Costs are measured in fuel, with wide
//! margins.

use std::time::Duration;

use belljar_model::{ByteSize, Limits};
use belljar_sandbox::Program;

use crate::support::sandbox;

/// The highest ratio of the cost for twice the work: a square would be four.
const TWICE: f64 = 2.7;

async fn fuel(source: &str) -> f64 {
    let limits = Limits { max_logs: ByteSize::mib(1), compute: Duration::from_secs(100), ..Limits::default() };
    let program = Program::new(source).with_seed([3; 32]);
    let outcome = sandbox().run(program).limits(&limits).await;
    assert!(outcome.is_ok(), "{source}\n{outcome:#?}");
    outcome.usage.fuel.unwrap() as f64
}

/// Asserts that scripts, in which `N` stands for the size, cost twice as much for twice the size.
async fn grows_with_its_size(scripts: &[(&str, u32)]) {
    let start = fuel("1+1").await;
    let mut grown = String::new();
    for (script, size) in scripts {
        let of = |size: u32| script.replace('N', &size.to_string());
        let once = fuel(&of(*size)).await - start;
        let twice = fuel(&of(size * 2)).await - start;
        if twice / once > TWICE {
            grown.push_str(&format!("{:.1} times for twice the work: {script}\n", twice / once));
        }
    }
    assert!(grown.is_empty(), "{grown}");
}

/// Asserts that one script costs at most this many times as much as another.
async fn costs_at_most(times: f64, dear: &str, cheap: &str) {
    let start = fuel("1+1").await;
    let (dear_fuel, cheap_fuel) = (fuel(dear).await - start, fuel(cheap).await - start);
    let found = dear_fuel / cheap_fuel;
    assert!(found < times, "{found:.1} times\n{dear}\n{cheap}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_put_together_piece_by_piece_costs_in_proportion_to_its_length() {
    grows_with_its_size(&[
        ("let s = ''; for (let i = 0; i < N; i++) s += 'twenty characters or so'; s.length", 20_000),
        ("let s = ''; for (let i = 0; i < N; i++) s = `${s}twenty characters or so`; s.length", 20_000),
        ("const o = { s: '' }; for (let i = 0; i < N; i++) o.s += 'zwölf Zeichen \\u20ac'; o.s.length", 20_000),
        ("let s = 'x'.repeat(N); while (s) s = s.slice(1); s.length", 20_000),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_properties_costs_in_proportion_to_how_many_they_are() {
    grows_with_its_size(&[
        (
            "const o = {}; for (let i = 0; i < N; i++) o['k' + i] = i; for (let i = 0; i < N; i++) delete o['k' + i]",
            2_000,
        ),
        ("const o = {}; for (let i = 0; i < N; i++) o['k' + i] = i; for (let i = N; i--;) delete o['k' + i]", 2_000),
        ("const o = {}; for (let i = 0; i < N; i++) { o['k' + i] = i; delete o['k' + (i - 100)] }", 2_000),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn timers_cost_in_proportion_to_how_many_they_are() {
    grows_with_its_size(&[(
        "const all = []; for (let i = 0; i < N; i++) all.push(setTimeout(() => {}, 1e6)); all.forEach(clearTimeout)",
        2_000,
    )])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_or_map_costs_in_proportion_to_how_many_keys_it_has() {
    grows_with_its_size(&[
        ("const s = new Set(); for (let i = 0; i < N; i++) s.add(i)", 50_000),
        ("const s = new Set(); for (let i = 0; i < N; i++) s.add(i + 0.5)", 50_000),
        ("const m = new Map(); for (let i = 0; i < N; i++) m.set(i * 1024, i)", 50_000),
        ("const s = new Set(); for (let i = 0; i < N; i++) s.add({})", 50_000),
        ("const s = new Set(); for (let i = 0; i < N; i++) s.add('k' + i)", 50_000),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn spreading_an_array_costs_little_more_than_a_slice_of_it() {
    let of = |way: &str| format!("const a = new Array(10000).fill(1); for (let i = 0; i < 10; i++) {way}");
    let slice = of("a.slice()");
    costs_at_most(2.0, &of("[...a]"), &slice).await;
    costs_at_most(2.0, &of("Array.from(a)"), &slice).await;
    costs_at_most(6.0, &of("Math.max(...a)"), &slice).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_element_put_before_all_others_costs_little_more_than_one_put_behind_them() {
    let of = |method: &str| format!("const a = []; for (let i = 0; i < 5000; i++) a.{method}(i)");
    costs_at_most(5.0, &of("unshift"), &of("push")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_element_put_behind_all_others_costs_little_more_than_a_call() {
    let of = |each: &str| format!("const a = [], f = (x) => x + 1; for (let i = 0; i < 20000; i++) {each}");
    costs_at_most(1.5, &of("a.push(i)"), &of("f(i)")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_over_an_array_costs_about_as_much_as_one_over_its_indices() {
    let array = "const a = new Array(20000).fill(1); let s = 0;";
    let by_index = format!("{array} for (let i = 0; i < a.length; i++) s += a[i]; s");
    costs_at_most(1.5, &format!("{array} for (const x of a.values()) s += x; s"), &by_index).await;
    costs_at_most(0.9, &format!("{array} for (const x of a) s += x; s"), &by_index).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pattern_of_an_array_costs_little_more_than_its_elements() {
    let of = |way: &str| format!("const a = [1, 2]; let s = 0; for (let i = 0; i < 20000; i++) {{ {way} }} s");
    costs_at_most(2.5, &of("const [x, y] = a; s += x + y;"), &of("s += a[0] + a[1];")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn filling_a_typed_array_costs_little_more_than_to_make_it() {
    costs_at_most(3.0, "new Uint8Array(1000000).fill(7).length", "new Uint8Array(1000000).length").await;
}
