//! A child within walls, tested one attempt at a time by a Python program that is started as such a
//! child.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::{
    collections::BTreeMap,
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            fs::PermissionsExt,
            net::{SocketAddr, UnixDatagram, UnixListener},
        },
    },
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use belljar_model::{ChildSandbox, JsonText, ServerSpec, StdioCommand, ToolPath, Transport};
use belljar_testkit::child_server;
use belljar_upstream::{BuiltIns, CallLimit, Caller, Confiner, Options, StartError, Supervisor, Upstream};
use serde_json::{Value, json};

const CHILD: &str = env!("CARGO_BIN_EXE_belljar-testkit-child");
/// The system's Python: one in a home cannot be reached behind walls, or by other users.
const PYTHON: &str = "/usr/bin/python3";
/// The user `nobody`, whom the superuser can become.
const NOBODY: &str = "65534";

/// Folders and services that a child may try to reach.
struct World {
    folder: tempfile::TempDir,
    tcp: TcpListener,
    udp: UdpSocket,
    _at_path: UnixListener,
    _in_hidden: UnixListener,
    _abstract: UnixListener,
    _datagrams: UnixDatagram,
    name: String,
}

impl World {
    fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = format!("belljar-testkit-{name}-{}", std::process::id());
        for sub in ["read", "write", "secret", "hidden"] {
            let sub = folder.path().join(sub);
            std::fs::create_dir(&sub).unwrap();
            std::fs::write(sub.join("file"), "content").unwrap();
            // So that only the walls are in the way, whichever user the child runs as.
            std::fs::set_permissions(&sub, PermissionsExt::from_mode(0o777)).unwrap();
            std::fs::set_permissions(sub.join("file"), PermissionsExt::from_mode(0o666)).unwrap();
            for user in users() {
                let user = user.map_or_else(|| nix::unistd::geteuid().as_raw(), |user| user.parse().unwrap());
                let own = sub.join(user.to_string());
                std::fs::write(&own, "content").unwrap();
                std::os::unix::fs::chown(&own, Some(user), None).unwrap();
            }
        }
        std::fs::create_dir(folder.path().join("write/sub")).unwrap();
        std::fs::set_permissions(folder.path().join("write/sub"), PermissionsExt::from_mode(0o777)).unwrap();
        copy_program("/bin/true", &folder.path().join("secret/true"));
        // In a place that other users can reach, wherever the repository is.
        copy_program(CHILD, &folder.path().join("child"));
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
        let at_path = |path: &str| {
            let path = folder.path().join(path);
            let listener = UnixListener::bind(&path).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
            listener
        };
        let datagrams = UnixDatagram::bind(folder.path().join("secret/datagrams")).unwrap();
        std::fs::set_permissions(folder.path().join("secret/datagrams"), PermissionsExt::from_mode(0o666)).unwrap();
        Self {
            _at_path: at_path("secret/socket"),
            _in_hidden: at_path("hidden/socket"),
            _abstract: UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap(),
            _datagrams: datagrams,
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            name,
            folder,
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn walls(&self, network: bool) -> Value {
        json!({ "network": network, "read": [self.path("read")], "write": [self.path("write")], "hidden": [self.path("hidden")] })
    }

    /// The result of a line of Python behind the walls: `ok`, or its error.
    fn attempt(&self, walls: Option<&Value>, user: Option<&str>, line: &str) -> String {
        self.attempt_in(Path::new("/"), walls, user, line)
    }

    /// The result when the child is started in `folder`.
    fn attempt_in(&self, folder: &Path, walls: Option<&Value>, user: Option<&str>, line: &str) -> String {
        self.attempts_in(folder, walls, user, &[line]).remove(0)
    }

    /// The result of each of several lines, in its own process behind the same walls.
    fn attempts(&self, walls: Option<&Value>, user: Option<&str>, lines: &[&str]) -> Vec<String> {
        self.attempts_in(Path::new("/"), walls, user, lines)
    }

    fn attempts_in(&self, folder: &Path, walls: Option<&Value>, user: Option<&str>, lines: &[&str]) -> Vec<String> {
        let script = format!(
            "import ctypes, fcntl, json, os, socket, subprocess, sys, traceback\nroot, name, tcp, udp, parent = {:?}, {:?}, {}, {}, {}\n{PRELUDE}",
            self.folder.path().to_str().unwrap(),
            self.name,
            self.tcp.local_addr().unwrap().port(),
            self.udp.local_addr().unwrap().port(),
            std::process::id(),
        );
        let mut words = Vec::new();
        if let Some(user) = user {
            words.extend(["setpriv", "--reuid", user, "--regid", user, "--clear-groups"].map(str::to_owned));
        }
        if let Some(walls) = walls {
            words.extend([self.path("child").display().to_string(), "confine".to_owned(), walls.to_string()]);
        }
        assert!(Path::new(PYTHON).exists(), "{PYTHON} is missing: apt-get install python3");
        words.extend([PYTHON.to_owned(), "-c".to_owned(), script, json!(lines).to_string()]);
        let output = run_in(folder, &words);
        let said: Vec<_> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        assert!(output.status.success(), "{:?}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        assert_eq!(said.len(), lines.len(), "{said:?}");
        said
    }
}

/// Helpers for the lines: a file of the child's user beside each `file`, a system call by its
/// number, and all mount points; then the lines themselves.
const PRELUDE: &str = "
own = root + '/secret/%d' % os.getuid()
library = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    if library.syscall(ctypes.c_long(number), *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def mounts():
    return [line.split()[4].encode() for line in open('/proc/self/mountinfo')]
for line in json.loads(sys.argv[1]):
    if os.fork() == 0:
        try:
            try:
                exec(line)
                said = 'ok'
            except OSError as error:
                said = error.strerror
            print(said, flush=True)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    if os.wait()[1] != 0:
        sys.exit(line)
";

/// Another process writes the copy. A descriptor of this one would be inherited by programs that
/// other tests start at that moment, and a program that is open for writing cannot be started.
fn copy_program(from: &str, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success(), "{from}");
}

fn run(words: &[String]) -> Output {
    run_in(Path::new("/"), words)
}

fn run_in(folder: &Path, words: &[String]) -> Output {
    Command::new(&words[0]).args(&words[1..]).current_dir(folder).output().unwrap()
}

/// Users for testing the walls: ordinary ones need a user namespace, the superuser does not.
fn users() -> Vec<Option<&'static str>> {
    if nix::unistd::geteuid().is_root() { vec![None, Some(NOBODY)] } else { vec![None] }
}

/// What walls of any kind must allow.
const ALLOWED: &[&str] = &[
    "open(root + '/read/file').read()",
    "os.listdir(root + '/read')",
    "open(root + '/write/new', 'w').write('x'); os.remove(root + '/write/new')",
    "open(os.environ['TMPDIR'] + '/temporary', 'w').write('x')",
    "open('/dev/null', 'w').write('x')",
    "open('/proc/self/status').read()",
    "subprocess.run(['/bin/true'], check=True)",
    "[end.close() for end in socket.socketpair()]",
    "file = root + '/write/%d' % os.getuid(); os.chmod(file, 0o600); os.utime(file); os.setxattr(file, 'user.belljar', b'x')",
    "open(root + '/write/sub/a', 'w').close(); os.rename(root + '/write/sub/a', root + '/write/a'); os.remove(root + '/write/a')",
    "os.mkfifo(root + '/write/pipe'); os.remove(root + '/write/pipe')",
];

/// What they must refuse, and what succeeds without them.
const REFUSED: &[&str] = &[
    "open(root + '/secret/file').read()",
    "os.listdir(root)",
    "os.listdir('/tmp')",
    "open(root + '/read/file', 'w')",
    "open(root + '/secret/file', 'w')",
    "os.truncate(root + '/secret/file', 1)",
    "open(root + '/secret/another', 'w'); os.remove(root + '/secret/another')",
    "os.rename(root + '/secret/file', root + '/secret/renamed'); os.rename(root + '/secret/renamed', root + '/secret/file')",
    "os.link(root + '/read/file', root + '/secret/link'); os.remove(root + '/secret/link')",
    "subprocess.run([root + '/secret/true'], check=True)",
    "os.kill(parent, 0)",
    "open(root + '/hidden/file').read()",
    "socket.socket(socket.AF_UNIX).connect(root + '/hidden/socket')",
    "socket.socket(socket.AF_UNIX).connect('\\0' + name)",
    // What landlock does not govern.
    "os.chmod(own, 0o600)",
    "os.chown(own, os.getuid(), -1)",
    "os.utime(own)",
    "os.setxattr(own, 'user.belljar', b'x'); os.removexattr(own, 'user.belljar')",
    "os.fchmod(os.open(root + '/read/%d' % os.getuid(), os.O_RDONLY), 0o600)",
    "os.utime(os.open(root + '/read/%d' % os.getuid(), os.O_RDONLY))",
    // FS_IOC_GETFLAGS and FS_IOC_SETFLAGS.
    "file = os.open(root + '/read/%d' % os.getuid(), os.O_RDONLY); fcntl.ioctl(file, 0x40086602, fcntl.ioctl(file, 0x80086601, bytes(8)))",
    "os.chdir(root + '/secret'); os.chmod('%d' % os.getuid(), 0o600)",
    "os.chmod('/proc/self/root' + own, 0o600)",
    "os.chmod('/proc/%d/root' % parent + own, 0o600)",
];

/// What they also refuse if there is to be no network.
const REFUSED_WITHOUT_NETWORK: &[&str] = &[
    "socket.create_connection(('127.0.0.1', tcp))",
    "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', udp))",
    "socket.socket(socket.AF_UNIX).connect(root + '/secret/socket')",
    "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', root + '/secret/datagrams')",
    "socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'x', root + '/secret/datagrams')",
    "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
];

#[test]
fn a_child_within_walls_reaches_what_it_was_given_and_nothing_else() {
    let world = World::new("given");
    for user in users() {
        for network in [true, false] {
            let walls = world.walls(network);
            for (line, said) in ALLOWED.iter().zip(world.attempts(Some(&walls), user, ALLOWED)) {
                assert_eq!(said, "ok", "{line} as {user:?}, network {network}");
            }
            let refused = if network { REFUSED.to_vec() } else { [REFUSED, REFUSED_WITHOUT_NETWORK].concat() };
            for (line, said) in refused.iter().zip(world.attempts(Some(&walls), user, &refused)) {
                assert_ne!(said, "ok", "{line} as {user:?}, network {network}");
            }
        }
        let said = world.attempts(Some(&world.walls(true)), user, REFUSED_WITHOUT_NETWORK);
        for (line, said) in REFUSED_WITHOUT_NETWORK.iter().zip(said) {
            assert_eq!(said, "ok", "{line} as {user:?}, with a network");
        }
    }
    assert!(!Path::new("/dev/shm/temporary").exists(), "its temporary folder is its own");
}

#[test]
fn a_child_within_walls_starts_in_its_folder_as_it_was_given() {
    let world = World::new("folder");
    for user in users() {
        let walls = world.walls(false);
        let write = "open('new', 'w').write('x'); os.remove('new'); os.chmod('%d' % os.getuid(), 0o600)";
        assert_eq!(world.attempt_in(&world.path("write"), Some(&walls), user, write), "ok", "{user:?}");
        assert_eq!(
            world.attempt_in(&world.path("write/sub"), Some(&walls), user, "open('x', 'w').close(); os.remove('x')"),
            "ok"
        );
        for folder in ["read", "secret"] {
            let line = "os.chmod('%d' % os.getuid(), 0o600)";
            assert_ne!(world.attempt_in(&world.path(folder), Some(&walls), user, line), "ok", "{folder} as {user:?}");
        }
    }
}

#[test]
fn a_child_within_walls_cannot_take_its_mounts_apart() {
    let world = World::new("mounts");
    let marker = Path::new("/dev/shm").join(&world.name);
    std::fs::write(&marker, "").unwrap();
    // Attempts to clear MOUNT_ATTR_RDONLY. What counts is not the calls' results, but what can be
    // done afterwards.
    const WRITABLE: &str = "[library.syscall(ctypes.c_long(442), -100, place, 0, (ctypes.c_uint64 * 4)(0, 1, 0, 0), ctypes.c_long(32)) for place in mounts()]";
    const REMOUNTED: &str = "[library.mount(None, place, None, ctypes.c_ulong(4096 | 32), None) for place in mounts()]";
    const UNMOUNTED: &str = "[library.umount2(place, 2) for place in reversed(mounts())]";
    const ANOTHER: &str = "library.unshare(0x10020000)";
    for user in users() {
        let walls = world.walls(false);
        for undo in [WRITABLE, REMOUNTED, UNMOUNTED] {
            for undo in [undo.to_owned(), format!("{ANOTHER}; {undo}")] {
                for line in ["os.chmod(own, 0o600)", "open(root + '/hidden/file')", "os.stat('/dev/shm/' + name)"] {
                    let walled = world.attempt(Some(&walls), user, &format!("{undo}; {line}"));
                    assert_ne!(walled, "ok", "{undo}; {line} as {user:?}");
                }
            }
        }
    }
    std::fs::remove_file(marker).unwrap();
}

#[test]
fn a_file_a_place_in_another_and_everything_can_be_left_to_write() {
    let world = World::new("places");
    let paths = |write: &[&str]| {
        let write: Vec<_> = write.iter().map(|path| world.path(path)).collect();
        json!({ "network": false, "read": [], "write": write, "hidden": [] })
    };
    let file = paths(&["secret/file"]);
    assert_eq!(world.attempt(Some(&file), None, "open(root + '/secret/file', 'w').write('content')"), "ok");
    assert_ne!(world.attempt(Some(&file), None, "os.chmod(own, 0o600)"), "ok");
    // Nested folders count as one place, within which files can be moved.
    let inner = paths(&["write/sub", "write"]);
    let moved = "open(root + '/write/sub/a', 'w').close(); os.rename(root + '/write/sub/a', root + '/write/a'); os.remove(root + '/write/a')";
    assert_eq!(world.attempt(Some(&inner), None, moved), "ok");
    std::os::unix::fs::symlink(world.path("write"), world.path("link")).unwrap();
    assert_eq!(world.attempt(Some(&paths(&["link"])), None, "open(root + '/write/x', 'w').close()"), "ok");
    let all = json!({ "network": false, "read": [], "write": ["/"], "hidden": [] });
    assert_eq!(world.attempt(Some(&all), None, "os.chmod(own, 0o600)"), "ok");
}

/// The bit with which x86-64 has a second version of each system call.
const X32: i64 = 0x4000_0000;

#[test]
fn a_child_without_network_has_no_second_way_to_a_socket() {
    let world = World::new("ways");
    let mut calls = vec![libc::SYS_socket, libc::SYS_io_uring_setup];
    if cfg!(target_arch = "x86_64") {
        calls.extend([libc::SYS_socket | X32, libc::SYS_socketpair | X32, libc::SYS_io_uring_setup | X32]);
    }
    for number in calls {
        // AF_UNIX, SOCK_DGRAM. Not every kernel has each of these calls, so the error shows whether
        // the filter refused it.
        let line = format!("call({number}, 1, 2, 0, None)");
        for user in users() {
            let walled = world.attempt(Some(&world.walls(false)), user, &line);
            assert_eq!(walled, "Permission denied", "{number:#x} as {user:?}");
        }
        assert_ne!(world.attempt(None, None, &line), "Permission denied", "{number:#x}");
    }
}

#[test]
fn without_walls_the_same_attempts_succeed() {
    let world = World::new("free");
    let lines = [REFUSED, REFUSED_WITHOUT_NETWORK].concat();
    for (line, said) in lines.iter().zip(world.attempts(None, None, &lines)) {
        assert_eq!(said, "ok", "{line}");
    }
}

#[test]
fn a_child_within_walls_cannot_read_the_secrets_of_other_processes_of_its_user() {
    let world = World::new("secrets");
    for file in ["environ", "maps", "mem"] {
        let line = format!("open('/proc/%d/{file}' % parent, 'rb').read(1)");
        if file != "mem" {
            assert_eq!(world.attempt(None, None, &line), "ok", "{file}");
        }
        assert_ne!(world.attempt(Some(&world.walls(true)), None, &line), "ok", "{file}");
    }
}

#[test]
fn a_hidden_folder_that_is_not_there_yet_is_hidden_all_the_same() {
    let world = World::new("later");
    let later = world.path("later/sockets");
    let walls = json!({ "network": true, "read": [world.path("later")], "write": [], "hidden": [later] });
    std::fs::create_dir(world.path("later")).unwrap();
    assert_eq!(world.attempt(Some(&walls), None, "os.listdir(root + '/later/sockets')"), "ok");
    // It was created, also outside of the walls, so that later contents are not visible.
    std::fs::write(later.join("socket"), "").unwrap();
    let line = "assert os.listdir(root + '/later/sockets') == []";
    assert_eq!(world.attempt(Some(&walls), None, line), "ok");
}

#[test]
fn where_the_system_makes_no_namespaces_the_child_is_not_started_and_says_why() {
    let world = World::new("none");
    // A user namespace that allows no nested one, and a process in it without any privilege.
    let script =
        "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all -- \"$@\"";
    let walls = world.walls(false).to_string();
    let words =
        ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh", CHILD, "confine", &walls, "/bin/true"];
    let output = run(&words.map(str::to_owned));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(said.contains("belljar: sandbox: a namespace cannot be made"), "{said}");
    assert!(said.contains("user.max_user_namespaces"), "{said}");
}

#[test]
fn where_the_kernel_has_no_landlock_or_no_seccomp_the_child_is_not_started_and_says_why() {
    let world = World::new("kernel");
    let confine = |missing: &str, network: bool| {
        let walls = world.walls(network).to_string();
        let words = [CHILD, "without", missing, CHILD, "confine", &walls, "/bin/echo", "started"];
        run(&words.map(str::to_owned))
    };
    for (missing, networks, reason) in [
        ("landlock", &[true, false][..], "landlock cannot take the files away"),
        // System calls are filtered only if there is no network.
        ("seccomp", &[false], "seccomp cannot filter the system calls"),
        ("seccomp-filter", &[false], "seccomp cannot filter the system calls"),
    ] {
        for network in networks {
            let output = confine(missing, *network);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(125), "{missing}: {said}");
            assert!(output.stdout.is_empty(), "it was started all the same: {output:?}");
            assert!(said.contains(&format!("belljar: sandbox: {reason}")), "{missing}: {said}");
        }
    }
    let output = confine("seccomp", true);
    assert_eq!(output.stdout, b"started\n", "nothing else is in the way: {output:?}");
}

