//! belljar-image
