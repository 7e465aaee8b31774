"""tools/package/command_files.py BINARY FOLDER

Writes what belongs to a command, from the tables of options of BINARY itself: the manual page
memverify.1 and completions for bash (memverify), zsh (_memverify) and fish (memverify.fish).
"""

import json
import re
import subprocess
import sys
from pathlib import Path

FILES = ("FILE", "DIR", "DB", "WITNESS", "PLAN", "PLAN CERTIFICATE")
SPLIT = re.compile(r"[|,]")


def tables(binary):
    """By command, what `--option-table` says; and what `memverify --help` says of each."""

    def ask(*arguments):
        return json.loads(subprocess.run([binary, *arguments], check=True, capture_output=True, text=True).stdout)

    rows = ask("--option-table")["commands"]
    return {row["command"]: ask(row["command"], "--option-table") for row in rows}, {
        row["command"]: row["help"] for row in rows
    }


def words(option):
    """The words that a value may be, as the command says or as its kind names them: text|json."""
    if "values" in option:
        return option["values"]
    kind = option["value"]
    return SPLIT.split(kind) if "|" in kind and " " not in kind else []


def is_file(option):
    name = option.get("argument", option["value"])
    return name in FILES or "FILE" in name


# The manual


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def manual(commands, helps, version):
    out = [
        f'.TH MEMVERIFY 1 "" "memverify {version}" "User Commands"',
        ".SH NAME",
        "memverify \\- prove that a memory plan is safe, or show a run in which it is not",
        ".SH SYNOPSIS",
        ".B memverify",
        "[\\fIOPTIONS\\fR] \\fIFILE\\fR...",
        ".br",
        ".B memverify",
        "\\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...",
        ".SH DESCRIPTION",
        "Reads plans: which operations run, on which queues, ordered by what, over which bytes. Says of",
        "each whether it is safe in every run that it allows, unsafe, with a run that shows it, or not proven.",
        "Without a command, files are verified.",
        ".SH COMMANDS",
    ]
    for name, table in commands.items():
        out += [f".SS memverify {roff(name)}", roff(table["help"])]
        for option in table["options"]:
            names = option.get("names")
            head = ", ".join(f"\\fB{roff(n)}\\fR" for n in names) if names else ""
            value = option["value"] if names else option["argument"]
            if value:
                head += f" \\fI{roff(value)}\\fR"
            out += [".TP", head.strip(), roff(option["help"])]
        if table["more"]:
            out += [".PP", ".nf", roff(table["more"].strip()), ".fi"]
    out += [
        ".SH EXIT STATUS",
        "0 safe, 1 unsafe, 2 bad input or usage, 3 not proven, 4 an internal error. Of several files, the",
        "worst in the order 1, 4, 2, 3, 0.",
    ]
    return "\n".join(out) + "\n"


# Completions


def bash(commands, helps):
    cases = []
    for name, table in commands.items():
        options = [n for o in table["options"] for n in o.get("names", ())]
        values = []
        for option in table["options"]:
            if option.get("names") and words(option):
                values.append(f"      {'|'.join(option['names'])}) choices='{' '.join(words(option))}' ;;")
        arguments = [w for o in table["options"] if "argument" in o for w in words(o)]
        cases.append(
            f"  {name})\n    options='{' '.join(options)}' arguments='{' '.join(arguments)}'\n"
            + "    case $previous in\n" + "\n".join(values) + "\n    esac ;;"
        )
    return f"""# bash completion for memverify
_memverify() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command=verify commands='{" ".join(commands)}' options='' arguments='' choices=''
  if [[ $COMP_CWORD -gt 1 && " $commands " == *" ${{COMP_WORDS[1]}} "* ]]; then
    command=${{COMP_WORDS[1]}}
  fi
  case $command in
{chr(10).join(cases)}
  esac
  if [[ -n $choices ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
  elif [[ $current == -* ]]; then
    [[ $COMP_CWORD -gt 1 ]] || options+=' --version'
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    [[ $COMP_CWORD -gt 1 ]] || arguments+=" $commands"
    mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -W "$arguments" -- "$current")
    compopt -o filenames
  fi
}}
complete -F _memverify memverify
"""


def zsh_quoted(text):
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh(commands, helps):
    rows = "\n".join(f"    '{name}:{zsh_quoted(help)}'" for name, help in helps.items())
    cases = []
    for name, table in commands.items():
        specs = []
        arguments = 0
        for option in table["options"]:
            action = f"({' '.join(words(option))})" if words(option) else "_files" if is_file(option) else " "
            kind = zsh_quoted(option["value"] or "value")
            for long in option.get("names", ()):
                end = f":{kind}:{action}" if option["value"] else ""
                specs.append(f"'*{long}[{zsh_quoted(option['help'])}]{end}'")
            if "argument" in option:
                arguments += 1
                place = "*" if option["repeats"] else arguments
                if words(option) and option["repeats"]:  # A rule, or a file.
                    action = f"{{_files; compadd {' '.join(words(option))}}}"
                specs.append(f"'{place}:{zsh_quoted(option['argument'])}:{action}'")
        cases.append(f"    {name}) _arguments {' '.join(specs)} ;;")
    return f"""#compdef memverify
_memverify() {{
  local -a commands
  commands=(
{rows}
  )
  local command=verify
  if (( CURRENT > 2 )) && (( ${{commands[(I)${{words[2]}}:*]}} )); then
    command=${{words[2]}}
    shift words
    (( CURRENT-- ))
  elif (( CURRENT == 2 )) && [[ ${{words[2]}} != -* ]]; then
    _describe command commands
  fi
  case $command in
{chr(10).join(cases)}
  esac
}}
_memverify "$@"
"""


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(commands, helps):
    out = [f"set -l commands {' '.join(commands)}"]
    for name, help in helps.items():
        out.append(f"complete -c memverify -n __fish_use_subcommand -a {name} -d {fish_quoted(help)}")
    for name, table in commands.items():
        seen = f"__fish_seen_subcommand_from {name}"
        if name == "verify":
            seen += "; or not __fish_seen_subcommand_from $commands"
        for option in table["options"]:
            line = f"complete -c memverify -n {fish_quoted(seen)}"
            for long in option.get("names", ()):
                line += f" -l {long[2:]}" if long.startswith("--") else f" -s {long[1:]}"
            if words(option):
                line += f" {'-xa' if 'names' in option else '-a'} {fish_quoted(' '.join(words(option)))}"
            elif option["value"] and option.get("names"):
                line += " -r" if is_file(option) else " -x"
            elif "argument" in option:
                continue
            out.append(line + f" -d {fish_quoted(option['help'])}")
    return "\n".join(out) + "\n"


def main():
    binary, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    commands, helps = tables(binary)
    (folder / "memverify.1").write_text(manual(commands, helps, version))
    (folder / "memverify").write_text(bash(commands, helps))
    (folder / "_memverify").write_text(zsh(commands, helps))
    (folder / "memverify.fish").write_text(fish(commands, helps))


main()
