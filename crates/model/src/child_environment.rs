//! Which variables of the owner's environment child servers get, and which they might have needed
//! and did not get.
//!
//! Values are never reported: a withheld variable is reported by its name alone.

use std::collections::BTreeMap;

use crate::StdioCommand;

/// Variables that every child gets: what the official SDKs pass on, and what locates programs and
/// their caches. Secrets of others are not among them.
const ALWAYS: [&str; 15] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// What programs also need on Windows: without `SYSTEMROOT` many do not start, and without
/// `PATHEXT` and `COMSPEC` none finds or runs a script such as `npx.cmd`.
const ALWAYS_ON_WINDOWS: [&str; 19] = [
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// The proxies through which programs reach the network. A child gets those that have no user or
/// password in them.
const PROXIES: [&str; 8] =
    ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "all_proxy", "http_proxy", "https_proxy", "no_proxy"];

/// The certificate authorities that programs trust: their paths, and whether the system's are among
/// them.
const CERTIFICATES: [&str; 18] = [
    "AWS_CA_BUNDLE",
    "CARGO_HTTP_CAINFO",
    "CURL_CA_BUNDLE",
    "DENO_CERT",
    "DENO_TLS_CA_STORE",
    "GIT_SSL_CAINFO",
    "NIX_SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "NODE_USE_SYSTEM_CA",
    "NPM_CONFIG_CAFILE",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "UV_NATIVE_TLS",
    "UV_SYSTEM_CERTS",
    "npm_config_cafile",
    "npm_config_use_system_ca",
];

/// Programs, and the variables without which they or what they download may fail.
struct Needs {
    programs: &'static [&'static str],
    variables: &'static [&'static str],
}

/// The patterns ignore case, since npm and others do.
const NEEDS: [Needs; 5] = [
    Needs {
        programs: &["npx", "npm", "node", "bun", "bunx", "pnpm", "pnpx", "yarn", "deno", "corepack"],
        variables: &[
            "NPM_CONFIG_*",
            "NPM_TOKEN",
            "NODE_AUTH_TOKEN",
            "NODE_OPTIONS",
            "NODE_PATH",
            "NVM_DIR",
            "VOLTA_HOME",
            "FNM_*",
            "BUN_*",
            "DENO_*",
            "PNPM_HOME",
            "YARN_*",
            "COREPACK_*",
            "PLAYWRIGHT_*",
            "PUPPETEER_*",
        ],
    },
    Needs {
        programs: &["uvx", "uv", "pip", "pip3", "pipx", "python", "python3", "poetry", "conda", "hatch"],
        variables: &[
            "UV_*",
            "PIP_*",
            "PIPX_*",
            "PYTHONPATH",
            "PYTHONHOME",
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "PYENV_ROOT",
            "POETRY_*",
        ],
    },
    Needs { programs: &["docker", "podman", "nerdctl"], variables: &["DOCKER_*", "CONTAINER_HOST"] },
    Needs {
        programs: &["go", "cargo"],
        variables: &[
            "GOPROXY",
            "GOPRIVATE",
            "GONOPROXY",
            "GONOSUMDB",
            "GOSUMDB",
            "GOAUTH",
            "GOFLAGS",
            "GOPATH",
            "CARGO_HOME",
            "CARGO_REGISTR*",
            "CARGO_HTTP_*",
            "CARGO_NET_*",
            "RUSTUP_*",
        ],
    },
    Needs { programs: &["java", "jbang"], variables: &["JAVA_HOME", "JAVA_TOOL_OPTIONS", "MAVEN_*"] },
];

/// How many names are listed. Further ones are only counted.
const NAMES_TOLD: usize = 8;

/// A pattern for names of variables: `*` stands for any characters, `?` for any one character.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariablePattern(String);

impl VariablePattern {
    /// The longest pattern, in bytes.
    pub const BYTES: usize = 256;

    /// Reads a pattern. One without letters or digits, such as `*`, is not accepted: it would pass
    /// on every secret.
    pub fn parse(text: &str) -> Option<Self> {
        let is_part = |character: char| character.is_ascii_alphanumeric() || "_*?()-.".contains(character);
        let names_something = text.chars().any(|character| character.is_ascii_alphanumeric());
        (names_something && text.len() <= Self::BYTES && text.chars().all(is_part)).then(|| Self(text.to_owned()))
    }

    /// Whether this names one variable in full.
    fn is_a_name(&self) -> bool {
        !self.0.contains(['*', '?'])
    }

    /// On Windows, names of variables ignore case.
    fn matches(&self, name: &str) -> bool {
        matches(&self.0, name, cfg!(windows))
    }
}

/// What child servers get from an environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChildEnvironment {
    /// The variables that they get.
    pub passed: BTreeMap<String, String>,
    /// Those that they do not get, although some programs need them.
    pub withheld: WithheldVariables,
}

