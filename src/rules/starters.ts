// Shells and wrappers run what their arguments say, which a pattern for words cannot follow. Interpreters and scripts can do the
// same; a rule for all commands of a folder holds those.

const starters = new Set(
  (
    'sh ash bash dash fish ksh mksh csh tcsh zsh busybox cmd powershell pwsh nu elvish xonsh ' +
    'env sudo doas su runuser pkexec xargs parallel nohup nice ionice setsid stdbuf timeout time watch script strace ' +
    'chroot unshare nsenter flock exec command eval find ssh'
  ).split(' '),
)

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** `bash5.2` is a version of `bash`, and `bash.exe` is `bash`. */
const withoutVersion = (name: string): string =>
  name
    .toLowerCase()
    .replace(/\.exe$/, '')
    .replace(/[-\d.]+$/, '')

/** Whether a command starts others, by what is typed or by the program that it names. */
export const startsOthers = ({
  argv,
  executable,
}: {
  argv: readonly string[]
  executable: string
}): boolean => [argv[0] ?? '', executable].some((path) => starters.has(withoutVersion(nameOf(path))))
