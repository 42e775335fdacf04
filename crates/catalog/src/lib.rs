//! belljar-catalog
