//! A server that inspects the processes above it, like a hostile one would, and shows what it was
//! started with.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read as _},
};

use nix::{
    sys::{
        prctl,
        signal::{Signal, kill},
    },
    unistd::{Pid, getpgid, getppid, setpgid},
};
use serde_json::{Value, json};

use crate::{
    protocol::{Message, Output, serve, tool},
    stubborn::{helper_in_its_own_session, write_whole},
};

/// Serves until its input ends.
pub(crate) fn spy() -> io::Result<()> {
    let tools = json!([
        tool("above", "Tries to read the supervisor and belljar, and says how each attempt went"),
        tool("descriptors", "Gives its descriptors beyond the standard streams"),
        tool("status", "Gives what the system says of this process"),
        tool(
            "strike",
            "Leaves a helper in a session of its own, writes the numbers of all to `file`, and sends `signal` to its supervisor"
        ),
    ]);
    serve(&Output::default(), &tools, answer)
}

fn answer(output: &Output, message: Message) -> io::Result<()> {
    let found = match message.tool().as_str() {
        "above" => {
            let supervisor = getppid().as_raw();
            json!({ "supervisor": attempts(supervisor), "belljar": attempts(parent_of(supervisor)?) })
        }
        "descriptors" => json!({ "descriptors": descriptors()? }),
        "strike" => {
            let argument = |name: &str| message.parameter(&format!("/arguments/{name}"));
            strike(argument("file").as_str().unwrap_or_default(), &argument("signal"))?
        }
        "status" => json!({ "status": status()?, "dumpable": prctl::get_dumpable()? }),
        unknown => return output.error(message.id(), -32602, &format!("there is no tool {unknown}")),
    };
    output.result(message.id(), json!({"content": [], "structuredContent": found}))
}

/// Does to the supervisor what its user's rights allow.
fn strike(file: &str, signal: &Value) -> io::Result<Value> {
    let supervisor = getppid();
    let belljar = Pid::from_raw(parent_of(supervisor.as_raw())?);
    let helper = helper_in_its_own_session(file)?;
    // Hides among belljar's own processes.
    let joined = setpgid(Pid::from_raw(0), getpgid(Some(belljar))?);
    let said = json!({
        "pids": [std::process::id(), helper, supervisor.as_raw()],
        "joined": joined.map_or_else(|error| error.to_string(), |()| "belljar's group".to_owned()),
    });
    write_whole(file, &said.to_string())?;
    kill(supervisor, if signal == "KILL" { Signal::SIGKILL } else { Signal::SIGSTOP })?;
    Ok(said)
}

/// The result of each way to read a process: `read`, or the system's error.
fn attempts(pid: i32) -> Value {
    let first_byte = |name: &str| File::open(format!("/proc/{pid}/{name}"))?.read_exact(&mut [0]);
    // Nothing is mapped at its first address; it is enough that it can be opened.
    let open = |name: &str| File::open(format!("/proc/{pid}/{name}")).map(drop);
    let list = |name: &str| fs::read_dir(format!("/proc/{pid}/{name}")).map(drop);
    let went = |result: io::Result<()>| result.map_or_else(|error| error.to_string(), |()| "read".to_owned());
    json!({
        "pid": pid,
        "environ": went(first_byte("environ")),
        "maps": went(first_byte("maps")),
        "mem": went(open("mem")),
        "fd": went(list("fd")),
    })
}

fn parent_of(pid: i32) -> io::Result<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let parent = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(1)?.parse().ok());
    parent.ok_or_else(|| io::Error::other("a process without a parent"))
}

/// The target of each descriptor. The one that reads the list is gone when they are looked up.
fn descriptors() -> io::Result<BTreeMap<i32, String>> {
    let names = fs::read_dir("/proc/self/fd")?.map(|entry| Ok(entry?.file_name()));
    let names = names.collect::<io::Result<Vec<_>>>()?;
    let numbers = names.iter().filter_map(|name| name.to_str()?.parse().ok()).filter(|number| *number > 2);
    let leads_to =
        |number| Some((number, fs::read_link(format!("/proc/self/fd/{number}")).ok()?.display().to_string()));
    Ok(numbers.filter_map(leads_to).collect())
}

fn status() -> io::Result<BTreeMap<String, String>> {
    let text = fs::read_to_string("/proc/self/status")?;
    let entries = text.lines().filter_map(|line| line.split_once(':'));
    Ok(entries.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
}
