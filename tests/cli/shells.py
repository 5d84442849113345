"""Completions in the real shells: each is started as somebody at a terminal starts it, with what `atelier completions`
prints in the place that its help names; the keys are pressed, and the shell is asked which words it has now.

    python3 shells.py BINARY
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# What is typed before the key for completion, and what the last word is then.
FINISHED = [
    ("atelier im", "imagine"),
    ("atelier call artgen.im", "artgen.imagine"),
    ("atelier call design.gen", "design.generations"),
    ("atelier keys iss", "issue"),
    ("atelier call artgen.imagine prompt=x mo", "mode="),
    ("atelier call artgen.imagine prompt=x mode=tu", "mode=turbo"),
    ("atelier imagine 'a fox' mode=tu", "mode=turbo"),
    ("atelier call artgen.imagine getUI", "getUImages="),
    ("atelier call artgen.imagine getUImages=t", "getUImages=true"),
    ("atelier call artgen.imagine --idem", "--idempotency-key"),
    ("atelier imagine x --pictures si", "sixel"),
    ("atelier call artgen.describe base64=@pict", "base64=@pictures/"),
    ("atelier call artgen.describe base64=@pictures/on", "base64=@pictures/one cat.png"),
    ("atelier edit pictures/on", "pictures/one cat.png"),
    ('atelier edit "pictures/on', "pictures/one cat.png"),
    ("atelier local acc", "account"),
]
# What is shown where several words fit.
OFFERED = [
    ("atelier call artgen.imagine mode=", ["relax", "fast", "turbo"]),
    ("atelier completions ", ["bash", "zsh", "fish"]),
    ("atelier keys ", ["issue", "list", "revoke"]),
]
CONTROLS = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[=>()][0B]?|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|[\x07\r]")


class Shell:
    """An interactive shell on a terminal of its own."""

    def __init__(self, argv, home, folder):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(argv[0], argv, {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "xterm", "LANG": "C.UTF-8"})
        self.press("\n")
        self.until(b"@@ready@@", "printf '@@%s@@\\n' ready\n")

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def read(self, seconds):
        """What is written until nothing is for so long."""
        seen = b""
        while select.select([self.terminal], [], [], seconds)[0]:
            try:
                seen += os.read(self.terminal, 65536)
            except OSError:
                break
        return seen

    def until(self, mark, keys=""):
        if keys:
            self.press(keys)
        seen, end = b"", time.monotonic() + 30
        while mark not in CONTROLS.sub(b"", seen) and time.monotonic() < end:
            seen += self.read(0.2)
        if mark not in CONTROLS.sub(b"", seen):
            raise AssertionError(f"{mark!r} did not come: {seen[-2000:]!r}")
        return CONTROLS.sub(b"", seen).decode(errors="replace")

    def completed(self, line):
        """The words of the line after the key for completion."""
        self.press(line + "\t")
        self.read(1.2)
        # The line becomes what a harmless command is given.
        self.press("\x01printf '@@%s' \x05 ; printf '@@end\\n'\n")
        said = self.until(b"@@end\n").rsplit("@@end\n", 1)[0].rsplit("\n", 1)[-1]
        return said[said.index("@@") + 2 :].split("@@")

    def offered(self, line):
        self.press(line + "\t")
        seen = self.read(0.8)
        self.press("\t")
        seen = CONTROLS.sub(b"", seen + self.read(1.2)).decode(errors="replace")
        self.press("\x03")
        self.read(0.4)
        self.press("\x15")
        self.read(0.2)
        return seen

    def end(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def prepared(name, atelier, home):
    """Puts the script where its shell looks for it; says how that shell is started."""
    script = subprocess.run([atelier, "completions", name], check=True, capture_output=True, text=True).stdout
    place = {
        "bash": home / ".local/share/bash-completion/completions/atelier",
        "zsh": home / "functions/_atelier",
        "fish": home / ".config/fish/completions/atelier.fish",
    }[name]
    place.parent.mkdir(parents=True)
    place.write_text(script)
    if name == "bash":
        (home / ".bashrc").write_text("PS1='$ '\n. /usr/share/bash-completion/bash_completion\n")
        return ["bash", "-i"]
    if name == "zsh":
        (home / ".zshrc").write_text("PS1='$ '\nunsetopt zle_bracketed_paste\nfpath=(~/functions $fpath)\nautoload -U compinit\ncompinit -u\n")
        return ["zsh", "-i"]
    (home / ".config/fish/config.fish").write_text("function fish_prompt; echo '$ '; end\nset -g fish_greeting\nset -g fish_autosuggestion_enabled 0\n")
    return ["fish", "-i"]


def tried(name, atelier, scratch):
    home = scratch / name
    folder = home / "here"
    (folder / "pictures").mkdir(parents=True)
    (folder / "pictures" / "one cat.png").write_bytes(b"")
    wrong = []
    shell = Shell(prepared(name, atelier, home), home, folder)
    for line, word in FINISHED:
        words = shell.completed(line)
        if words[-1] != word:
            wrong.append(f"{name}: {line!r} became {words!r}, not {word!r}")
    for line, words in OFFERED:
        seen = shell.offered(line)
        missing = [word for word in words if word not in seen]
        if missing:
            wrong.append(f"{name}: {line!r} did not offer {missing}: {seen[-300:]!r}")
    shell.end()
    print(f"{name}: {len(FINISHED)} words completed, {len(OFFERED)} choices offered" if not wrong else f"{name}: wrong")
    return wrong


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        (scratch / "bin").mkdir()
        (scratch / "bin" / "atelier").symlink_to(Path(sys.argv[1]).resolve())
        os.environ["PATH"] = f"{scratch}/bin:{os.environ['PATH']}"
        wrong = []
        for name in ["bash", "zsh", "fish"]:
            if not shutil.which(name):
                wrong.append(f"there is no {name} here")
                continue
            wrong += tried(name, shutil.which("atelier"), scratch)
    for line in wrong:
        print(f"- {line}")
    sys.exit(1 if wrong else 0)


main()
