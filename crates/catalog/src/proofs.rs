//! Checks what the documents promise, over the real tool lists in `testdata`: the figures of the
//! search, and what the TypeScript compiler says.

mod figures;
mod typescript;
