import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { remote } from '../../e2e/person.ts'
import { outcome, startService, type Ended, type Service } from '../../e2e/processes.ts'
import { watch } from '../../e2e/terminal.ts'
import { createApprover, type Approver } from '../../service/approver.ts'
import { createTenant, dataOf } from '../../service/fixtures.ts'
import type { TestService } from '../../service/harness.ts'
import { findPort } from '../../free-port.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

// This machine with guards: svc installed where only root can change it, an account, sudo, sshd and a repository. Everything is
// removed afterwards.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const etc = '/etc/svc'
/** Says which process of this test made `etc`: one that was killed leaves everything behind, and the next removes it. */
const owner = join(etc, 'made-by-a-guard-test')
const placeOf = (pid: string | number): string => `/opt/svc-guard-test-${pid}`
const sudoersOf = (pid: string | number): string => `/etc/sudoers.d/svc-guard-test-${pid}`
const accountOf = (pid: string | number): string => `svcguard${pid}`
const place = placeOf(process.pid)
const sudoers = sudoersOf(process.pid)
export const account = accountOf(process.pid)
export const home = `/home/${account}`
export const launcher = join(place, 'bin/guard.sh')
export const config = join(etc, 'guard.yaml')
export const at = (name: string): string => join(place, name)

/** Why the guards cannot be tried here; undefined if they can. */
export const whyNot = (): string | undefined => {
  if (process.getuid?.() !== 0) return 'not root'
  const absent = [
    '/usr/bin/sudo',
    '/usr/sbin/sshd',
    '/usr/bin/ssh',
    '/usr/bin/git',
    '/usr/sbin/useradd',
  ].find((path) => !existsSync(path))
  if (absent !== undefined) return `${absent} is not installed`
  if (existsSync(etc) && !existsSync(owner)) return `${etc} exists`
  return /^NoNewPrivs:\s*1$/m.test(readFileSync('/proc/self/status', 'utf8'))
    ? 'sudo cannot work here'
    : undefined
}

const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** Removes what the test of this process made. */
const removeHost = (pid: string | number): void => {
  for (const path of [placeOf(pid), sudoersOf(pid), etc]) rmSync(path, { recursive: true, force: true })
  run('userdel', '--remove', accountOf(pid))
}

export type Guarded = {
  service: Service
  api: TestService
  organization: { id: number; slug: string }
  ids: { uid: number; gid: number }
  port: number
  /** Starts a program as the account, with this environment. */
  asAccount(command: string[], more?: { env?: Record<string, string>; cwd?: string }): Running
  /** Starts a program as root: a client that has nothing but its key. */
  asRoot(command: string[], env?: Record<string, string>): Running
  /** Someone new, so that nobody is asked too often; the configuration names them. */
  approver(lines?: string): Promise<Approver>
  close(): Promise<void>
}

export type Running = {
  child: ChildProcess
  ended: Promise<Ended>
  /** The id of the request, once the guard has asked. */
  asked(): Promise<string>
  written(): string
}

const started = (child: ChildProcess): Running => {
  const [output, ended] = [watch(child), outcome(child)]
  const asked = async (): Promise<string> => {
    const pattern = /guard: Asked .*\((apr_[\w-]+)\)/
    await output.until(() => pattern.test(output.written()))
    const [, id] = pattern.exec(output.written()) ?? []
    if (id === undefined) throw new Error(`It ended: ${output.written()}`)
    return id
  }
  return { child, ended, asked, written: output.written }
}

