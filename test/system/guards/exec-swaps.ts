import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { svc } from '../../e2e/processes.ts'
import { account, at, home, launcher } from './host.ts'
import { answer, approver, change, hasRun, host, mark, record, rootMark, sudo, touch } from './stage.ts'

// What the caller controls: the environment, the command line and the files.

export const tryExecSwaps = (): void => {
  describe('svc guard exec, started by sudo', () => {
    test('takes nothing from the environment of the caller', async () => {
      const evil = join(home, 'evil')
      mkdirSync(join(evil, '.config/svc'), { recursive: true })
      writeFileSync(
        join(evil, 'evil.cjs'),
        `require('node:fs').writeFileSync(${JSON.stringify(`${mark}.evil`)}, '')`,
      )
      for (const name of ['touch', 'node', 'dirname', 'env']) {
        writeFileSync(join(evil, name), `#!/bin/sh\n: > ${mark}.evil\n`)
        chmodSync(join(evil, name), 0o755)
      }
      writeFileSync(join(evil, '.config/svc/config.json'), '{')
      execFileSync('chown', ['-R', account, evil])
      const nowhere = 'http://127.0.0.1:9'
      const env = {
        PATH: `${evil}:/usr/bin:/bin`,
        HOME: evil,
        XDG_CONFIG_HOME: join(evil, '.config'),
        SVC_CONFIG_DIR: join(evil, '.config/svc'),
        SVC_BASE_URL: `${nowhere}/admin/public/api`,
        SVC_API_KEY: 'svc_op_evil',
        SVC_DEFAULT_MOBILE: '+12025559999',
        NODE_OPTIONS: `--require ${evil}/evil.cjs`,
        NODE_EXTRA_CA_CERTS: `${evil}/touch`,
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        HTTPS_PROXY: nowhere,
        HTTP_PROXY: nowhere,
        http_proxy: nowhere,
        TMPDIR: evil,
        LD_PRELOAD: join(evil, 'evil.so'),
        BASH_ENV: join(evil, 'touch'),
        ENV: join(evil, 'touch'),
      }
      const running = touch({ env })
      const id = await running.asked()
      const { subject } = await record(id)
      expect(subject.data.executable.path).toBe(realpathSync('/usr/bin/touch'))
      await answer(id, approver)
      const { exit, stderr } = await running.ended
      expect({ exit, stderr, ran: hasRun(), evil: existsSync(`${mark}.evil`) }).toMatchObject({
        exit: 0,
        ran: true,
        evil: false,
      })
    })

    test.each([
      ['a flag before the command', ['--base-url', 'http://127.0.0.1:9', 'exec', '--']],
      ['a variable', ['exec', '--']],
    ])('sudo refuses %s that would change the guard', async (name, words) => {
      const variables = name === 'a variable' ? ['NODE_OPTIONS=--require=/tmp/x'] : []
      const running = host.asAccount([
        '/usr/bin/sudo',
        '-n',
        ...variables,
        launcher,
        ...words,
        'touch',
        rootMark,
      ])
      const { exit } = await running.ended
      expect({ exit, ran: hasRun() }).toEqual({ exit: 1, ran: false })
    })

    test('runs nothing if the environment could load code and nothing has cleaned it', async () => {
      const { exit, stderr } = await svc(['guard', 'exec', '--', 'touch', rootMark], {
        NODE_EXTRA_CA_CERTS: '/none',
      })
      expect({ exit, ran: hasRun() }).toEqual({ exit: 101, ran: false })
      expect(stderr).toContain('The environment contains NODE_EXTRA_CA_CERTS')
    })

    test('refuses a program that the caller could change, and copies it if the configuration says so', async () => {
      const script = join(home, 'deploy.sh')
      const write = (name: string): void => {
        writeFileSync(script, `#!/bin/sh\n: > ${mark}.${name}\n`)
        chmodSync(script, 0o755)
        chownSync(script, host.ids.uid, host.ids.gid)
      }
      write('good')
      for (const command of [[script], ['sh', script], ['./deploy.sh']]) {
        const { exit, stderr } = await sudo(command).ended
        expect({ command, exit }).toEqual({ command, exit: 101 })
        expect(stderr).toContain('it could change after the approval, so nothing was run')
      }
      change('exec: {}', 'exec: {files: copy}')
      const running = sudo(['sh', script])
      const id = await running.asked()
      write('evil')
      await answer(id, approver)
      expect((await running.ended).exit).toBe(0)
      expect([existsSync(`${mark}.good`), existsSync(`${mark}.evil`)]).toEqual([true, false])
    })

    test('refuses a pipe of the caller, who could write into it after the approval', async () => {
      const pipe = join(home, 'pipe')
      execFileSync('/usr/bin/mkfifo', [pipe])
      execFileSync('chown', [account, pipe])
      const tried = async (): Promise<void> => {
        const { exit, stderr } = await sudo(['sh', pipe]).ended
        expect(exit).toBe(101)
        expect(stderr).toContain('is a pipe, so nobody could approve what comes out of it: nothing was run')
      }
      await tried()
      change('exec: {}', 'exec: {files: copy}')
      await tried()
    })

    test('refuses a path where the caller could put a file after the approval', async () => {
      const folder = join(home, 'folder')
      mkdirSync(folder)
      chownSync(folder, host.ids.uid, host.ids.gid)
      // No process has this number.
      const ofProcess = '/proc/4194304/cwd/later.sh'
      // Whoever opens a terminal makes the next one.
      const terminal = '/dev/pts/4096'
      const back = '/run/nobody/../../tmp/later.sh'
      for (const name of [join(home, 'none/later.sh'), folder, 'folder', ofProcess, terminal, back]) {
        const { exit, stderr } = await sudo(['sh', name], { cwd: home }).ended
        expect({ name, exit }).toEqual({ name, exit: 101 })
        expect(stderr).toContain('is no file, and others than root could put one there')
      }
    })

    test('refuses a file of root that the kernel makes anew at each read', async () => {
      const { exit, stderr } = await sudo(['sh', '/proc/version']).ended
      expect(exit).toBe(101)
      expect(stderr).toContain('/proc/version is not in a file system of a disk: it could change')
    })

    test('runs nothing if the path leads into a folder of the caller after the approval', async () => {
      const folder = at('later')
      const running = sudo(['sh', join(folder, 'later.sh')])
      const id = await running.asked()
      mkdirSync(folder)
      chownSync(folder, host.ids.uid, host.ids.gid)
      await answer(id, approver)
      const { exit, stderr } = await running.ended
      expect([exit, stderr]).toEqual([
        101,
        expect.stringContaining('is not what was approved: nothing was run'),
      ])
    })

    test('asks for a word that is too long for a path', async () => {
      const running = sudo(['sh', '-c', `: > ${mark} # ${'x'.repeat(5_000)}`])
      await answer(await running.asked(), approver)
      expect({ exit: (await running.ended).exit, ran: hasRun() }).toEqual({ exit: 0, ran: true })
    })

    test('takes no word for a file that the caller puts into their folder', async () => {
      const running = sudo(['sh', 'later.sh'], { cwd: home })
      const id = await running.asked()
      writeFileSync(join(home, 'later.sh'), `: > ${mark}\n`)
      await answer(id, approver)
      expect((await running.ended).exit).not.toBe(0)
      expect(hasRun()).toBe(false)
      expect((await record(id)).subject.data.cwd).toBe('/')
    })

    test('refuses a file that the caller could change behind a link and ..', async () => {
      const real = join(home, 'real')
      mkdirSync(join(real, 'inner'), { recursive: true })
      symlinkSync(join(real, 'inner'), join(home, 'link'))
      // Read as text, link/../behind.sh is a file that does not exist.
      writeFileSync(join(real, 'behind.sh'), `: > ${mark}\n`)
      execFileSync('chown', ['-R', account, real])
      for (const name of ['link/../behind.sh', `${home}/link/../behind.sh`]) {
        const { exit, stderr } = await sudo(['sh', name]).ended
        expect({ name, exit }).toEqual({ name, exit: 101 })
        expect(stderr).toContain('it could change after the approval, so nothing was run')
      }
      expect(hasRun()).toBe(false)
    })

    test('runs nothing if the program leads to another one after the request', async () => {
      const link = at('link')
      symlinkSync('/usr/bin/touch', link)
      const running = sudo([link, rootMark])
      const id = await running.asked()
      rmSync(link)
      symlinkSync('/usr/bin/mkdir', link)
      await answer(id, approver)
      const { exit, stderr } = await running.ended
      expect({ exit, ran: hasRun() }).toEqual({ exit: 101, ran: false })
      expect(stderr).toContain('is not what was approved: nothing was run')
      expect((await record(id)).used_at).toBeNull()
    })
  })
}
