// Shells and wrappers run what their arguments say, which a pattern for words cannot follow. Interpreters and scripts can do the
// same; a rule for all commands of a folder holds those.

const starters = new Set(
  (
    'sh ash bash rbash dash fish ksh mksh csh tcsh zsh busybox toybox cmd powershell pwsh nu elvish xonsh ' +
    'env sudo doas su runuser pkexec xargs parallel nohup nice ionice setsid stdbuf timeout time watch script strace ' +
    'chroot unshare nsenter flock exec command eval find ssh systemd-run run-parts setpriv capsh gosu su-exec chrt ' +
    'taskset numactl fakeroot bwrap firejail proot tini dumb-init tmux screen expect unbuffer at batch setarch linux i x86_ ' +
    'prlimit choom runcon sg newgrp ssh-agent start-stop-daemon dbus-run-session dbus-launch systemd-nspawn ' +
    'lxc-attach cpulimit ltrace gdb valgrind perf coresched uclampset pipesz sshpass torsocks torify proxychains ' +
    'faketime xvfb-run softlimit setlock envdir chpst s6-setuidgid setuidgid catchsegv rlwrap eatmydata ' +
    'systemd-inhibit systemd-cat systemd-socket-activate logsave ip coreutils bsd-csh yash posh lksh rksh sash sem ' +
    'openvt aa-exec cgexec sudoedit rsh mosh socat keyctl daemonize dtach abduco entr chronic hyperfine fakechroot ' +
    'nsjail runc run0 pfexec dzdo op doppler aws-vault direnv caffeinate arch genv gtimeout gnice gnohup gstdbuf ' +
    'lldb rr xterm qemu-x86_ qemu-aarch qemu-arm qemu-i execlineb run-one fakeroot-ng ' +
    'osh ysh hush rc ksu schroot machinectl please mpirun mpiexec flatpak-spawn distrobox-host-exec pwsh-preview'
  ).split(' '),
)

/** The name of a program, without its folder. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Also without a folder of Windows, which a backslash ends. */
export const bareNameOf = (path: string): string => nameOf(path.replaceAll('\\', '/'))

const versionMarks = '-.0123456789'

/** `bash5.2` is a version of `bash`, and so are `bash-static` and `bash.exe`; `-bash` is one for a login. */
const withoutVersion = (name: string): string => {
  const plain = name.toLowerCase().replace(/^-|(?:\.exe|[.-]static|\.moreutils|\.ws|-rs|-sysv|-tcp)$/g, '')
  let end = plain.length
  while (end > 0 && versionMarks.includes(plain[end - 1]!)) end--
  return plain.slice(0, end)
}

/** The loader of Linux runs the program that its first argument names. */
const loader = /^ld(?:-linux|-musl|64)?[.-]/

/** What runs a text or a file that its words do not say. */
const interpreters = new Set(
  (
    'node nodejs deno bun tsx npm npx yarn pnpm python pypy ipython uv uvx pip perl ruby irb php lua luajit java jshell ' +
    'scala groovy kotlin tclsh wish osascript rscript r julia awk gawk mawk nawk sed ed ex vi vim nvim emacs make gmake ' +
    'cmake ninja just task cargo go gradle mvn ant docker podman nerdctl duckdb psql mysql mariadb mongosh redis-cli ' +
    'ts-node runghc runhaskell ghci octave rails rake bundle dotnet fsi nix-shell nix terraform tofu terragrunt pulumi ' +
    'ansible ansible-playbook packer vagrant helmfile skaffold'
  ).split(' '),
)

type Started = { argv: readonly string[]; executable: string }

const namesOf = ({ argv, executable }: Started): string[] => [argv[0] ?? '', executable].map(bareNameOf)

/** Whether what a command does is in a script rather than in its words. */
export const interprets = (command: Started): boolean =>
  namesOf(command).some((name) => interpreters.has(withoutVersion(name)))

/** Whether a command starts others, by what is typed or by the program that it names. */
export const startsOthers = (command: Started): boolean =>
  namesOf(command)
    // Of these files with many programs, the one that runs is the one that is typed.
    .filter((name, at) => at === 0 || !['busybox', 'toybox'].includes(name))
    .some((name) => starters.has(withoutVersion(name)) || loader.test(name))