/// A child that echoes, within these walls.
fn walled(sandbox: ChildSandbox) -> ServerSpec {
    let mut spec = child_server("walled", Path::new(CHILD), &["echo"]);
    if let Transport::Stdio(command) = &mut spec.transport {
        command.sandbox = Some(sandbox);
    }
    spec
}

fn upstream(spec: ServerSpec) -> Upstream {
    upstream_on(None, spec)
}

/// A child on a kernel that lacks something.
fn upstream_on(missing: Option<&str>, spec: ServerSpec) -> Upstream {
    let without = missing.map(|missing| vec!["without".to_owned(), missing.to_owned(), CHILD.to_owned()]);
    let confine = [without.unwrap_or_default(), vec!["confine".to_owned()]].concat();
    let mut options = Options::new("belljar", "0");
    options.environment = BTreeMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap())]);
    options.supervisor = Some(Supervisor { program: CHILD.into(), arguments: vec!["supervise".into()] });
    options.confiner = Some(Confiner { program: CHILD.into(), arguments: confine, hidden: Vec::new() });
    Upstream::new(vec![spec], BuiltIns::new(), options)
}

fn nothing() -> ChildSandbox {
    ChildSandbox { network: false, read: Vec::new(), write: Vec::new() }
}

#[tokio::test]
async fn a_server_works_within_walls_below_its_supervisor() {
    let upstream = upstream(walled(nothing()));
    let arguments = JsonText::from_value(&json!({ "text": "hello" }));
    let limit = CallLimit::from(Duration::from_secs(20));
    let answer = upstream.call_text(&ToolPath::new("walled", "echo"), arguments, limit, &Caller::default()).await;
    assert!(answer.unwrap().as_str().contains("hello"));
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_server_whose_walls_cannot_be_had_is_not_started_and_its_fault_says_what_is_missing() {
    let missing = ChildSandbox { read: vec!["/nonexistent/folder".into()], ..nothing() };
    let upstream_of_it = upstream(walled(missing));
    let fault = upstream_of_it.start("walled").await.expect_err("it cannot be had");
    assert!(matches!(&*fault, StartError::Sandbox { reason } if reason.contains("/nonexistent/folder")), "{fault}");
    assert!(fault.hint().is_some_and(|hint| hint.contains("'sandbox'")));
    upstream_of_it.shutdown().await;

    let command = StdioCommand {
        command: "belljar-no-such-command".into(),
        args: Vec::new(),
        env: BTreeMap::new(),
        cwd: None,
        sandbox: Some(nothing()),
    };
    let upstream_of_it = upstream(ServerSpec::new("walled", Transport::Stdio(command)));
    let fault = upstream_of_it.start("walled").await.expect_err("there is no such program");
    assert!(fault.to_string().contains("belljar-no-such-command"), "{fault}");
    upstream_of_it.shutdown().await;
}

#[tokio::test]
async fn a_server_whose_kernel_lacks_a_wall_is_not_started_and_its_fault_says_which() {
    for missing in ["landlock", "seccomp"] {
        let upstream = upstream_on(Some(missing), walled(nothing()));
        let fault = upstream.start("walled").await.expect_err("it cannot be had");
        assert!(matches!(&*fault, StartError::Sandbox { reason } if reason.contains(missing)), "{fault}");
        upstream.shutdown().await;
    }
}

#[tokio::test]
async fn a_program_that_cannot_wall_in_starts_no_server_that_asks_for_it() {
    let upstream = Upstream::new(vec![walled(nothing())], BuiltIns::new(), Options::new("belljar", "0"));
    let fault = upstream.start("walled").await.expect_err("it cannot be had");
    assert!(matches!(&*fault, StartError::Sandbox { .. }), "{fault}");
}