impl ChildEnvironment {
    /// Chooses from the owner's environment what every child gets, and what the owner names in
    /// addition. A proxy with a user or password in it is passed on only if it is named in full.
    pub fn choose(environment: impl IntoIterator<Item = (String, String)>, inherit: &[VariablePattern]) -> Self {
        let (mut passed, mut withheld) = (BTreeMap::new(), Vec::new());
        for (name, value) in environment {
            let is = |known: &str| if cfg!(windows) { known.eq_ignore_ascii_case(&name) } else { known == name };
            let is_proxy = PROXIES.into_iter().any(is);
            let is_secret = is_proxy && value.contains('@');
            let is_named = inherit.iter().any(|pattern| pattern.is_a_name() && pattern.matches(&name));
            let is_meant = || {
                is_proxy
                    || ALWAYS.into_iter().chain(CERTIFICATES).any(is)
                    || (cfg!(windows) && ALWAYS_ON_WINDOWS.into_iter().any(is))
                    || inherit.iter().any(|pattern| pattern.matches(&name))
            };
            if is_named || (!is_secret && is_meant()) {
                passed.insert(name, value);
            } else if is_secret || NEEDS.iter().any(|needs| needs.names(&name)) {
                withheld.push(Withheld { name, is_secret });
            }
        }
        withheld.sort_by(|one, other| (!one.is_secret, &one.name).cmp(&(!other.is_secret, &other.name)));
        Self { passed, withheld: WithheldVariables(withheld) }
    }
}

/// Variables of the owner's that children do not get, although some programs need them: only their
/// names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WithheldVariables(Vec<Withheld>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Withheld {
    name: String,
    /// It is a proxy with a user or password in it.
    is_secret: bool,
}

impl WithheldVariables {
    /// Whether a proxy is among them, without which nothing may be reached.
    pub fn has_proxy(&self) -> bool {
        self.0.iter().any(|withheld| withheld.is_secret)
    }

    /// All of them, in words; `None` if there are none.
    pub fn told(&self) -> Option<String> {
        told(self.0.iter())
    }

    /// Those that this program might need, in words: what its package manager reads, or all of them
    /// if it is not a known program, and withheld proxies in any case. Variables that its own `env`
    /// sets are not among them.
    pub fn told_of(&self, command: &StdioCommand) -> Option<String> {
        let words = || std::iter::once(&command.command).chain(&command.args).take(4).map(|word| program_name(word));
        let known: Vec<&Needs> =
            NEEDS.iter().filter(|needs| words().any(|word| needs.programs.contains(&word.as_str()))).collect();
        let may_need = |withheld: &&Withheld| {
            let is_needed = known.is_empty() || known.iter().any(|needs| needs.names(&withheld.name));
            !command.env.contains_key(&withheld.name) && (withheld.is_secret || is_needed)
        };
        told(self.0.iter().filter(may_need))
    }
}

/// A program's name as in `NEEDS`: without its folder, and without the ending that it has on
/// Windows.
fn program_name(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let endings = [".exe", ".cmd", ".bat"];
    endings.into_iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name).to_owned()
}

fn told<'w>(withheld: impl Iterator<Item = &'w Withheld>) -> Option<String> {
    let all: Vec<&Withheld> = withheld.collect();
    let mut names: Vec<String> = all
        .iter()
        .take(NAMES_TOLD)
        .map(|withheld| match withheld.is_secret {
            true => format!("{} (it has a user or password in it)", withheld.name),
            false => withheld.name.clone(),
        })
        .collect();
    let last = match all.len().saturating_sub(names.len()) {
        0 => names.pop()?,
        more => format!("{more} more"),
    };
    Some(if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) })
}

impl Needs {
    fn names(&self, name: &str) -> bool {
        self.variables.iter().any(|pattern| matches(pattern, name, true))
    }
}

