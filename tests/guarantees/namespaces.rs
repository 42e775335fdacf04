//! TO COME
