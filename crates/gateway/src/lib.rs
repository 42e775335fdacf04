//! belljar-gateway