/// Whether a name matches a pattern. The time is at most the product of their lengths.
fn matches(pattern: &str, name: &str, both_cases: bool) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut from) = (0, 0);
    // Where the last star stands, and what it has taken so far.
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = name.get(from) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(wanted) if *wanted == b'?' || wanted == byte || (both_cases && wanted.eq_ignore_ascii_case(byte)) => {
                (at, from) = (at + 1, from + 1);
            }
            _ => {
                let Some((place, taken)) = star else { return false };
                star = Some((place, taken + 1));
                (at, from) = (place + 1, taken + 1);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|rest| *rest == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(environment: &[(&str, &str)], inherit: &[&str]) -> ChildEnvironment {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let inherit: Vec<_> = inherit.iter().map(|text| VariablePattern::parse(text).expect(text)).collect();
        ChildEnvironment::choose(environment, &inherit)
    }

    fn names(environment: &ChildEnvironment) -> Vec<&str> {
        environment.passed.keys().map(String::as_str).collect()
    }

    fn command(command: &str, args: &[&str]) -> StdioCommand {
        StdioCommand {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: BTreeMap::from([("UV_INDEX_URL".to_owned(), String::new())]),
            cwd: None,
            sandbox: None,
        }
    }

    #[test]
    fn a_child_gets_the_small_environment_proxies_and_certificates_and_nothing_that_may_be_a_secret() {
        let environment = [
            ("PATH", "/bin"),
            ("HTTPS_PROXY", "http://proxy:3128"),
            ("no_proxy", "localhost,.internal"),
            ("SSL_CERT_FILE", "/etc/ca.pem"),
            ("REQUESTS_CA_BUNDLE", "/etc/ca.pem"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("UV_INDEX_URL", "https://u:p@pypi.internal/simple"),
            ("npm_config_registry", "https://npm.internal"),
        ];
        let found = chosen(&environment, &[]);
        assert_eq!(names(&found), ["HTTPS_PROXY", "PATH", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "no_proxy"]);
        assert_eq!(found.withheld.told().as_deref(), Some("UV_INDEX_URL and npm_config_registry"));
        assert!(!found.withheld.has_proxy());
        let found = chosen(&environment, &["UV_*", "npm_config_registry"]);
        assert!(found.passed.contains_key("UV_INDEX_URL") && found.passed.contains_key("npm_config_registry"));
        assert_eq!(found.withheld.told(), None);
    }

    #[cfg(windows)]
    #[test]
    fn a_child_gets_what_programs_need_on_windows_however_it_is_written() {
        let environment =
            [("Path", "C:\\bin"), ("SystemRoot", "C:\\Windows"), ("ProgramFiles(x86)", "C:\\P"), ("Token", "s")];
        assert_eq!(names(&chosen(&environment, &[])), ["Path", "ProgramFiles(x86)", "SystemRoot"]);
    }

    #[test]
    fn a_proxy_with_a_password_is_passed_only_where_it_is_named_in_full() {
        let environment = [("HTTPS_PROXY", "http://ada:sesame@proxy:3128"), ("HTTP_PROXY", "ada:sesame@proxy")];
        for inherit in [&[][..], &["HTTP*"], &["*PROXY"]] {
            let found = chosen(&environment, inherit);
            assert!(found.passed.is_empty() && found.withheld.has_proxy(), "{inherit:?}: {found:?}");
            let told = found.withheld.told().expect("two");
            let each = "(it has a user or password in it)";
            assert_eq!(told, format!("HTTPS_PROXY {each} and HTTP_PROXY {each}"));
        }
        assert_eq!(names(&chosen(&environment, &["HTTPS_PROXY"])), ["HTTPS_PROXY"]);
    }

    #[test]
    fn a_program_is_told_of_what_its_kind_reads_and_an_unknown_one_of_everything() {
        let environment = [("UV_INDEX_URL", "x"), ("PIP_INDEX_URL", "x"), ("NPM_CONFIG_REGISTRY", "x")];
        let withheld = chosen(&environment, &[]).withheld;
        let told = |program: &str, args: &[&str]| withheld.told_of(&command(program, args)).unwrap_or_default();
        assert_eq!(told("/usr/bin/npx", &["-y", "x"]), "NPM_CONFIG_REGISTRY");
        assert_eq!(told("cmd", &["/c", "npx.cmd", "x"]), "NPM_CONFIG_REGISTRY");
        // It has this variable of its own.
        assert_eq!(told("uvx", &["serena"]), "PIP_INDEX_URL");
        assert_eq!(told("serena", &[]), "NPM_CONFIG_REGISTRY and PIP_INDEX_URL");
        assert_eq!(told("docker", &["run", "x"]), "");
    }

    #[test]
    fn of_many_names_the_first_are_told_and_the_number_of_the_others() {
        let environment: Vec<(String, String)> =
            (10..40).map(|number| (format!("npm_config_{number}"), String::new())).collect();
        let found = ChildEnvironment::choose(environment, &[]);
        let told = found.withheld.told().expect("some");
        assert!(told.starts_with("npm_config_10, ") && told.ends_with("npm_config_17 and 22 more"), "{told}");
    }

    #[test]
    fn a_pattern_names_something_and_has_no_other_signs() {
        for text in ["*", "**", "?", "", "A B", "A=B", "A\0", "[AB]", "Ä", &"A".repeat(257)] {
            assert_eq!(VariablePattern::parse(text), None, "{text:?}");
        }
        for (text, name, matches) in [
            ("UV_*", "UV_INDEX_URL", true),
            ("UV_*", "UV_", true),
            ("UV_*", "uv_x", false),
            ("*_INDEX_*", "UV_INDEX_URL", true),
            ("*_INDEX", "UV_INDEX_URL", false),
            ("?IP_*", "PIP_X", true),
            ("PIP", "PIP_X", false),
            ("ProgramFiles(x86)", "ProgramFiles(x86)", true),
        ] {
            assert_eq!(VariablePattern::parse(text).expect(text).matches(name), matches, "{text} {name}");
        }
        // The time is bounded, whatever the pattern.
        assert!(!VariablePattern::parse(&"*A".repeat(128)).expect("a pattern").matches(&"B".repeat(100_000)));
    }
}
