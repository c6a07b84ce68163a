import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Approver, createApprover } from '../../service/approver.ts'
import { at as below, createRule } from '../../service/rule-fixture.ts'
import { svc } from '../../e2e/processes.ts'
import { account, at, config, home, launcher } from './host.ts'
import { answer, approver, change, hasRun, host, mark, record, sudo, touch } from './stage.ts'

/** Someone else whom the configuration names too. */
const addPerson = async (lines = ''): Promise<Approver> => {
  const text = readFileSync(config, 'utf8')
  const second = await host.approver()
  writeFileSync(config, `${text.replace('"}]', `"}, {mobile: "${second.mobile}"}]`)}${lines}\n`)
  return second
}

export const tryExec = (): void => {
  describe('svc guard exec, started by sudo', () => {
    test('runs exactly what was approved as root, and passes on its exit code', async () => {
      const running = sudo(['/bin/sh', '-c', `id -un; pwd; touch ${mark}; exit 7`])
      const id = await running.asked()
      expect(hasRun()).toBe(false)
      const { subject, requester } = await record(id)
      expect(subject.summary).toBe(`Run /bin/sh -c 'id -un; pwd; touch ${mark}; exit 7'`)
      expect(subject.data).toMatchObject({
        cwd: home,
        executable: { path: realpathSync('/bin/sh') },
        environment: { set: { SVC_GUARD_CALLER: account } },
      })
      expect(requester).toContain(account)
      await answer(id, approver)
      expect(await running.ended).toMatchObject({ exit: 7, stdout: `root\n${home}\n` })
      expect((await record(id)).used_at).not.toBeNull()
    })

    test('needs the people of a rule besides those whom root named, and never instead of them', async () => {
      const org = host.organization.id
      const [first, second] = [
        await createApprover(host.api, org, 301),
        await createApprover(host.api, org, 302),
      ]
      const members = [first.id, second.id]
      const { rule } = await createRule(host.api, org, { members, match: { type: 'command' } })
      try {
        const running = touch()
        const id = await running.asked()
        await answer(id, first)
        await answer(id, second)
        expect((await record(id)).status).toBe('pending')
        expect((await record(id)).lines).toMatchObject([
          { group: null, rules: [], need: 1, people: [{ user_id: approver.id }] },
          { rules: [rule] },
        ])
        expect(hasRun()).toBe(false)
        await answer(id, approver)
        expect((await running.ended).exit).toBe(0)
        expect(hasRun()).toBe(true)
      } finally {
        await host.api.call('DELETE', below(org, `rules/${rule}`))
      }
    })

    test('runs nothing after a denial, and does not show the number of the approver', async () => {
      const running = touch()
      await answer(await running.asked(), approver, 'deny')
      const { exit, stderr } = await running.ended
      expect({ exit, ran: hasRun() }).toEqual({ exit: 106, ran: false })
      expect(stderr).toContain('Not approved (denied): nothing was run')
      expect(stderr).not.toContain(approver.mobile)
    })

    test('runs nothing when it is stopped while it waits, and withdraws the request', async () => {
      const running = touch()
      const id = await running.asked()
      running.child.kill('SIGTERM')
      expect((await running.ended).exit).not.toBe(0)
      await expect.poll(async () => (await record(id)).status).not.toBe('pending')
      expect(hasRun()).toBe(false)
    })

    test('runs nothing when it is killed while it waits, although the approver approves afterwards', async () => {
      const running = touch()
      const id = await running.asked()
      const own = readdirSync('/proc').filter((name) => {
        if (!/^\d+$/.test(name)) return false
        try {
          const [program = '', ...args] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')
          return program.endsWith('node') && args.includes('guard') && args.includes(mark)
        } catch {
          return false
        }
      })
      expect(own).toHaveLength(1)
      process.kill(Number(own[0]), 'SIGKILL')
      expect((await running.ended).exit).not.toBe(0)
      await answer(id, approver)
      expect(await record(id)).toMatchObject({ status: 'approved', used_at: null })
      expect(hasRun()).toBe(false)
    })

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
      const running = host.asAccount(['/usr/bin/sudo', '-n', ...variables, launcher, ...words, 'touch', mark])
      const { exit } = await running.ended
      expect({ exit, ran: hasRun() }).toEqual({ exit: 1, ran: false })
    })

    test('runs nothing if the environment could load code and nothing has cleaned it', async () => {
      const { exit, stderr } = await svc(['guard', 'exec', '--', 'touch', mark], {
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

    test.each([
      ['the program leads to another one', 'program'],
      ['the folder leads to another one', 'folder'],
    ])('runs nothing if %s after the request', async (_, what) => {
      const link = at(`link-${what}`)
      const folder = join(home, `work-${what}`)
      const swap = (target: string): void => {
        rmSync(link, { force: true })
        symlinkSync(target, link)
      }
      swap('/usr/bin/touch')
      mkdirSync(folder)
      chownSync(folder, host.ids.uid, host.ids.gid)
      const running = sudo([link, mark], { cwd: folder })
      const id = await running.asked()
      if (what === 'program') swap('/usr/bin/mkdir')
      else {
        renameSync(folder, `${folder}.moved`)
        symlinkSync('/etc', folder)
      }
      await answer(id, approver)
      const { exit, stderr } = await running.ended
      expect({ exit, ran: hasRun() }).toEqual({ exit: 101, ran: false })
      expect(stderr).toMatch(/is not (?:what was approved|the approved folder any more): nothing was run/)
      expect((await record(id)).used_at).toBeNull()
    })

    test('runs nothing if the account alone could approve for itself', async () => {
      const text = readFileSync(config, 'utf8')
      writeFileSync(config, text.replace('"}]', `", accounts: [${account}]}]`))
      const { exit, stderr } = await touch().ended
      expect({ exit, ran: hasRun() }).toEqual({ exit: 101, ran: false })
      expect(stderr).toContain(`Nobody but ${account} can approve what ${account} does`)
    })

    test('asks everybody whom the configuration names, and any of them may answer', async () => {
      const second = await addPerson()
      const running = touch()
      const id = await running.asked()
      await answer(id, second)
      expect([(await running.ended).exit, hasRun()]).toEqual([0, true])
    })

    test('runs nothing before as many have agreed as the configuration needs', async () => {
      const second = await addPerson('need: 2')
      const running = touch()
      const id = await running.asked()
      await answer(id, second)
      expect([(await record(id)).status, hasRun()]).toEqual(['pending', false])
      await answer(id, approver)
      expect([(await running.ended).exit, hasRun()]).toEqual([0, true])
    })
  })
}
