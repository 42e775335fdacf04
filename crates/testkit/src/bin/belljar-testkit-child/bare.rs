//! A command for which the kernel lacks something: a filter of system calls answers like a kernel
//! that was built without it.

use std::{
    collections::BTreeMap, convert::Infallible, ffi::OsString, io, os::unix::process::CommandExt as _, process::Command,
};

use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// Becomes `command`, without what `missing` names: a wall, or file locks, which fail as on an NFS
/// server without them.
pub(crate) fn without(missing: &str, mut command: impl Iterator<Item = OsString>) -> io::Result<Infallible> {
    let (rules, answer) = match missing {
        "landlock" => (BTreeMap::from([(libc::SYS_landlock_create_ruleset, Vec::new())]), libc::ENOSYS),
        "seccomp" => (BTreeMap::from([(libc::SYS_seccomp, Vec::new())]), libc::ENOSYS),
        // Like a kernel that has seccomp without filters.
        "seccomp-filter" => (
            BTreeMap::from([(libc::SYS_seccomp, vec![argument_is(0, libc::SECCOMP_SET_MODE_FILTER.into())?])]),
            libc::EINVAL,
        ),
        "locks" => {
            let set = [libc::F_SETLK, libc::F_SETLKW, libc::F_OFD_SETLK, libc::F_OFD_SETLKW];
            let set = set.map(|operation| argument_is(1, operation.unsigned_abs().into()));
            let set = set.into_iter().collect::<io::Result<Vec<_>>>()?;
            (BTreeMap::from([(libc::SYS_fcntl, set), (libc::SYS_flock, Vec::new())]), libc::ENOLCK)
        }
        _ => return Err(io::Error::other(format!("no kernel lacks '{missing}' here"))),
    };
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let denied = SeccompAction::Errno(answer.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, architecture).map_err(io::Error::other)?;
    let filter: seccompiler::BpfProgram = filter.try_into().map_err(io::Error::other)?;
    seccompiler::apply_filter(&filter).map_err(io::Error::other)?;
    let program = command.next().ok_or_else(|| io::Error::other("a command is missing"))?;
    Err(Command::new(program).args(command).exec())
}

/// The condition that this argument has this value.
fn argument_is(at: u8, value: u64) -> io::Result<SeccompRule> {
    let condition = SeccompCondition::new(at, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value);
    condition.and_then(|condition| SeccompRule::new(vec![condition])).map_err(io::Error::other)
}
