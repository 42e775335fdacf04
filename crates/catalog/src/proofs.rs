//! What the documents promise of real tool lists, proved over `testdata`: the figures of the
//! search, and what the TypeScript compiler says.

mod figures;
mod typescript;
