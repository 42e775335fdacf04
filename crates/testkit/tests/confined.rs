//! The engine's walls, tested one attempt at a time by a process that has built them around itself.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::{
    os::unix::process::ExitStatusExt as _,
    process::{Command, Output},
};

const SIGSYS: i32 = 31;

fn attempt(walls: &str, name: &str) -> Output {
    let mut process = Command::new(env!("CARGO_BIN_EXE_belljar-testkit-confined"));
    process.arg(format!("{walls}:{name}")).output().expect("the process starts")
}

/// A process that stops within the walls, and is then forced to make a system call.
#[cfg(target_arch = "x86_64")]
mod by_number {
    use std::process::{Command, Stdio};

    use nix::{
        sys::{
            ptrace,
            signal::Signal,
            wait::{WaitStatus, waitpid},
        },
        unistd::Pid,
    };

    /// The call's result, or the signal that ends the process.
    pub(super) fn call(walls: &str, number: u64) -> Result<i64, Signal> {
        call_with(walls, number, [0; 2])
    }

    /// The same with these first arguments.
    pub(super) fn call_with(walls: &str, number: u64, [rdi, rsi]: [u64; 2]) -> Result<i64, Signal> {
        let mut process = Command::new(env!("CARGO_BIN_EXE_belljar-testkit-confined"));
        let mut process =
            process.arg(format!("{walls}:traced")).stdout(Stdio::null()).spawn().expect("the process starts");
        let pid = Pid::from_raw(process.id().try_into().unwrap());
        assert_eq!(waitpid(pid, None), Ok(WaitStatus::Stopped(pid, Signal::SIGSTOP)));
        ptrace::setoptions(pid, ptrace::Options::PTRACE_O_TRACESYSGOOD | ptrace::Options::PTRACE_O_EXITKILL).unwrap();
        // Its next system call is replaced by the one to try.
        ptrace::syscall(pid, None).unwrap();
        assert_eq!(waitpid(pid, None), Ok(WaitStatus::PtraceSyscall(pid)));
        let registers = ptrace::getregs(pid).unwrap();
        let wanted = libc::user_regs_struct { orig_rax: number, rdi, rsi, rdx: 0, r10: 0, r8: 0, r9: 0, ..registers };
        ptrace::setregs(pid, wanted).unwrap();
        ptrace::syscall(pid, None).unwrap();
        assert_eq!(waitpid(pid, None), Ok(WaitStatus::PtraceSyscall(pid)));
        let returned = ptrace::getregs(pid).unwrap().rax.cast_signed();
        // A call that the filter refuses returns too, and then the signal arrives.
        ptrace::syscall(pid, None).unwrap();
        let ended = match waitpid(pid, None).unwrap() {
            WaitStatus::PtraceSyscall(_) => Ok(returned),
            WaitStatus::Signaled(_, signal, _) => Err(signal),
            other => panic!("{number:#x}: {other:?}"),
        };
        if ended.is_ok() {
            process.kill().unwrap();
        }
        // A process that was ended by a signal has already been waited for.
        let _ = process.wait();
        ended
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn attempts() -> Vec<String> {
    let listed = Command::new(env!("CARGO_BIN_EXE_belljar-testkit-confined")).arg("list").output().expect("the list");
    let names: Vec<_> = said(&listed).lines().map(str::to_owned).filter(|name| name != "compute").collect();
    assert!(names.len() >= 15, "{names:?}");
    names
}

#[test]
fn a_process_within_the_engines_walls_can_compute() {
    let output = attempt("all", "compute");
    assert!(output.status.success(), "{:?} {}", output.status, said(&output));
}

#[test]
fn whatever_reaches_beyond_the_engines_walls_ends_the_process() {
    for name in attempts() {
        let output = attempt("all", &name);
        assert!(said(&output).starts_with("confined"), "{name}: {}", said(&output));
        // The C library opens files in the middle of an allocation, and allocations may fail: these
        // attempts do nothing else.
        let fails = match name.as_str() {
            "read-file" => Some("Permission denied"),
            "map-memory" => Some("Cannot allocate memory"),
            _ => None,
        };
        if let Some(reason) = fails {
            assert_eq!(output.status.code(), Some(1), "{:?}", output.status);
            assert!(said(&output).contains(reason), "{}", said(&output));
            continue;
        }
        assert_eq!(output.status.signal(), Some(SIGSYS), "{name}: {:?} {}", output.status, said(&output));
    }
}

#[test]
fn without_walls_the_same_attempts_succeed() {
    // The system may refuse to let a process trace its parent anyway.
    for name in attempts().iter().filter(|name| !["trace-parent", "read-parent", "unshare"].contains(&name.as_str())) {
        let output = attempt("none", name);
        assert!(output.status.success(), "{name}: {:?} {}", output.status, said(&output));
    }
}

#[test]
fn landlock_alone_takes_the_files_away() {
    for name in ["read-file", "write-file", "list-folder"] {
        let output = attempt("landlock", name);
        assert_eq!(output.status.code(), Some(1), "{name}: {:?} {}", output.status, said(&output));
        assert!(said(&output).contains("Permission denied"), "{name}: {}", said(&output));
    }
}

#[test]
fn where_the_kernel_lacks_a_wall_of_the_engine_the_reason_is_said() {
    for (missing, reason) in [
        ("landlock", "landlock cannot take the files away"),
        ("seccomp", "seccomp cannot filter the system calls"),
        ("seccomp-filter", "seccomp cannot filter the system calls"),
    ] {
        let mut process = Command::new(env!("CARGO_BIN_EXE_belljar-testkit-child"));
        process.args(["without", missing, env!("CARGO_BIN_EXE_belljar-testkit-confined"), "all:compute"]);
        let output = process.output().expect("the process starts");
        assert_eq!(output.status.code(), Some(3), "{missing}: {:?} {}", output.status, said(&output));
        assert!(said(&output).starts_with(&format!("not confined: {reason}")), "{missing}: {}", said(&output));
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn system_calls_with_a_history_of_faults_end_the_process_whatever_their_arguments() {
    // Those without a safe function are made by number, as machine code would make them.
    for number in [
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_memfd_create,
        libc::SYS_memfd_secret,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        libc::SYS_process_vm_writev,
        libc::SYS_process_madvise,
        libc::SYS_ptrace,
        libc::SYS_userfaultfd,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_keyctl,
        libc::SYS_openat2,
        libc::SYS_open_by_handle_at,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_clone,
        libc::SYS_clone3,
        libc::SYS_setns,
        libc::SYS_mount_setattr,
        libc::SYS_pkey_mprotect,
        libc::SYS_remap_file_pages,
        libc::SYS_shmat,
        libc::SYS_modify_ldt,
        libc::SYS_personality,
        libc::SYS_seccomp,
        libc::SYS_landlock_create_ruleset,
        libc::SYS_sendmsg,
        libc::SYS_recvmsg,
        libc::SYS_rt_sigaction,
    ] {
        let number = number.cast_unsigned();
        assert_eq!(by_number::call("all", number), Err(nix::sys::signal::Signal::SIGSYS), "{number}");
    }
    // The filter refuses the calls themselves, not the way in which they are made.
    for walls in ["none", "all"] {
        assert!(by_number::call(walls, libc::SYS_getpid.cast_unsigned()).is_ok_and(|pid| pid > 1), "{walls}");
    }
    let fault = i64::from(-libc::EFAULT);
    assert_eq!(by_number::call("none", libc::SYS_io_uring_setup.cast_unsigned()), Ok(fault));
    assert_eq!(by_number::call("none", libc::SYS_memfd_create.cast_unsigned()), Ok(fault));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn no_system_call_of_x32_leads_around_the_filter() {
    /// The bit with which x86-64 has a second version of each system call, including those that the
    /// engine may make.
    const X32: u64 = 0x4000_0000;
    for number in (0..=550).map(|number| number | X32) {
        assert_eq!(by_number::call("all", number), Err(nix::sys::signal::Signal::SIGSYS), "{number:#x}");
    }
    assert!(by_number::call("none", libc::SYS_getpid.cast_unsigned() | X32).is_ok());
}

#[test]
fn while_it_compiles_a_process_has_memory_and_threads() {
    for name in ["compute", "thread", "pipe", "executable-memory", "memory-file", "raise-limit"] {
        let output = attempt("compiling", name);
        assert!(output.status.success(), "{name}: {:?} {}", output.status, said(&output));
    }
}

#[test]
fn while_it_compiles_a_process_has_no_files_programs_sockets_or_other_processes() {
    for name in ["read-file", "write-file", "list-folder"] {
        let output = attempt("compiling", name);
        assert_eq!(output.status.code(), Some(1), "{name}: {:?} {}", output.status, said(&output));
        assert!(said(&output).contains("Permission denied"), "{name}: {}", said(&output));
    }
    for name in [
        "exec",
        "tcp",
        "udp",
        "unix-socket",
        "abstract-socket",
        "trace-parent",
        "signal-parent",
        "read-parent",
        "unshare",
        "take-descriptor",
        "dumpable",
    ] {
        let output = attempt("compiling", name);
        assert!(said(&output).starts_with("confined"), "{name}: {}", said(&output));
        assert_eq!(output.status.signal(), Some(SIGSYS), "{name}: {:?} {}", output.status, said(&output));
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn while_it_compiles_every_kind_of_denied_call_ends_the_process() {
    /// `fchmodat2`, `setxattrat`, `removexattrat` and `file_setattr`.
    const NEW: [libc::c_long; 4] = [452, 463, 466, 469];
    let denied = [
        // Processes.
        libc::SYS_fork,
        libc::SYS_vfork,
        libc::SYS_clone,
        libc::SYS_execve,
        libc::SYS_execveat,
        // Attributes of files.
        libc::SYS_chmod,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_chown,
        libc::SYS_lchown,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
        libc::SYS_utime,
        libc::SYS_utimes,
        libc::SYS_futimesat,
        libc::SYS_utimensat,
        libc::SYS_truncate,
        // Signals. To `tgkill`, process 0 is not the calling one.
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_pidfd_send_signal,
        // Other ways to other processes.
        libc::SYS_setpriority,
        libc::SYS_sched_setaffinity,
        libc::SYS_shmget,
        libc::SYS_msgget,
        libc::SYS_mq_open,
        libc::SYS_process_madvise,
        // The kernel.
        libc::SYS_socket,
        libc::SYS_io_uring_setup,
        libc::SYS_bpf,
        libc::SYS_keyctl,
    ];
    for number in denied.into_iter().chain(NEW) {
        let number = number.cast_unsigned();
        assert_eq!(by_number::call("compiling", number), Err(nix::sys::signal::Signal::SIGSYS), "{number}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn while_it_compiles_a_process_may_change_itself_and_no_other() {
    let call = |number: libc::c_long, arguments| by_number::call_with("compiling", number.cast_unsigned(), arguments);
    let own = |number| call(number, [0; 2]);
    let killed = Err(nix::sys::signal::Signal::SIGSYS);
    let parent = u64::from(std::process::id());
    assert_eq!(own(libc::SYS_prlimit64), Ok(0));
    assert_eq!(call(libc::SYS_prlimit64, [parent, 0]), killed);
    assert_eq!(call(libc::SYS_tgkill, [parent, parent]), killed);
    // The C library then creates threads with `clone`.
    assert_eq!(own(libc::SYS_clone3), Ok(i64::from(-libc::ENOSYS)));
    let process = u64::from((libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD).unsigned_abs());
    assert_eq!(call(libc::SYS_clone, [process, 0]), killed);
    // A thread needs more flags than this one, so the kernel itself refuses it.
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    assert_eq!(call(libc::SYS_clone, [thread, 0]), Ok(i64::from(-libc::EINVAL)));
    // The process stays bound to its parent, and hidden.
    for option in [libc::PR_SET_PDEATHSIG, libc::PR_SET_DUMPABLE] {
        assert_eq!(call(libc::SYS_prctl, [u64::from(option.unsigned_abs()), 0]), killed);
    }
    // `F_SETOWN`, `F_SETSIG`, `F_SETOWN_EX`, and their equivalents for sockets.
    for command in [8, 10, 15] {
        assert_eq!(call(libc::SYS_fcntl, [0, command]), killed, "{command}");
    }
    for command in [0x8901, 0x8902] {
        assert_eq!(call(libc::SYS_ioctl, [0, command]), killed, "{command:#x}");
    }
    // Pairs of datagram sockets could be connected elsewhere.
    let of_kind = |kind: i32| [u64::from(libc::AF_UNIX.unsigned_abs()), u64::from(kind.unsigned_abs())];
    assert_eq!(call(libc::SYS_socketpair, of_kind(libc::SOCK_DGRAM)), killed);
    assert_eq!(call(libc::SYS_socketpair, of_kind(libc::SOCK_STREAM)), Ok(i64::from(-libc::EFAULT)));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn while_it_compiles_no_second_number_of_x32_makes_a_denied_call() {
    const X32: u64 = 0x4000_0000;
    let doubled = [libc::SYS_fork, libc::SYS_clone, libc::SYS_kill, libc::SYS_chmod, libc::SYS_socket];
    // And those that only x32 has, such as its `execve` (520) and `ptrace` (521).
    for number in doubled.map(|number| number.cast_unsigned() | X32).into_iter().chain((512..=547).map(|at| at | X32)) {
        assert_eq!(by_number::call("compiling", number), Err(nix::sys::signal::Signal::SIGSYS), "{number:#x}");
    }
}
