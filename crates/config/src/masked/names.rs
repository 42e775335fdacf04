//! Names that precede secrets, names that precede code, and what tokens look like.

/// Parts of names that precede secrets, written without `-`, `_` and `.`.
const CONTAINED: [&str; 8] =
    ["secret", "password", "passwd", "passphrase", "credential", "authorization", "apikey", "connectionstring"];
/// Endings of names that precede secrets.
const ENDINGS: [&str; 6] = ["token", "key", "auth", "cookie", "jwt", "bearer"];
/// Whole names that precede secrets.
const WHOLE: [&str; 4] = ["pass", "pwd", "pat", "sas"];
/// A name with one of these endings says where a secret is, and is not followed by the secret
/// itself.
const PLACES: [&str; 5] = ["file", "path", "dir", "url", "name"];

/// Prefixes of the tokens of well-known services.
const PREFIXES: [&str; 22] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "akia",
    "aiza",
    "npm_",
    "pypi-",
    "hf_",
    "ntn_",
    "lin_api_",
    "eyj",
    "ya29.",
];
/// The shortest token of a known service.
const SHORTEST: usize = 16;
/// The shortest word of upper-case letters, lower-case letters and digits that is taken to be
/// random.
const LONG: usize = 24;

/// Variables that decide which code a program loads. Their values are shown: they are not secrets,
/// and matter more than the command does.
const LOADERS: [&str; 36] = [
    "PATH",
    "HOME",
    "SHELL",
    "ENV",
    "BASH_ENV",
    "ZDOTDIR",
    "EDITOR",
    "PAGER",
    "BROWSER",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYLIB",
    "RUBYOPT",
    "CLASSPATH",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "DOTNET_STARTUP_HOOKS",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXEC_PATH",
    "GIT_ASKPASS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];
/// Prefixes of more variables of this kind.
const LOADER_PREFIXES: [&str; 4] = ["LD_", "DYLD_", "NPM_CONFIG_", "GIT_CONFIG"];

/// Whether the value that follows this name of an option, a variable, a header or a key is a
/// secret.
pub(super) fn is_secret(name: &str) -> bool {
    const LONGEST: usize = 100;
    let name = name.trim_start_matches('-');
    if name.is_empty() || name.len() > LONGEST || name.contains(|character: char| !is_of_name(character)) {
        return false;
    }
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    if PLACES.iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    CONTAINED.iter().any(|part| name.contains(part))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || WHOLE.contains(&name.as_str())
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// Whether the value of a variable decides which code a program loads.
pub(crate) fn loads_code(variable: &str) -> bool {
    let variable = variable.to_ascii_uppercase();
    let is_one =
        LOADERS.contains(&variable.as_str()) || LOADER_PREFIXES.iter().any(|prefix| variable.starts_with(prefix));
    is_one && !is_secret(&variable)
}

/// Whether a word looks like a token: one of a known service, a UUID, or random letters and digits.
pub(super) fn looks_like_token(word: &str) -> bool {
    if word.len() < SHORTEST || word.contains(|character: char| !(is_of_name(character) || "+=~".contains(character))) {
        return false;
    }
    let start = word.get(..12).unwrap_or_default().to_ascii_lowercase();
    if PREFIXES.iter().any(|prefix| start.starts_with(prefix)) || is_uuid(word) {
        return true;
    }
    let has = |text: &str, is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    let is_mixed =
        |run: &str| run.len() >= SHORTEST && has(run, u8::is_ascii_digit) && has(run, u8::is_ascii_alphabetic);
    word.split(|character: char| !character.is_ascii_alphanumeric()).any(is_mixed)
        || (word.len() >= LONG
            && has(word, u8::is_ascii_digit)
            && has(word, u8::is_ascii_uppercase)
            && has(word, u8::is_ascii_lowercase))
}

fn is_uuid(word: &str) -> bool {
    let lengths = word.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}
