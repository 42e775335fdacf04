//! What a process inside the walls may attempt.

use std::{
    fs::File,
    io::{self, IoSliceMut, Write as _},
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram, UnixListener},
    },
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use belljar_confine::ConfineError;
use nix::{
    sys::{
        ptrace,
        resource::{Resource, setrlimit},
        signal::{Signal, kill, raise},
        uio::{RemoteIoVec, process_vm_readv},
    },
    unistd::{Pid, getppid},
};

/// The memory that the walls allow to map, in bytes.
const MEMORY: usize = 256 << 20;

type Attempt = fn() -> io::Result<()>;

/// Every attempt, by its name.
const ATTEMPTS: &[(&str, Attempt)] = &[
    ("compute", compute),
    ("read-file", || File::open("/etc/passwd").map(drop)),
    ("write-file", || File::create("/tmp/belljar-testkit-confined").map(drop)),
    ("list-folder", || std::fs::read_dir("/").map(drop)),
    ("tcp", || TcpListener::bind("127.0.0.1:0").map(drop)),
    ("udp", || UdpSocket::bind("127.0.0.1:0").map(drop)),
    ("unix-socket", || UnixDatagram::unbound().map(drop)),
    ("abstract-socket", || {
        let address = SocketAddr::from_abstract_name(format!("belljar-testkit-{}", std::process::id()))?;
        UnixListener::bind_addr(&address).map(drop)
    }),
    ("exec", || Command::new("/bin/true").status().map(drop)),
    ("thread", || std::thread::Builder::new().spawn(|| {}).map(drop)),
    ("pipe", || io::pipe().map(drop)),
    ("trace-parent", || {
        ptrace::attach(getppid())?;
        Ok(ptrace::detach(getppid(), None)?)
    }),
    ("signal-parent", || Ok(kill(getppid(), None)?)),
    ("read-parent", || {
        let mut bytes = [0];
        let remote = RemoteIoVec { base: 0, len: 1 };
        // The address is not mapped, so a process that may read gets EFAULT.
        match process_vm_readv(getppid(), &mut [IoSliceMut::new(&mut bytes)], &[remote]) {
            Err(nix::errno::Errno::EFAULT) => Ok(()),
            other => Ok(other.map(drop)?),
        }
    }),
    ("executable-memory", || {
        let memory = memmap2::MmapMut::map_anon(4096)?;
        memory.make_exec().map(drop)
    }),
    ("map-memory", || memmap2::MmapMut::map_anon(2 * MEMORY).map(drop)),
    ("raise-limit", || Ok(setrlimit(Resource::RLIMIT_CORE, 0, 0)?)),
    ("unshare", || Ok(nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS)?)),
    ("memory-file", || Ok(rustix::fs::memfd_create("belljar", rustix::fs::MemfdFlags::CLOEXEC).map(drop)?)),
    ("take-descriptor", || {
        let own = rustix::process::pidfd_open(rustix::process::getpid(), rustix::process::PidfdFlags::empty())?;
        Ok(rustix::process::pidfd_getfd(own, 0, rustix::process::PidfdGetfdFlags::empty()).map(drop)?)
    }),
    ("dumpable", || Ok(nix::sys::prctl::set_dumpable(true)?)),
    ("wait", || match nix::sys::wait::waitpid(Pid::from_raw(-1), None) {
        Err(nix::errno::Errno::ECHILD) => Ok(()),
        other => Ok(other.map(drop)?),
    }),
];

/// The attempt of a process that lets its parent trace it, and stops within the walls: the parent
/// can make any system call in its place, by number, without a function for it here.
const TRACED: (&str, Attempt) = ("traced", || Ok(raise(Signal::SIGSTOP)?));

/// Runs `WALLS:ATTEMPT`, where the walls are `none`, `landlock`, `compiling` (those of a process
/// while it compiles a component) or `all`; `list` lists the attempts that are complete by
/// themselves.
pub(crate) fn run(argument: &str) -> ExitCode {
    if argument == "list" {
        let names: Vec<_> = ATTEMPTS.iter().map(|(name, _)| *name).collect();
        return written(&names.join("\n"));
    }
    let Some((walls, name)) = argument.split_once(':') else { return ExitCode::from(2) };
    let mut known = ATTEMPTS.iter().chain([&TRACED]);
    let Some((_, attempt)) = known.find(|(known, _)| *known == name) else { return ExitCode::from(2) };
    if name == TRACED.0
        && let Err(error) = ptrace::traceme()
    {
        let _ = written(&format!("not traced: {error}"));
        return ExitCode::from(3);
    }
    let confined = match walls {
        "none" => Ok(()),
        "landlock" => belljar_confine::engine::before_threads(),
        "compiling" => compiling(),
        "all" => all(),
        _ => return ExitCode::from(2),
    };
    if let Err(fault) = confined {
        let _ = written(&format!("not confined: {fault}"));
        return ExitCode::from(3);
    }
    if written("confined") != ExitCode::SUCCESS {
        return ExitCode::from(3);
    }
    match attempt() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = written(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn written(text: &str) -> ExitCode {
    match writeln!(io::stdout(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(3),
    }
}

/// What the walls must not prevent: memory, time, randomness.
fn compute() -> io::Result<()> {
    let begun = Instant::now();
    let blocks: Vec<Vec<u8>> = (0..64_u8).map(|each| vec![each; 1 << 20]).collect();
    std::thread::sleep(Duration::from_millis(1));
    let state = std::hash::RandomState::new();
    let sum: u64 =
        blocks.iter().map(|block| std::hash::BuildHasher::hash_one(&state, block)).fold(0, u64::wrapping_add);
    drop(blocks);
    if begun.elapsed().is_zero() && sum == 0 { Err(io::Error::other("no time has passed")) } else { Ok(()) }
}

fn compiling() -> Result<(), ConfineError> {
    belljar_confine::engine::before_threads()?;
    belljar_confine::engine::bound_memory(MEMORY as u64)?;
    belljar_confine::engine::before_compiling()
}

fn all() -> Result<(), ConfineError> {
    belljar_confine::engine::before_threads()?;
    belljar_confine::engine::bound_memory(MEMORY as u64)?;
    belljar_confine::engine::before_work()
}
