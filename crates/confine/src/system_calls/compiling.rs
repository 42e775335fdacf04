//! The calls that are denied while code that nobody reviewed is read and compiled.
//!
//! A compiler needs memory, executable memory and threads. So this is a list of what is denied, by
//! purpose: starting anything, reaching other processes, and what landlock does not prevent.

use std::collections::BTreeMap;

use seccompiler::{SeccompAction, SeccompCmpOp, SeccompRule};

use super::{apply, argument, both, compile, connectable_pairs, rule};
use crate::ConfineError;

/// Other programs, and other namespaces. Processes are below, because the same call creates a
/// thread.
const PROGRAMS: &[libc::c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    libc::SYS_mount,
    libc::SYS_unshare,
    libc::SYS_setns,
];

/// Other processes of the same user: their memory, descriptors, signals and scheduling, and
/// anything shared with them by name.
const OTHER_PROCESSES: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Calls that change a file without opening it. Landlock does not cover them; in older kernels it
/// does not cover `truncate` either.
const FILE_ATTRIBUTES: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_utimensat,
    libc::SYS_truncate,
];

// libc does not define these for every processor. Their numbers are the same on all.
const FCHMODAT2: libc::c_long = 452;
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;

/// Sockets, and calls that reach the kernel by other ways than files.
const KERNEL: &[libc::c_long] = &[
    libc::SYS_socket,
    libc::SYS_io_uring_setup,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_open_by_handle_at,
];

/// The commands of `fcntl` and `ioctl` that make a descriptor send signals to any chosen process.
const SIGNALLING_FCNTL: [u64; 3] = [F_SETOWN, F_SETSIG, F_SETOWN_EX];
const F_SETOWN: u64 = 8;
const F_SETSIG: u64 = 10;
const F_SETOWN_EX: u64 = 15;
const SIGNALLING_IOCTL: [u64; 2] = [FIOSETOWN, SIOCSPGRP];
const FIOSETOWN: u64 = 0x8901;
const SIOCSPGRP: u64 = 0x8902;

/// Denies all threads of this process what no compiler needs: other programs and processes, sockets
/// (except connected pairs, with which tokio wakes itself), attributes of files, and calls that
/// reach the kernel by other ways than files. The engine's short list follows when there is nothing
/// more to compile.
pub(crate) fn deny_what_no_compiler_needs() -> Result<(), ConfineError> {
    let lists = [PROGRAMS, OTHER_PROCESSES, FILE_ATTRIBUTES, KERNEL];
    let always = lists.into_iter().flatten().flat_map(|call| both(*call)).chain(calls_of_x32_alone());
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = always.map(|call| (call, Vec::new())).collect();
    for (call, denied) in by_arguments()? {
        rules.extend(both(call).map(|call| (call, denied.clone())));
    }
    apply(&compile(rules, SeccompAction::Allow, SeccompAction::KillProcess)?)?;
    // The flags of `clone3` are in memory, which a filter cannot read. Without it, the C library
    // creates threads with `clone`.
    let clone3 = both(libc::SYS_clone3).map(|call| (call, Vec::new())).collect();
    apply(&compile(clone3, SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()))?)
}

/// The calls that are denied only with some arguments, and these arguments.
fn by_arguments() -> Result<Vec<(libc::c_long, Vec<SeccompRule>)>, ConfineError> {
    let own = u64::from(std::process::id());
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let of_another = || argument(0, SeccompCmpOp::Ne, own);
    // Otherwise it could outlive its parent, or be traced again.
    let unbound = [libc::PR_SET_PDEATHSIG, libc::PR_SET_DUMPABLE].map(|option| u64::from(option.unsigned_abs()));
    Ok(vec![
        // A process, not a thread.
        (libc::SYS_clone, vec![rule(vec![argument(0, SeccompCmpOp::MaskedEq(thread), 0)?])?]),
        // An abort sends a signal to its own process.
        (libc::SYS_tgkill, vec![rule(vec![of_another()?])?]),
        // 0 also stands for the own process.
        (libc::SYS_prlimit64, vec![rule(vec![of_another()?, argument(0, SeccompCmpOp::Ne, 0)?])?]),
        (libc::SYS_prctl, one_of(0, &unbound)?),
        (libc::SYS_fcntl, one_of(1, &SIGNALLING_FCNTL)?),
        (libc::SYS_ioctl, one_of(1, &SIGNALLING_IOCTL)?),
        (libc::SYS_socketpair, connectable_pairs()?),
    ])
}

/// Rules for an argument that has one of these values.
fn one_of(index: u8, values: &[u64]) -> Result<Vec<SeccompRule>, ConfineError> {
    values.iter().map(|value| rule(vec![argument(index, SeccompCmpOp::Eq, *value)?])).collect()
}

/// The numbers that only x32 has on x86-64, among them a second `execve` and `ptrace`. Some kernels
/// accept them without the x32 bit, too.
fn calls_of_x32_alone() -> impl Iterator<Item = i64> {
    (512..=547).filter(|_| cfg!(target_arch = "x86_64")).flat_map(both)
}
