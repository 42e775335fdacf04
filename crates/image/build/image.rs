//! The image of a component: its memory after `init`, and its machine code.
//!
//! The results are kept below `target/guest`, for every profile, and each step is done only if its
//! input has changed.

use std::{
    env, fmt, fs,
    hash::{Hash as _, Hasher},
    io::Write as _,
    path::{Path, PathBuf},
};

use lzma_rust2::{LzmaOptions, LzmaWriter};
use sha2::{Digest as _, Sha256};

/// Makes the image of a component, and tells the crate where it is.
pub(crate) fn make(component: &Path) {
    let store = target_directory().join("guest").join("image");
    fs::create_dir_all(&store).unwrap_or_else(|error| panic!("cannot make {}: {error}", store.display()));

    println!("cargo::rerun-if-changed={}", component.display());
    let raw = fs::read(component).unwrap_or_else(|error| panic!("cannot read {}: {error}", component.display()));

    let target = env::var("TARGET").expect("cargo sets TARGET");
    let ahead_of_time = crate::engine::ahead_of_time(&target).unwrap_or_else(|error| {
        panic!("cannot compile for {target}: {error:?} (another processor needs --features belljar-image/cross)")
    });
    // The files are named by the SHA-256 of all that they are made of, so that no file with other
    // inputs is ever used.
    let mut inputs = Inputs(Sha256::new());
    raw.hash(&mut inputs);
    ahead_of_time.precompile_compatibility_hash().hash(&mut inputs);
    include_str!("snapshot.rs").hash(&mut inputs);
    include_str!("symbols.rs").hash(&mut inputs);
    include_str!("unneeded.rs").hash(&mut inputs);
    let key = Hex(inputs.0.finalize().into());

    let snapshot = store.join(format!("{key}.wasm"));
    if !snapshot.exists() {
        write(&snapshot, &crate::unneeded::without(&crate::snapshot::pre_initialise(&raw)));
    }
    let compiled = store.join(format!("{key}.cwasm"));
    if !compiled.exists() {
        let snapshot = fs::read(&snapshot).expect("the snapshot has just been written");
        let code = ahead_of_time
            .precompile_component(&snapshot)
            .unwrap_or_else(|error| panic!("the guest does not compile to machine code: {error:?}"));
        write(&compiled, &crate::symbols::without(&code).expect("wasmtime writes images as 64-bit ELF"));
        prune(&store);
    }
    // The component is read only if the machine code does not fit, which is rare. So it need not be
    // quick to read, and compressed it takes a fifth of the space.
    let compressed = store.join(format!("{key}.wasm.lzma"));
    if !compressed.exists() {
        write(&compressed, &lzma(&fs::read(&snapshot).expect("the snapshot is there")));
    }
    println!("cargo::rustc-env=BELLJAR_IMAGE_COMPONENT={}", compressed.display());
    println!("cargo::rustc-env=BELLJAR_IMAGE_CODE={}", compiled.display());
    // What is embedded has a name that users can compare: the digest of its bytes.
    println!("cargo::rustc-env=BELLJAR_IMAGE_COMPONENT_SHA256={}", digest_of(&snapshot));
    println!("cargo::rustc-env=BELLJAR_IMAGE_CODE_SHA256={}", digest_of(&compiled));
    println!("cargo::rerun-if-changed={}", compressed.display());
    println!("cargo::rerun-if-changed={}", compiled.display());
}

/// What the image is made of, hashed with SHA-256. An adapter is needed because wasmtime provides
/// the hash of its settings only through [`std::hash::Hash`].
struct Inputs(Sha256);

impl Hasher for Inputs {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("the digest is taken whole")
    }
}

/// A SHA-256, written in hexadecimal.
struct Hex([u8; 32]);

impl fmt::Display for Hex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

fn lzma(bytes: &[u8]) -> Vec<u8> {
    let mut options = LzmaOptions::with_preset(9);
    // No larger than what is compressed.
    options.dict_size = 16 << 20;
    let written = LzmaWriter::new_use_header(Vec::new(), &options, Some(bytes.len() as u64)).and_then(|mut encoder| {
        encoder.write_all(bytes)?;
        encoder.finish()
    });
    written.unwrap_or_else(|error| panic!("the guest cannot be compressed: {error}"))
}

fn digest_of(path: &Path) -> Hex {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    Hex(Sha256::digest(bytes).into())
}

/// Writes the whole file or none of it, so that an interrupted build leaves nothing unfinished.
fn write(path: &Path, bytes: &[u8]) {
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    fs::write(&draft, bytes)
        .and_then(|()| fs::rename(&draft, path))
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

/// Keeps the newest images: each takes some 40 MB, and each change of the guest makes one. A build
/// that needs an older one makes it again.
fn prune(store: &Path) {
    const KEPT_FILES: usize = 12;
    let files = fs::read_dir(store).into_iter().flatten().flatten();
    let mut files: Vec<_> =
        files.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path()))).collect();
    files.sort();
    let excess = files.len().saturating_sub(KEPT_FILES);
    for (_, path) in files.into_iter().take(excess) {
        // A file that cannot be removed does no harm.
        let _ = fs::remove_file(path);
    }
}

/// The workspace's target folder: the nearest folder above `OUT_DIR` that cargo has tagged as one.
fn target_directory() -> PathBuf {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let tagged = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists()).map(Path::to_path_buf);
    tagged.unwrap_or(out)
}
