import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { basename } from 'node:path'
import { failure, usageError } from '../../core/errors.ts'
import type { Env } from '../../core/env.ts'
import { runChild } from '../approve/child.ts'
import type { Io } from '../terminal/io.ts'
import { fixedEnvironment } from './guarded-environment.ts'
import type { GuardConfig, SshKind } from './config.ts'
import { guardSubject, hold, hostOf, newRun } from './hold.ts'
import { changeableBy } from './root-file.ts'
import { ownAccount } from './trust.ts'

const nothing = 'nothing was run'

const sftpServers = [
  '/usr/lib/openssh/sftp-server',
  '/usr/libexec/openssh/sftp-server',
  '/usr/libexec/sftp-server',
]

/** `internal-sftp` exists only inside of sshd, so a program serves instead, with the same arguments. */
const outsideSshd = (command: string): string => {
  const server = sftpServers.find((path) => existsSync(path))
  return server === undefined ? command : command.replace(/^internal-sftp(?=\s|$)/, server)
}

/** A server that the account cannot have brought along. */
const isSftpServer = (program: string): boolean =>
  program === 'internal-sftp' || (basename(program) === 'sftp-server' && changeableBy(program) === undefined)

/** Only a plain call of the server: `sftp-server; reboot` is a command. */
const callsSftp = (command: string): boolean =>
  /^[\w./-]+(?: +[\w./=-]+)* *$/.test(command) && isSftpServer(command.split(' ')[0]!)

export const kindOf = (command: string | undefined): SshKind => {
  if (command === undefined || command === '') return 'shell'
  return callsSftp(command) ? 'sftp' : 'command'
}

/** The address that sshd reports: `address port address port`. */
const clientOf = ({ SSH_CONNECTION: connection = '' }: Env): string => {
  const [address = ''] = connection.split(' ')
  if (isIP(address) !== 0) return address
  throw usageError(
    'svc guard ssh must be started by sshd, which sets SSH_CONNECTION',
    'See the line for authorized_keys: svc guard check',
  )
}

const passedOn = ['SSH_CONNECTION', 'SSH_TTY'] as const

/** Runs a command or a shell for a connection after a person has approved it, and returns its exit code. */
export const guardSsh = async (as: string | undefined, config: GuardConfig, io: Io): Promise<number> => {
  const { name, home, shell } = ownAccount()
  const command = io.env['SSH_ORIGINAL_COMMAND']
  const kind = kindOf(command)
  const client = clientOf(io.env)
  if (!config.ssh?.held.includes(kind))
    throw failure(
      'guard_refused',
      `${kind === 'shell' ? 'A shell is' : kind === 'sftp' ? 'File transfer (sftp) is' : 'A command is'} not allowed here: ${nothing}`,
      'ssh.held in /etc/svc/guard.yaml lists what an approver can allow',
    )
  const bad = changeableBy(shell)
  if (bad) throw failure('guard_changeable', `${bad.message}: ${nothing}`, `To fix, as root: ${bad.fix}`)
  // As the approver reads it.
  const subject = guardSubject('tool_call', {
    server: `${name}@${hostOf(config)}`,
    tool: kind === 'sftp' ? kind : `ssh ${kind}`,
    arguments: {
      account: name,
      ...(as !== undefined && { person: as }),
      from: client,
      ...(command ? { command } : {}),
      shell,
      run: newRun(),
    },
  })
  const approval = await hold(config, { subject, account: as ?? name, nothing }, io)
  const session = Object.fromEntries(
    passedOn.flatMap((variable) => (io.env[variable] ? [[variable, io.env[variable]]] : [])),
  )
  const env = { ...fixedEnvironment(io.env, session).env, SVC_APPROVAL_ID: approval.id }
  const place = existsSync(home) ? home : '/'
  return kind === 'shell'
    ? runChild(shell, [], { env, cwd: place, argv0: `-${basename(shell)}` })
    : runChild(shell, ['-c', outsideSshd(command!)], { env, cwd: place })
}
