//! Where the secrets of a first start go: to whoever reads standard output, unless that is the journal, which others read.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::Instant;

const PATIENCE: Duration = Duration::from_secs(30);

/// A process with its own data, whose output is a file.
struct ServiceProcess {
    child: Child,
    folder: TempDir,
}

impl Drop for ServiceProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ServiceProcess {
    fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// The one file of the data folder that holds a text.
    fn file_with(&self, text: &str) -> Option<std::path::PathBuf> {
        let entries = fs::read_dir(self.data()).expect("a data folder");
        let files = entries.map(|entry| entry.expect("an entry").path());
        let holds = |path: &std::path::PathBuf| {
            fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
        };
        files.filter(|path| path.is_file()).find(holds)
    }
}

fn start(out: impl Into<Stdio>, journal: Option<&str>, folder: TempDir) -> ServiceProcess {
    let log = File::create(folder.path().join("log")).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_atelier"));
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(folder.path().join("data"))
        .env_remove("JOURNAL_STREAM")
        .stdout(out)
        .stderr(log);
    if let Some(stream) = journal {
        command.env("JOURNAL_STREAM", stream);
    }
    let child = command.spawn().expect("it starts");
    ServiceProcess { child, folder }
}

/// What a process has written to a file, once it says where it listens.
fn said(path: &Path) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        if text.contains("listening on ") {
            return text;
        }
        assert!(Instant::now() < deadline, "{text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

const LABELS: [&str; 4] = [
    "API key         at_",
    "operator token  adm_",
    "console         http",
    "/console/#se_",
];

fn holds_secrets(text: &str) -> bool {
    let whole = LABELS.iter().all(|label| text.contains(label));
    let none = ["at_", "adm_", "se_"]
        .iter()
        .all(|word| !text.contains(word));
    assert!(whole || none, "some of them: {text}");
    whole
}

/// The secrets stand in a file for the service's own user, and the log says where.
fn are_in_a_file(started: &ServiceProcess, said: &str) {
    let path = started.file_with("operator token  adm_").expect("a file");
    assert!(holds_secrets(&fs::read_to_string(&path).expect("text")));
    let mode = fs::metadata(&path).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    let name = path.canonicalize().expect("a path").display().to_string();
    assert!(said.contains(&name), "{name} in {said}");
    assert!(!holds_secrets(&started.log()), "{}", started.log());
}

/// The promise: what everybody in the group of the journal may read for ever holds no secret, and only the journal is
/// taken for it.
#[test]
fn secrets_of_the_first_start_are_kept_out_of_the_journal_and_of_nothing_else() {
    for (right, shift) in [(true, 0), (false, 1)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out");
        let out = File::create(&path).expect("a file");
        let about = out.metadata().expect("a file");
        let stream = format!("{}:{}", about.dev(), about.ino() + shift);
        let started = start(out, Some(&stream), folder);
        let text = said(&path);
        assert_eq!(holds_secrets(&text), !right, "{text}");
        if right {
            are_in_a_file(&started, &text);
        } else {
            assert!(started.file_with("operator token  adm_").is_none());
        }
    }
    for odd in [None, Some(""), Some("here"), Some("1:2:3"), Some(":")] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out");
        let out = File::create(&path).expect("a file");
        let _started = start(out, odd, folder);
        let text = said(&path);
        assert!(holds_secrets(&text), "{odd:?}: {text}");
    }
}

/// The promise: where programs read standard output, what is for people is on standard error.
#[test]
fn with_json_logs_the_first_start_is_shown_on_standard_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    let out = File::create(&path).expect("a file");
    let log = File::create(folder.path().join("log")).expect("a file");
    let child = Command::new(env!("CARGO_BIN_EXE_atelier"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(folder.path().join("data"))
        .env("ATELIER_LOG_FORMAT", "json")
        .env_remove("JOURNAL_STREAM")
        .stdout(out)
        .stderr(log)
        .spawn()
        .expect("it starts");
    let started = ServiceProcess { child, folder };
    assert!(!holds_secrets(&said(&path)));
    assert!(holds_secrets(&started.log()), "{}", started.log());
}

#[test]
fn a_pipe_is_taken_for_the_journal_only_when_it_is_named() {
    for named in [true, false] {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let about = fs::metadata(format!("/proc/self/fd/{}", writer.as_raw_fd())).expect("a pipe");
        let stream = format!("{}:{}", about.dev(), about.ino() + u64::from(!named));
        let folder = tempfile::tempdir().expect("a folder");
        let started = start(writer, Some(&stream), folder);
        let mut text = String::new();
        let mut piece = [0; 4096];
        while !text.contains("listening on ") {
            let read = reader.read(&mut piece).expect("output");
            assert!(read > 0, "{text}\n{}", started.log());
            text.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
        assert_eq!(holds_secrets(&text), !named, "{text}");
        if named {
            are_in_a_file(&started, &text);
        }
    }
}

/// The promise: a service that crashes leaves no picture of its memory, which holds keys.
#[test]
fn the_unit_leaves_no_core_files() {
    let unit = include_str!("../../../../packaging/debian/atelier.service");
    assert!(unit.lines().any(|line| line == "LimitCORE=0"), "{unit}");
}

/// The promise: who reads the log of a service is said by its owner, not by the umask of whoever started it.
#[test]
fn log_files_are_for_the_user_and_the_group_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (fresh, old) = (folder.path().join("fresh"), folder.path().join("old"));
    for path in [&fresh, &old] {
        let out = folder.path().join("out");
        let log = File::create(&out).expect("a file");
        if *path == old {
            fs::write(path, "").expect("written");
            let open = fs::Permissions::from_mode(0o666);
            fs::set_permissions(path, open).expect("ours");
        }
        let child = Command::new("sh")
            .args([
                "-c",
                "umask 0; exec \"$0\" serve --listen 127.0.0.1:0 --data-dir \"$1\"",
            ])
            .arg(env!("CARGO_BIN_EXE_atelier"))
            .arg(folder.path().join("data"))
            .env("ATELIER_LOG_ACCESS", path)
            .stdout(log)
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let started = ServiceProcess {
            child,
            folder: tempfile::tempdir().expect("a folder"),
        };
        said(&out);
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        assert_eq!(
            mode(path) & !0o640,
            0,
            "{} {:o}",
            path.display(),
            mode(path)
        );
        drop(started);
    }
}
