//! belljar-sandbox
