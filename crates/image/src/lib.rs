//! belljar's interpreter as an image: the guest's component, pre-initialised, compiled ahead of
//! time, and embedded.
//!
//! At its start, a process loads machine code instead of compiling it. Code that does not fit the
//! engine (another wasmtime, other settings, a CPU without the features it was compiled for) is
//! detected by wasmtime when it is loaded. The component, which is embedded too, is then compiled
//! instead.
//!
//! Machine code is never read from a file of its own: whoever could write that file would own the
//! process.

#![warn(missing_docs)]

mod engine;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod text;

use std::borrow::Cow;
#[cfg(feature = "embedded")]
use std::io::Read as _;

#[cfg(feature = "embedded")]
use lzma_rust2::LzmaReader;
use sha2::{Digest as _, Sha256};
use wasmtime::{Config, Engine, component::Component};

/// An interpreter: a component of the world `belljar:sandbox/interpreter` on which `init` has run.
#[derive(Clone)]
pub struct Image {
    component: Source,
    /// Machine code for the component, from this crate's own build.
    code: Option<&'static [u8]>,
    /// The component's SHA-256.
    digest: [u8; 32],
}

/// Where the component is.
#[derive(Clone)]
enum Source {
    /// In this program, as LZMA, since it is rarely needed.
    #[cfg(feature = "embedded")]
    Embedded(&'static [u8]),
    Given(Vec<u8>),
}

/// The version of wasmtime that this crate is built with. It determines how much fuel an
/// instruction takes.
pub const WASMTIME: &str = "48.0.8";

/// The SHA-256 digests of what is embedded, in hexadecimal. They show which interpreter a program
/// contains.
#[cfg(feature = "embedded")]
pub struct EmbeddedDigests {
    /// Of the component, after `init` has run.
    pub component: &'static str,
    /// Of its machine code.
    pub code: &'static str,
}

/// The digests of the interpreter that was built with this crate.
#[cfg(feature = "embedded")]
pub const EMBEDDED_DIGESTS: EmbeddedDigests =
    EmbeddedDigests { component: env!("BELLJAR_IMAGE_COMPONENT_SHA256"), code: env!("BELLJAR_IMAGE_CODE_SHA256") };

/// Settings for code that runs scripts: with fuel and epochs, and no feature that the guest does
/// not need.
pub fn config() -> Config {
    #[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), expect(unused_mut, reason = "see `text`"))]
    let mut config = engine::config();
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    text::allow(&mut config);
    config
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
        /// Why the embedded code could not be used, if there was some.
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
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        static CODE: &text::Paged<[u8]> = &text::Paged(*include_bytes!(env!("BELLJAR_IMAGE_CODE")));
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        let code = &CODE.0;
        #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
        let code = include_bytes!(env!("BELLJAR_IMAGE_CODE")).as_slice();
        let digest = from_hex(EMBEDDED_DIGESTS.component);
        let component = Source::Embedded(include_bytes!(env!("BELLJAR_IMAGE_COMPONENT")));
        Self { component, code: Some(code), digest }
    }

    /// An interpreter of your own: a component that has been pre-initialised. It is compiled when
    /// it is loaded.
    pub fn from_component(component: Vec<u8>) -> Self {
        let digest = Sha256::digest(&component).into();
        Self { component: Source::Given(component), code: None, digest }
    }

    /// The component, as WebAssembly. The embedded one is decompressed, which takes some 0.2 s.
    pub fn component(&self) -> Cow<'_, [u8]> {
        match &self.component {
            #[cfg(feature = "embedded")]
            Source::Embedded(compressed) => Cow::Owned(inflate(compressed)),
            Source::Given(component) => Cow::Borrowed(component),
        }
    }

    /// The SHA-256 of the component: which interpreter this is.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Makes the image ready for an engine that was made with [`config`] and any allocation
    /// strategy.
    ///
    /// # Errors
    /// [`ImageError`], if there is no machine code that fits, and the component cannot be compiled
    /// either.
    pub fn load(&self, engine: &Engine) -> Result<Loaded, ImageError> {
        let mut reason = None;
        if let Some(code) = self.code {
            // SAFETY: `code` comes from `Engine::precompile_component` in this crate's build script
            // and is part of the program's own text. Whether it fits this engine and this CPU is
            // checked by `deserialize`.
            #[expect(unsafe_code, reason = "loading machine code is unsafe by nature; see SAFETY")]
            match unsafe { deserialize(engine, code) } {
                Ok(component) => return Ok(Loaded { component, origin: CodeOrigin::Embedded }),
                Err(error) => reason = Some(format!("{error:#}")),
            }
        }
        let component = Component::new(engine, self.component()).map_err(ImageError)?;
        Ok(Loaded { component, origin: CodeOrigin::Compiled { reason } })
    }
}