/** sshd of this test, with the key of the account held by the guard. */
const startSshd = async (): Promise<{ port: number; stop(): Promise<void> }> => {
  const port = await findPort()
  mkdirSync('/run/sshd', { recursive: true })
  for (const name of ['host', 'alice']) run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', at(name))
  const key = readFileSync(at('alice.pub'), 'utf8').trim()
  writeFileSync(at('authorized_keys'), `restrict,pty,command="${launcher} ssh --as alice" ${key}\n`)
  // AcceptEnv is as wrong as it can be.
  const lines = {
    Port: port,
    ListenAddress: '127.0.0.1',
    HostKey: at('host'),
    AuthorizedKeysFile: at('authorized_keys'),
    PidFile: 'none',
    UsePAM: 'no',
    AcceptEnv: '*',
    Subsystem: 'sftp internal-sftp',
    PasswordAuthentication: 'no',
  }
  writeFileSync(
    at('sshd_config'),
    Object.entries(lines)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(''),
  )
  const child = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', at('sshd_config')])
  const output = watch(child)
  if (!(await output.until(() => output.written().includes('Server listening'))))
    throw new Error(`sshd ended: ${output.written()}`)
  const stop = async (): Promise<void> => {
    child.kill()
    await output.ended
  }
  return { port, stop }
}

export const prepareHost = async (): Promise<Guarded> => {
  const { path: data, remove } = temporaryFolder()
  const operator = `svc_op_guards00_${'g'.repeat(32)}`
  if (existsSync(owner)) removeHost(readFileSync(owner, 'utf8'))
  run('useradd', '--create-home', '--shell', '/bin/sh', account)
  mkdirSync(etc, { mode: 0o755 })
  writeFileSync(owner, String(process.pid))
  // Without a password an account is locked, and sshd without PAM lets nobody in.
  run('usermod', '--password', '*', account)
  const [, , uid, gid] = run('getent', 'passwd', account).split(':')
  const ids = { uid: Number(uid), gid: Number(gid) }
  mkdirSync(place, { mode: 0o755 })
  for (const name of ['bin', 'dist', 'package.json']) cpSync(join(root, name), at(name), { recursive: true })
  run('chown', '-R', 'root:root', place)
  run('chmod', '-R', 'go-w', place)
  writeFileSync(
    sudoers,
    [
      `Cmnd_Alias SVC_GUARD = ${launcher} exec -- *`,
      'Defaults!SVC_GUARD env_reset, !setenv',
      `${account} ALL = (root) NOPASSWD: SVC_GUARD`,
      '',
    ].join('\n'),
    { mode: 0o440 },
  )
  const service = await startService(data, operator, ['--dev'])
  const api = remote(service.baseUrl, operator)
  const slug = 'acme'
  const { id } = await createTenant(api, slug)
  const { key } = dataOf(
    await api.call('POST', '/svc/v1/keys', { body: { name: 'guard', org_id: id, scopes: ['ask'] } }),
  )
  writeFileSync(join(etc, 'guard.key'), `${key}\n`)
  chownSync(join(etc, 'guard.key'), 0, ids.gid)
  chmodSync(join(etc, 'guard.key'), 0o640)
  const keys = await (await fetch(new URL('/.well-known/jwks.json', service.baseUrl))).text()
  writeFileSync(join(etc, 'guard-keys.json'), keys)
  const sshd = await startSshd()
  let people = 0

  return {
    service,
    api,
    organization: { id, slug },
    ids,
    port: sshd.port,
    asAccount: ([command = '', ...args], { env = {}, cwd = home } = {}) =>
      started(spawn(command, args, { ...ids, cwd, env: { PATH: '/usr/bin:/bin', HOME: home, ...env } })),
    asRoot: ([command = '', ...args], env = {}) =>
      started(spawn(command, args, { env: { PATH: '/usr/bin:/bin', ...env } })),
    approver: async (lines = '') => {
      people += 1
      const one = await createApprover(api, id, people)
      writeFileSync(
        config,
        [
          `service: ${service.baseUrl}`,
          'organization: acme',
          `jwks: ${etc}/guard-keys.json`,
          `key_file: ${etc}/guard.key`,
          `people: [{mobile: "${one.mobile}"}]`,
          'timeout: 30',
          'allow_dev: true',
          'exec: {}',
          'ssh: {held: [shell, command]}',
          'git: {refs: [refs/heads/main, refs/tags/*]}',
          lines,
          '',
        ].join('\n'),
      )
      return one
    },
    close: async () => {
      await sshd.stop()
      await service.stop()
      removeHost(process.pid)
      remove()
    },
  }
}
