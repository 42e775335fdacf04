//! Code that the benches share with a test that repeats one of them on a small scale. What
//! measurements share is in `crates/measures`.

#![forbid(unsafe_code)]

pub mod http;
pub mod soak;

/// A typical script as models write it, without tools.
pub const TYPICAL: &str = "
    interface Item { id: number; name: string; tags: string[] }
    const items: Item[] = Array.from({ length: 50 }, (_, id) => ({ id, name: `item ${id}`, tags: id % 2 ? ['odd'] : [] }));
    const odd = items.filter((item) => item.tags.includes('odd')).map(({ id, name }) => ({ id, name }));
    ({ count: odd.length, first: odd[0] })";