/// What the build script has compressed.
#[cfg(feature = "embedded")]
fn inflate(compressed: &[u8]) -> Vec<u8> {
    let mut component = Vec::new();
    let read =
        LzmaReader::new_mem_limit(compressed, u32::MAX, None).and_then(|mut reader| reader.read_to_end(&mut component));
    read.expect("the build script has compressed it");
    component
}

/// A SHA-256 from its hexadecimal digits, as the build script writes it.
#[cfg(feature = "embedded")]
fn from_hex(digits: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).expect("the build script writes digits");
        *byte = u8::from_str_radix(pair, 16).expect("the build script writes digits");
    }
    bytes
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use text::load as deserialize;

/// Makes a component from an image, which is copied.
///
/// # Safety
/// As for `Component::deserialize`.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
#[expect(unsafe_code, reason = "loading machine code is unsafe by nature")]
unsafe fn deserialize(engine: &Engine, code: &'static [u8]) -> wasmtime::Result<Component> {
    // SAFETY: as the caller promises.
    unsafe { Component::deserialize(engine, code) }
}

#[cfg(all(test, feature = "embedded"))]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn the_version_of_wasmtime_is_the_locked_one() {
        let lock = include_str!("../../../Cargo.lock");
        let entry = format!("name = \"wasmtime\"\nversion = \"{WASMTIME}\"");
        assert!(lock.contains(&entry), "WASMTIME is {WASMTIME}, and Cargo.lock has another version");
    }

    #[test]
    fn the_compiler_that_is_named_for_its_features_is_wasmtimes() {
        let lock = include_str!("../../../Cargo.lock");
        let versions = lock.matches("name = \"cranelift-codegen\"\n").count();
        assert_eq!(versions, 1, "Cargo.toml here names another cranelift-codegen than wasmtime does");
    }

    #[test]
    fn the_embedded_interpreter_goes_by_the_sha256_of_its_bytes() {
        let digest = |bytes: &[u8]| {
            Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
                write!(hex, "{byte:02x}").expect("a string takes what is written to it");
                hex
            })
        };
        let image = Image::embedded();
        assert_eq!(digest(&image.component()), EMBEDDED_DIGESTS.component);
        assert_eq!(image.digest(), <[u8; 32]>::from(Sha256::digest(image.component())));
        assert_eq!(digest(image.code.expect("there is machine code")), EMBEDDED_DIGESTS.code);
    }

    #[test]
    fn what_init_alone_needs_is_not_in_the_image() {
        let engine = Engine::new(&config()).expect("an engine");
        let component = Image::embedded().load(&engine).expect("the image loads").component;
        let mut linker = wasmtime::component::Linker::new(&engine);
        linker.define_unknown_imports_as_traps(&component).expect("every import can trap");
        let mut store = wasmtime::Store::new(&engine, ());
        store.set_fuel(1_000_000_000).expect("fuel is counted");
        store.set_epoch_deadline(1);
        let instance = linker.instantiate(&mut store, &component).expect("starting it imports nothing");
        let init = instance.get_typed_func::<(), ()>(&mut store, "init").expect("it is still exported");
        let trap = init.call(&mut store, ()).expect_err("it is empty");
        assert_eq!(trap.downcast_ref(), Some(&wasmtime::Trap::UnreachableCodeReached), "{trap:?}");
    }

    #[test]
    fn embedded_code_is_loaded_and_not_compiled() {
        let engine = Engine::new(&config()).expect("an engine");
        let loaded = Image::embedded().load(&engine).expect("the image loads");
        assert_eq!(loaded.origin, CodeOrigin::Embedded);
    }

    #[test]
    fn several_engines_can_have_the_embedded_code_and_outlive_each_other() {
        let engine = || Engine::new(&config()).expect("an engine");
        let (first, second) = (engine(), engine());
        let one = Image::embedded().load(&first).expect("the image loads");
        let other = Image::embedded().load(&second).expect("the image loads");
        drop((one, first));
        let third = engine();
        let another = Image::embedded().load(&third).expect("the image loads");
        assert_eq!((other.origin, another.origin), (CodeOrigin::Embedded, CodeOrigin::Embedded));
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
