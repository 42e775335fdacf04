//! belljar-testkit
