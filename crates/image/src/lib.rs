//! belljar's interpreter as an image: the guest's component, pre-initialised, compiled ahead of time, and embedded.
//!
//! A started process loads machine code instead of compiling it. Code that does not fit the engine (another wasmtime, other settings,
//! a CPU without the features it was compiled for) is detected by wasmtime when it is loaded, and the component, which is
//! embedded beside it, is compiled in its place.
//!
//! Machine code is never read from a file: whoever could write that file would own the process.

#![warn(missing_docs)]

mod engine;

use std::borrow::Cow;

use wasmtime::{Engine, component::Component};

pub use engine::config;

/// An interpreter: a component of the world `belljar:sandbox/interpreter` on which `init` has run.
#[derive(Clone)]
pub struct Image {
    component: Cow<'static, [u8]>,
    /// Machine code for the component, from this crate's own build.
    code: Option<&'static [u8]>,
}

/// An image that an engine can run.
pub struct Loaded {
    /// The component.
    pub component: Component,
    /// Where its machine code came from.
    pub origin: CodeOrigin,
}

/// Where machine code came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeOrigin {
    /// It was compiled when belljar was built.
    Embedded,
    /// It was compiled just now, which takes seconds.
    Compiled {
        /// Why the embedded code did not serve, where there was some.
        reason: Option<String>,
    },
}

/// Why an image cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[error("the interpreter's image cannot be compiled: {0:#}")]
pub struct ImageError(wasmtime::Error);

impl Image {
    /// The interpreter that was built with this crate.
    #[cfg(feature = "embedded")]
    pub fn embedded() -> Self {
        Self {
            component: Cow::Borrowed(include_bytes!(env!("BELLJAR_IMAGE_COMPONENT"))),
            code: Some(include_bytes!(env!("BELLJAR_IMAGE_CODE"))),
        }
    }

    /// An interpreter of your own: a component that has been pre-initialised. It is compiled when it is loaded.
    pub fn from_component(component: Vec<u8>) -> Self {
        Self { component: Cow::Owned(component), code: None }
    }

    /// The component, as WebAssembly.
    pub fn component(&self) -> &[u8] {
        &self.component
    }

    /// Makes the image ready for an engine that was made with [`config`] and any allocation strategy.
    ///
    /// # Errors
    /// [`ImageError`] when there is no machine code that fits, and the component cannot be compiled either.
    pub fn load(&self, engine: &Engine) -> Result<Loaded, ImageError> {
        let mut reason = None;
        if let Some(code) = self.code {
            // SAFETY: `code` comes from `Engine::precompile_component` in this crate's build script and is part of the program's
            // own text. Whether it fits this engine and this CPU is checked by `deserialize`.
            #[expect(unsafe_code, reason = "loading machine code is unsafe by nature; see SAFETY")]
            match unsafe { Component::deserialize(engine, code) } {
                Ok(component) => return Ok(Loaded { component, origin: CodeOrigin::Embedded }),
                Err(error) => reason = Some(format!("{error:#}")),
            }
        }
        let component = Component::new(engine, &self.component).map_err(ImageError)?;
        Ok(Loaded { component, origin: CodeOrigin::Compiled { reason } })
    }
}

#[cfg(all(test, feature = "embedded"))]
mod tests {
    use super::*;

    #[test]
    fn embedded_code_is_loaded_and_not_compiled() {
        let engine = Engine::new(&config()).expect("an engine");
        let loaded = Image::embedded().load(&engine).expect("the image loads");
        assert_eq!(loaded.origin, CodeOrigin::Embedded);
    }

    #[test]
    fn code_for_other_settings_is_refused_and_the_component_compiled_in_its_place() {
        let mut config = config();
        config.consume_fuel(false);
        let engine = Engine::new(&config).expect("an engine");
        let loaded = Image::embedded().load(&engine).expect("the image loads");
        let CodeOrigin::Compiled { reason: Some(reason) } = loaded.origin else {
            panic!("code compiled with fuel was taken for code without")
        };
        assert!(reason.contains("fuel"), "{reason}");
    }
}
