import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Approver, createApprover } from '../../service/approver.ts'
import { at as below, createRule } from '../../service/rule-fixture.ts'
import { account, config } from './host.ts'
import { answer, approver, hasRun, host, mark, record, rootMark, sudo, touch } from './stage.ts'

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
        cwd: '/',
        executable: { path: realpathSync('/bin/sh') },
        environment: { set: { SVC_GUARD_CALLER: account } },
      })
      expect(requester).toContain(account)
      await answer(id, approver)
      expect(await running.ended).toMatchObject({ exit: 7, stdout: 'root\n/\n' })
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
          return program.endsWith('node') && args.includes('guard') && args.includes(rootMark)
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
