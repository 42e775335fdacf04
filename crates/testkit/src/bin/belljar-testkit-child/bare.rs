//! A command for which the kernel lacks something: a filter of system calls answers as a kernel does that was built without it.

use std::{
    collections::BTreeMap, convert::Infallible, ffi::OsString, io, os::unix::process::CommandExt as _, process::Command,
};

use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// Becomes `command`, without what `missing` names: `landlock` or `seccomp`.
pub(crate) fn without(missing: &str, mut command: impl Iterator<Item = OsString>) -> io::Result<Infallible> {
    let (rules, answer) = match missing {
        "landlock" => (BTreeMap::from([(libc::SYS_landlock_create_ruleset, Vec::new())]), libc::ENOSYS),
        "seccomp" => (BTreeMap::from([(libc::SYS_seccomp, Vec::new())]), libc::ENOSYS),
        // As a kernel says that has seccomp and no filters.
        "seccomp-filter" => (BTreeMap::from([(libc::SYS_seccomp, vec![with_filter()?])]), libc::EINVAL),
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

/// `SECCOMP_SET_MODE_FILTER`.
fn with_filter() -> io::Result<SeccompRule> {
    let operation = u64::from(libc::SECCOMP_SET_MODE_FILTER);
    let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, operation);
    condition.and_then(|condition| SeccompRule::new(vec![condition])).map_err(io::Error::other)
}
