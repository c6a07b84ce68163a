import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { ApprovalRecord } from '../../src/contract/approval.ts'
import { svcHere } from '../e2e/prepare.ts'
import { findProgram } from './find-program.ts'
import { installHooks, openStage, type Edge, type HostName, type Stage } from './held-stage.ts'
import type { ScriptedCall } from './scripted-model.ts'

// Real hosts make 200 tool calls, of which a rule holds 12. How often people were asked and what ran is read in the records of the
// service and in the ledger of the tools, never in what the host says. A host is tested if its program is in the PATH.

installHooks()

const programs: HostName[] = ['claude', 'codex']
const cases = programs.flatMap((host) => (['hook', 'gate'] as const).map((edge) => [host, edge] as const))

const count = 200
const held = 12
const longMs = 600_000

const opsCall = (tool: string, n: number): ScriptedCall => ({
  server: 'ops',
  tool,
  input: { path: `/srv/${n}`, ...(tool === 'write_file' && { text: 'on' }) },
})

/** Every 16th call is held. Only the hook holds the shell. */
const scriptFor = ({ shell }: Stage, edge: Edge): ScriptedCall[] =>
  Array.from({ length: count }, (_, n) => {
    if (n % 16 !== 8) return opsCall('read_file', n)
    return edge === 'hook' && n % 32 === 8 ? shell : opsCall('write_file', n)
  })

const isHeld = ({ tool }: { tool: string }): boolean => tool !== 'read_file'

/** What the service says of the requests, oldest first. */
const requestsOf = async (stage: Stage): Promise<ApprovalRecord[]> => (await stage.records()).toReversed()

/** Each held call ran once, right after an approval of its own was used up; the others ran, and asked nobody. */
const checkRuns = async (stage: Stage): Promise<void> => {
  const ran = stage.ran()
  expect(ran.length).toBe(count)
  const requests = await requestsOf(stage)
  expect(requests.map(({ status }) => status)).toEqual(Array.from({ length: held }, () => 'approved'))
  const wrote = ran.filter(isHeld)
  expect(wrote.length).toBe(held)
  for (const [n, { subject, used_at }] of requests.entries()) {
    const { arguments: given } = subject!.data as { arguments: Record<string, unknown> }
    const { tool, args, at } = wrote[n]!
    expect(tool === 'Bash' ? given['command'] : given).toEqual(tool === 'Bash' ? stage.shell : args)
    const before = wrote[n - 1]?.at ?? ''
    expect(before < used_at! && used_at! <= at, `${before} ${used_at} ${at}`).toBe(true)
  }
}

/** How often people decided, by the audit log. */
const tapsOf = async (stage: Stage): Promise<number> =>
  (await stage.audit()).filter(
    ({ action, subject, actor }) =>
      action === 'decideApproval' && subject.startsWith('approval:') && actor.startsWith('user:'),
  ).length

const verify = async ({ env, path, ada }: Stage, { request_id, attestation }: ApprovalRecord) => {
  const file = path(`${request_id}.json`)
  writeFileSync(file, JSON.stringify(attestation))
  const args = ['approve', 'verify', file, '--org', ada.org.slug, '--allow-dev']
  const [seen, granted] = [await svcHere(args, env), await svcHere([...args, '--allow-grant'], env)]
  return { seen: seen.exit, granted: granted.exit, says: granted.stderr }
}

describe.each(cases)('the real %s with the %s', (host, edge) => {
  const isHere = findProgram(host) !== undefined

  test.runIf(isHere)(
    'asks twelve times where the rule allows no grant',
    async () => {
      const stage = await openStage(host, edge)
      const { ended } = await stage.run(scriptFor(stage, edge))
      for (let n = 0; n < held; n++) await stage.tap(n % 2 === 0 ? stage.ada : stage.grace)
      await ended
      await checkRuns(stage)
      expect(await tapsOf(stage)).toBe(held)
      for (const one of await stage.records()) expect((await verify(stage, one)).seen).toBe(0)
    },
    longMs,
  )

  test.runIf(isHere)(
    'asks once for each kind of call where the approver allows it again, and says of each use that nobody saw it',
    async () => {
      const stage = await openStage(host, edge, { max_s: 3600, uses: 20 })
      const { ended } = await stage.run(scriptFor(stage, edge))
      const taps = edge === 'hook' ? 2 : 1
      const again = { decision: 'approve', grant: true } as const
      for (let n = 0; n < taps; n++) await stage.tap(stage.ada, again)
      await ended
      await checkRuns(stage)
      expect(await tapsOf(stage)).toBe(taps)
      const requests = await requestsOf(stage)
      const uses = requests.filter(({ granted_by }) => granted_by !== undefined)
      expect(uses.length).toBe(held - taps)
      const audit = await stage.audit()
      for (const use of uses) {
        const { seen, granted, says } = await verify(stage, use)
        expect([seen, granted, says]).toEqual([1, 0, expect.stringContaining(use.granted_by!)])
        expect(audit).toContainEqual(
          expect.objectContaining({
            subject: `approval:${use.request_id}`,
            changes: ['status', 'approved', 'granted_by'],
          }),
        )
      }
      const all = requests.map(({ request_id }) => request_id)
      expect((await stage.history(stage.ada)).toSorted()).toEqual(all.toSorted())
    },
    longMs,
  )

  test.runIf(isHere)(
    'runs nothing that was denied',
    async () => {
      const stage = await openStage(host, edge)
      const { ended } = await stage.run([
        opsCall('read_file', 1),
        opsCall('write_file', 2),
        opsCall('read_file', 3),
      ])
      await stage.tap(stage.ada, { decision: 'deny' })
      await ended
      expect(stage.ran().map(({ args }) => args)).toEqual([{ path: '/srv/1' }, { path: '/srv/3' }])
      const [denied, ...others] = await requestsOf(stage)
      expect([denied?.status, denied?.used_at, others]).toEqual(['denied', null, []])
    },
    longMs,
  )
})
