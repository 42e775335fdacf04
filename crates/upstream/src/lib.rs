//! belljar-upstream
