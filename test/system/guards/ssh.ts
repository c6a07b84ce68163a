import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { account, at, home } from './host.ts'
import { answer, approver, change, hasRun, host, mark, record } from './stage.ts'

const ssh = (command: string[], { env = {}, options = [] as string[] } = {}) => {
  const sent = Object.keys(env).flatMap((name) => ['-o', `SendEnv=${name}`])
  const fixed = [
    '-F',
    'none',
    '-i',
    at('alice'),
    '-p',
    String(host.port),
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    'UserKnownHostsFile=/dev/null',
    '-o',
    'LogLevel=ERROR',
    '-o',
    'BatchMode=yes',
  ]
  return host.asRoot(['/usr/bin/ssh', ...fixed, ...sent, ...options, `${account}@127.0.0.1`, ...command], env)
}

export const trySsh = (): void => {
  describe('svc guard ssh, started by sshd', () => {
    test('runs a command after an approval that names account, person, address and command', async () => {
      const running = ssh([`touch ${mark}; id -un; exit 5`])
      const id = await running.asked()
      const { subject } = await record(id)
      expect(subject.data).toMatchObject({
        tool: 'ssh command',
        arguments: {
          account,
          person: 'alice',
          from: '127.0.0.1',
          command: `touch ${mark}; id -un; exit 5`,
        },
      })
      await answer(id, approver)
      expect(await running.ended).toMatchObject({ exit: 5, stdout: `${account}\n` })
      expect(hasRun()).toBe(true)
    })

    test('runs nothing after a denial, and nothing that the configuration does not hold', async () => {
      const denied = ssh([`touch ${mark}`])
      await answer(await denied.asked(), approver, 'deny')
      expect([(await denied.ended).exit, hasRun()]).toEqual([106, false])
      // sshd passes on what a command prints on standard error, but not what a subsystem does.
      expect((await ssh(['sftp'], { options: ['-s'] }).ended).exit).toBe(101)
      const { exit, stderr } = await ssh(['internal-sftp']).ended
      expect({ exit, stderr }).toEqual({
        exit: 101,
        stderr: expect.stringContaining('File transfer (sftp) is not allowed here'),
      })
      // Root's own program is the server of sftp as well.
      expect((await ssh(['/usr/lib/openssh/sftp-server -f AUTH']).ended).stderr).toBe(stderr)
    })

    test('does not take a program of the account for the server of sftp', async () => {
      change('held: [shell, command]', 'held: [sftp]')
      const own = `${home}/sftp-server`
      writeFileSync(own, `#!/bin/sh\n: > ${mark}\n`)
      chmodSync(own, 0o755)
      const { exit, stderr } = await ssh([own]).ended
      expect({ exit, stderr, ran: hasRun() }).toEqual({
        exit: 101,
        stderr: expect.stringContaining('A command is not allowed here'),
        ran: false,
      })
    })

    test('opens a login shell after an approval', async () => {
      const running = ssh([])
      running.child.stdin!.end(`touch ${mark}; echo "shell $0"\n`)
      const id = await running.asked()
      expect((await record(id)).subject.data.tool).toBe('ssh shell')
      expect(hasRun()).toBe(false)
      await answer(id, approver)
      expect((await running.ended).stdout).toContain('shell -sh')
      expect(hasRun()).toBe(true)
    })

    test('takes nothing from the variables of the client', async () => {
      const env = {
        NODE_OPTIONS: `--import=data:text/javascript,import("node:fs").then(f=>f.writeFileSync("${mark}.evil",""))`,
        SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api',
        PATH: `${home}/evil:/usr/bin:/bin`,
        HOME: '/nonexistent',
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        GIT_DIR: '/x',
      }
      const running = ssh([`touch ${mark}`], { env })
      await answer(await running.asked(), approver)
      const { exit } = await running.ended
      expect({ exit, ran: hasRun(), evil: existsSync(`${mark}.evil`) }).toEqual({
        exit: 0,
        ran: true,
        evil: false,
      })
    })

    test('forwards no port, which would need no command', async () => {
      const running = ssh([], { options: ['-N', '-o', 'ExitOnForwardFailure=yes', '-R', '0:127.0.0.1:9'] })
      expect((await running.ended).exit).toBe(255)
    })
  })
}
