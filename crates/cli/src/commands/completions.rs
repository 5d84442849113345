//! `atelier completions`: the lines that make a shell complete commands, operations, fields and values. They ask the
//! program itself, so that they need not be written again when a family is added.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::command::{Command, Group};
use crate::terminal::screen;

/// Prints the completion script of a shell: commands, operations, fields and values.
#[derive(Args)]
pub(super) struct Completions {
    /// Shell to print it for.
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Command for Completions {
    const NAME: &str = "completions";
    const GROUP: Group = Group::Here;
    const EXAMPLES: &str = "\
atelier completions bash > ~/.local/share/bash-completion/completions/atelier
atelier completions zsh > \"${fpath[1]}/_atelier\"
atelier completions fish > ~/.config/fish/completions/atelier.fish";

    fn run(self) -> Result<ExitCode> {
        screen::put(match self.shell {
            Shell::Bash => BASH,
            Shell::Zsh => ZSH,
            Shell::Fish => FISH,
        });
        Ok(ExitCode::SUCCESS)
    }
}

const BASH: &str = r#"_atelier() {
    local IFS=$'\n'
    COMPREPLY=($("${COMP_WORDS[0]}" complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=@/] ]]; then
        compopt -o nospace
    fi
}
complete -o default -F _atelier atelier
"#;

const ZSH: &str = r#"#compdef atelier
_atelier() {
    local line text about
    local -a texts shown open
    while IFS=$'\t' read -r text about; do
        case $text in
            *[=@/]) open+=("$text") ;;
            *) texts+=("$text"); shown+=("$text${about:+  -- $about}") ;;
        esac
    done < <("${words[1]}" complete zsh "$LBUFFER" 2>/dev/null)
    (( $#texts )) && compadd -l -d shown -- "${texts[@]}"
    (( $#open )) && compadd -S '' -- "${open[@]}"
}
# Read by compinit this file is the function itself, and the key was pressed already.
if [[ $funcstack[1] == _atelier ]]; then
    _atelier "$@"
else
    compdef _atelier atelier
fi
"#;

const FISH: &str = "complete -c atelier -f -a '(atelier complete fish (commandline -cp))'\n";
