//! belljar-demo
