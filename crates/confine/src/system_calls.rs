//! The allowed system calls: for the engine, those that are needed to run scripts (wasmtime's
//! memory, tokio's waiting, the pipe to the gateway); for a child without network, all but those
//! that create sockets. `compiling.rs` has the calls that are denied while a component is compiled.

pub(crate) mod compiling;

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use crate::ConfineError;

/// Calls that are allowed with any arguments, grouped by what needs them.
const ALLOWED: &[libc::c_long] = &[
    // The pipe to the gateway, the log on stderr, the eventfd that wakes a thread.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    // Waiting: tokio's reactor and timers, locks, the thread that keeps the deadlines.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_ctl,
    libc::SYS_futex,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_sched_yield,
    libc::SYS_restart_syscall,
    // Clocks, in case the kernel's page for them is missing, and randomness for a run's seed.
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    // Memory that is never executable. (`mmap` and `mprotect` are below.)
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    // What a thread needs at its start and end.
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_sched_getaffinity,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_membarrier,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// `PAGEMAP_SCAN`: `_IOWR('f', 16, struct pm_scan_arg)`, which finds the pages of a slot that were
/// touched.
const PAGEMAP_SCAN: u64 = 0xc060_6610;

/// Restricts all threads of this process to the engine's calls. Any other call ends the process,
/// with one exception: opening a file for reading fails with `EACCES`. The C library does that in
/// the middle of an allocation, to learn about the machine, and continues without it.
pub(crate) fn leave_those_of_the_engine() -> Result<(), ConfineError> {
    let fails = BTreeMap::from([(libc::SYS_openat, vec![reads()?])]);
    let denied = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    apply(&compile(fails, SeccompAction::Allow, denied)?)?;
    // Of two filters, the stricter one decides.
    apply(&engine_filter()?)
}

/// Opening a file for reading only, as libraries do it.
fn reads() -> Result<SeccompRule, ConfineError> {
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    rule(vec![argument(2, SeccompCmpOp::Eq, u64::from(flags.unsigned_abs()))?])
}

fn apply(filter: &BpfProgram) -> Result<(), ConfineError> {
    seccompiler::apply_filter_all_threads(filter).map_err(|error| ConfineError::Seccomp(error.to_string()))
}

fn engine_filter() -> Result<BpfProgram, ConfineError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    let executable = u64::from(libc::PROT_EXEC.unsigned_abs());
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, vec![rule(vec![argument(2, SeccompCmpOp::MaskedEq(executable), 0)?])?]);
    }
    rules.insert(libc::SYS_openat, vec![reads()?]);
    rules.insert(libc::SYS_ioctl, vec![rule(vec![argument(1, SeccompCmpOp::Eq, PAGEMAP_SCAN)?])?]);
    // Checking whether a descriptor is open, which debug builds do before they close one.
    let is_open = u64::from(libc::F_GETFD.unsigned_abs());
    rules.insert(libc::SYS_fcntl, vec![rule(vec![argument(1, SeccompCmpOp::Eq, is_open)?])?]);
    // Naming a thread or a mapping.
    let names = [libc::PR_SET_NAME, libc::PR_SET_VMA];
    let names = names.iter().map(|option| {
        let option = u64::from(option.unsigned_abs());
        rule(vec![argument(0, SeccompCmpOp::Eq, option)?])
    });
    rules.insert(libc::SYS_prctl, names.collect::<Result<_, _>>()?);
    // An abort sends a signal to its own process.
    let own = u64::from(std::process::id());
    rules.insert(libc::SYS_tgkill, vec![rule(vec![argument(0, SeccompCmpOp::Eq, own)?])?]);
    compile(rules, SeccompAction::KillProcess, SeccompAction::Allow)
}

/// Denies all threads of this process, and the program that it becomes, sockets of every kind: TCP,
/// UDP, those at paths, and abstract ones. Connected pairs remain allowed if they are of a kind
/// that cannot be connected again.
pub(crate) fn deny_sockets() -> Result<(), ConfineError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    // io_uring creates sockets without these calls.
    for call in both(libc::SYS_socket).chain(both(libc::SYS_io_uring_setup)) {
        rules.insert(call, Vec::new());
    }
    let pairs = connectable_pairs()?;
    rules.extend(both(libc::SYS_socketpair).map(|call| (call, pairs.clone())));
    let denied = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    apply(&compile(rules, SeccompAction::Allow, denied)?)
}

/// Rules for connected pairs of the kinds that can be connected again, to something else.
fn connectable_pairs() -> Result<Vec<SeccompRule>, ConfineError> {
    /// Masks the kind of a socket, without the flags that may be combined with it.
    const KIND: u64 = 0xf;
    let of_kind = |kind: i32| rule(vec![argument(1, SeccompCmpOp::MaskedEq(KIND), u64::from(kind.unsigned_abs()))?]);
    [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_RDM].into_iter().map(of_kind).collect()
}

/// A call, and its second number if the processor has one.
fn both(call: libc::c_long) -> impl Iterator<Item = i64> {
    /// The bit of x32, which gives each call a second number on x86-64.
    const X32: i64 = 0x4000_0000;
    std::iter::once(call).chain(cfg!(target_arch = "x86_64").then_some(call | X32))
}

/// A filter that answers calls that fit a rule with `on_match`, and all others with `otherwise`.
fn compile(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    on_match: SeccompAction,
) -> Result<BpfProgram, ConfineError> {
    let architecture =
        TargetArch::try_from(std::env::consts::ARCH).map_err(|_| ConfineError::Unsupported(std::env::consts::ARCH))?;
    let filter = SeccompFilter::new(rules, otherwise, on_match, architecture).map_err(fault)?;
    BpfProgram::try_from(filter).map_err(fault)
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, ConfineError> {
    SeccompRule::new(conditions).map_err(fault)
}

/// A condition on the lower half of an argument. For the arguments compared here, the kernel
/// ignores the upper half.
fn argument(index: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, ConfineError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value).map_err(fault)
}

fn fault(error: seccompiler::BackendError) -> ConfineError {
    ConfineError::Seccomp(error.to_string())
}
